package loop

import (
	"testing"
	"time"

	"github.com/weighstone/weighstone"
)

// fds lists a state's connections, oldest first.
func (l *list) fds() (fds []int) {
	for c := l.first; c != nil; c = c.next {
		fds = append(fds, c.fd)
	}
	return fds
}

func TestEnterKeepsListsInOrder(t *testing.T) {
	l := &loop{slot: new(weighstone.Slot), now: time.Now()}
	var conns []*conn
	for fd := range 4 {
		c := &conn{fd: fd, state: weighstone.StateHead}
		l.lists[c.state].push(c)
		l.slot.Conns[c.state].Add(1)
		conns = append(conns, c)
	}
	check := func(state weighstone.ConnState, want ...int) {
		t.Helper()
		got := l.lists[state].fds()
		if len(got) != len(want) || l.slot.Conns[state].Load() != int64(len(want)) {
			t.Fatalf("%v: %v, counted %d, want %v", state, got, l.slot.Conns[state].Load(), want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%v: %v, want %v", state, got, want)
			}
		}
	}
	l.enter(conns[1], weighstone.StateIdle)
	l.enter(conns[0], weighstone.StateIdle)
	check(weighstone.StateHead, 2, 3)
	check(weighstone.StateIdle, 1, 0)
	l.enter(conns[1], weighstone.StateIdle)
	check(weighstone.StateIdle, 0, 1)
	l.enter(conns[1], weighstone.StateIdle)
	check(weighstone.StateIdle, 0, 1)
	l.enter(conns[2], weighstone.StateWrite)
	l.enter(conns[3], weighstone.StateWrite)
	check(weighstone.StateHead)
	check(weighstone.StateWrite, 2, 3)
	l.enter(conns[2], weighstone.StateHead)
	check(weighstone.StateHead, 2)
	check(weighstone.StateWrite, 3)
}

func TestTimeoutIsThatOfTheOldest(t *testing.T) {
	now := time.Now()
	l := &loop{slot: new(weighstone.Slot), now: now, limits: weighstone.Limits{}.Filled()}
	if d := l.timeout(); d >= 0 {
		t.Errorf("timeout %v without connections, want none", d)
	}
	l.lists[weighstone.StateIdle].push(&conn{since: now.Add(-time.Second)})
	l.lists[weighstone.StateIdle].push(&conn{since: now})
	if d := l.timeout(); d != 59*time.Second {
		t.Errorf("timeout %v, want what the oldest idle connection has left", d)
	}
	l.lists[weighstone.StateHead].push(&conn{since: now.Add(-time.Minute)})
	if d := l.timeout(); d != 0 {
		t.Errorf("timeout %v with one overdue, want 0", d)
	}
	l.lists = [stateParked + 1]list{}
	l.lists[weighstone.StateHandler].push(&conn{since: now.Add(-time.Hour)})
	if d := l.timeout(); d >= 0 {
		t.Errorf("timeout %v for a lent connection, want none", d)
	}
}
