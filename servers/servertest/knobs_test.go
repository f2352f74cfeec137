package servertest_test

import (
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers"
	"github.com/weighstone/weighstone/servers/servertest"
)

// knobbed are variants with knobs turned that lead through other code.
func knobbed(t *testing.T) []servertest.Engine {
	var all []servertest.Engine
	for _, c := range []struct {
		name, variant string
		knobs         weighstone.Knobs
	}{
		{"edge", "epoll", weighstone.Knobs{EdgeTriggered: true}},
		{"edge, naive, one accept", "epoll", weighstone.Knobs{EdgeTriggered: true, NaiveControl: true, AcceptBatch: 1}},
		{"naive", "epoll", weighstone.Knobs{NaiveControl: true}},
		{"write", "poll", weighstone.Knobs{Send: weighstone.SendWrite}},
		{"mmap", "select", weighstone.Knobs{Send: weighstone.SendMmap}},
		{"mmap, edge", "percore", weighstone.Knobs{Send: weighstone.SendMmap, EdgeTriggered: true}},
		{"cork", "epoll", weighstone.Knobs{Send: weighstone.SendCork}},
		{"cork, edge", "epoll", weighstone.Knobs{Send: weighstone.SendCork, EdgeTriggered: true}},
	} {
		v, err := servers.Find(c.variant)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, servertest.Engine{Name: c.variant + " with " + c.name, New: func(o weighstone.Options) weighstone.Server {
			o.Knobs = c.knobs
			return v.New(o)
		}})
	}
	return all
}

// TestKnobs: whatever way the bytes take, they are the same.
func TestKnobs(t *testing.T) {
	for _, e := range knobbed(t) {
		t.Run(e.Name, func(t *testing.T) {
			t.Run("wire", func(t *testing.T) { wire(t, e) })
			t.Run("resets", func(t *testing.T) { resets(t, e) })
			t.Run("drain", func(t *testing.T) { drainFinishes(t, e) })
		})
	}
}
