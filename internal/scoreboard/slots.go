package scoreboard

import (
	"fmt"

	"github.com/weighstone/weighstone"
)

// Claim takes n free slots for this process's workers. A slot that another
// process has left keeps its counters, so that sums only grow, and has its
// gauges at zero.
func (b *Board) Claim(n int) ([]*weighstone.Slot, error) {
	b.Sweep()
	var got []*weighstone.Slot
	for i := range b.records {
		if len(got) == n {
			break
		}
		if r := &b.records[i]; r.owner.CompareAndSwap(0, uint64(b.self)) {
			got = append(got, &r.slot)
		}
	}
	if len(got) < n {
		for _, slot := range got { // and no other: workers may count in what was claimed before
			b.Return(slot)
		}
		return nil, fmt.Errorf("claim scoreboard slots: %d wanted, %d free of %d", n, len(got), len(b.records))
	}
	return got, nil
}

// Release gives all slots of this process back. Its workers must have ended.
func (b *Board) Release() {
	for i := range b.records {
		if r := &b.records[i]; r.owner.Load() == uint64(b.self) {
			r.free()
		}
	}
}

// Sweep frees the slots of processes that no longer live. A process that is
// killed leaves its connections counted; they are gone with it.
func (b *Board) Sweep() {
	known := map[identity]bool{b.self: true}
	for i := range b.records {
		r := &b.records[i]
		owner := identity(r.owner.Load())
		if owner == 0 {
			continue
		}
		alive, seen := known[owner]
		if !seen {
			alive = owner.alive()
			known[owner] = alive
		}
		// Taking it over first makes this process the only one that clears
		// it; should it die in between, the next one sweeps again.
		if !alive && r.owner.CompareAndSwap(uint64(owner), uint64(b.self)) {
			r.free()
		}
	}
}

// Sum adds up what all processes have counted; Workers are the slots in use.
func (b *Board) Sum() weighstone.Stats {
	b.Sweep()
	all := make([]*weighstone.Slot, len(b.records))
	used := 0
	for i := range b.records {
		all[i] = &b.records[i].slot
		if b.records[i].owner.Load() != 0 {
			used++
		}
	}
	st := weighstone.Sum(all)
	st.Workers = used
	return st
}

// free clears the gauges of a record that this process owns and leaves it.
func (r *record) free() {
	for i := range r.slot.Conns {
		r.slot.Conns[i].Store(0)
	}
	r.borrower.Store(0)
	r.owner.Store(0)
}

// A Worker is a slot in use, as it is at one moment.
type Worker struct {
	PID   int
	Conns [weighstone.NumStates]int64 // connections now, by state
}

// Workers lists the slots in use, in their order.
func (b *Board) Workers() []Worker {
	b.Sweep()
	var all []Worker
	for i := range b.records {
		r := &b.records[i]
		owner := identity(r.owner.Load())
		if owner == 0 {
			continue
		}
		w := Worker{PID: owner.pid()}
		if pid := r.borrower.Load(); pid != 0 {
			w.PID = int(pid)
		}
		for state := range w.Conns {
			w.Conns[state] = r.slot.Conns[state].Load()
		}
		all = append(all, w)
	}
	return all
}
