package scoreboard

import (
	"fmt"
	"unsafe"

	"github.com/weighstone/weighstone"
)

// A master claims slots and lends them to its workers, each by its number: so
// the slot of a worker that dies is the master's to clear, and looking for
// dead owners looks at masters alone.

// Number returns which record of the board slot is in, for [Board.Borrow] in
// a process that this one starts.
func (b *Board) Number(slot *weighstone.Slot) int {
	first := uintptr(unsafe.Pointer(&b.records[0].slot))
	return int((uintptr(unsafe.Pointer(slot)) - first) / unsafe.Sizeof(record{}))
}

// Borrow returns the slot with this number, which its owner has lent to this
// process.
func (b *Board) Borrow(number int) (*weighstone.Slot, error) {
	if number < 0 || number >= len(b.records) {
		return nil, fmt.Errorf("borrow scoreboard slot %d: there are %d", number, len(b.records))
	}
	r := &b.records[number]
	r.borrower.Store(uint64(b.self.pid()))
	return &r.slot, nil
}

// Return gives back one slot that this process has claimed. Whoever counted in
// it must have ended; its gauges are cleared.
func (b *Board) Return(slot *weighstone.Slot) { b.records[b.Number(slot)].free() }
