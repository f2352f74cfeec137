package scoreboard

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
)

// TestLend: a slot is the same memory under its number in another mapping, as
// a worker has it, is drawn as the worker's, and is the owner's to give back.
func TestLend(t *testing.T) {
	b := newBoard(t, 3)
	slots, err := b.Claim(2)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.FcntlInt(b.File().Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := Open(os.NewFile(uintptr(fd), "scoreboard"))
	if err != nil {
		t.Fatal(err)
	}
	theirs.self = identity(uint64(b.self.pid()+1)<<32 | 7) // as in another process
	defer theirs.Close()
	number := b.Number(slots[1])
	borrowed, err := theirs.Borrow(number)
	if err != nil || number != 1 {
		t.Fatalf("slot %d: %v", number, err)
	}
	borrowed.Conns[weighstone.StateBody].Add(2)
	count(borrowed, 200, 5)
	workers := b.Workers()
	if len(workers) != 2 || workers[0].PID != os.Getpid() || workers[1].PID != os.Getpid()+1 || workers[1].Conns[weighstone.StateBody] != 2 {
		t.Errorf("workers %+v", workers)
	}
	b.Return(slots[1])
	if st := b.Sum(); st.Workers != 1 || st.Conns[weighstone.StateBody] != 0 || st.Requests != 1 {
		t.Errorf("after the return: %+v", st)
	}
	if again, err := b.Claim(1); err != nil || again[0] != slots[1] || b.Workers()[1].PID != os.Getpid() {
		t.Errorf("the slot can't be claimed again: %v, %+v", err, b.Workers())
	}
	for _, wrong := range []int{-1, 3} {
		if _, err := theirs.Borrow(wrong); err == nil {
			t.Errorf("slot %d can be borrowed", wrong)
		}
	}
}
