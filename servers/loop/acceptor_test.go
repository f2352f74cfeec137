package loop_test

import (
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/loop"
	"github.com/weighstone/weighstone/servers/servertest"
)

// TestInTurn: the loops get the same number of connections, and what is above
// the bound of all is accepted when one of any has ended.
func TestInTurn(t *testing.T) {
	const loops, each = 3, 4
	var slots []*weighstone.Slot
	for range loops {
		slots = append(slots, new(weighstone.Slot))
	}
	s := servertest.Start(t, servertest.Engine{Name: "reactors", New: loop.NewReactors}, site(t, nil),
		weighstone.Options{Workers: loops, Slots: slots, Limits: weighstone.Limits{MaxConns: loops * each}})
	var all []*servertest.Client
	for range loops * each {
		c := s.Dial(t)
		c.Get("/", 200)
		all = append(all, c)
	}
	for i, slot := range slots {
		if n := slot.Accepted.Load(); n != each {
			t.Errorf("loop %d has got %d connections, want %d", i, n, each)
		}
	}
	for _, c := range all { // more than once round
		late := s.Dial(t)
		late.Send(servertest.Get("/"))
		c.Close()
		late.Want("GET", 200)
	}
}
