package scoreboard

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"testing"
	"unsafe"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/testproc"
	"golang.org/x/sys/unix"
)

// TestMain makes this binary the other process too: it opens the board on
// descriptor 3, counts, says so, and waits to be killed.
func TestMain(m *testing.M) {
	if os.Getenv("SCOREBOARD_CHILD") == "" {
		os.Exit(m.Run())
	}
	b, err := Open(os.NewFile(3, "scoreboard"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	slots, err := b.Claim(2)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	b.Restarted()
	slots[1].Conns[weighstone.StateHead].Add(7)
	count(slots[1], 200, 1000)
	fmt.Println("counted")
	bufio.NewReader(os.Stdin).ReadByte()
	os.Exit(0)
}

// count notes one reply as a worker would.
func count(s *weighstone.Slot, status int, bytes uint64) {
	s.Requests.Add(1)
	s.Responses[status/100].Add(1)
	s.BytesSent.Add(bytes)
}

func newBoard(t *testing.T, n int) *Board {
	t.Helper()
	b, err := New(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func TestLayout(t *testing.T) {
	if size := unsafe.Sizeof(header{}); size != 64 {
		t.Errorf("header has %d bytes, want a cache line", size)
	}
	if size := unsafe.Sizeof(record{}); size%64 != 0 {
		t.Errorf("record has %d bytes, want whole cache lines", size)
	}
	if at := unsafe.Offsetof(record{}.slot); at != 64 {
		t.Errorf("slot is at %d, want 64", at)
	}
}

func TestClaimAndRelease(t *testing.T) {
	b := newBoard(t, 3)
	slots, err := b.Claim(2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Claim(2); err == nil {
		t.Error("two slots claimed with one free")
	}
	third, err := b.Claim(1)
	if err != nil {
		t.Fatalf("after a failed claim: %v", err)
	}
	slots = append(slots, third...)
	slots[0].Conns[weighstone.StateIdle].Add(4)
	count(slots[0], 404, 10)
	count(slots[2], 200, 5)
	st := b.Sum()
	if st.Workers != 3 || st.Conns[weighstone.StateIdle] != 4 || st.Requests != 2 || st.BytesSent != 15 {
		t.Errorf("sum %+v", st)
	}
	b.Release()
	st = b.Sum()
	if st.Workers != 0 || st.Conns[weighstone.StateIdle] != 0 || st.Requests != 2 || st.Responses[4] != 1 {
		t.Errorf("after the release: %+v, want counters kept and gauges cleared", st)
	}
}

func TestDeadProcessLeavesItsCounters(t *testing.T) {
	b := newBoard(t, 4)
	if _, err := b.Claim(1); err != nil {
		t.Fatal(err)
	}
	cmd := testproc.Self("SCOREBOARD_CHILD=1")
	cmd.ExtraFiles = []*os.File{b.File()}
	child := testproc.Start(t, cmd)
	if line := child.Line(); line != "counted" {
		t.Fatalf("child said %q", line)
	}
	if st := b.Sum(); st.Workers != 3 || st.Conns[weighstone.StateHead] != 7 || st.Requests != 1 || b.Restarts() != 1 {
		t.Errorf("with the child: %+v, %d restarts", st, b.Restarts())
	}
	child.Process.Kill()
	// Until Wait the child is a zombie, which is dead enough. WNOWAIT leaves
	// it one.
	if err := unix.Waitid(unix.P_PID, child.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if st := b.Sum(); st.Workers != 1 || st.Conns[weighstone.StateHead] != 0 || st.Requests != 1 {
		t.Errorf("with the child's zombie: %+v", st)
	}
	child.Wait()
	if slots, err := b.Claim(3); err != nil || len(slots) != 3 {
		t.Errorf("its slots are not free: %v", err)
	}
}

func TestIdentityTellsReusedPid(t *testing.T) {
	id, err := identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !id.alive() || (id ^ 1).alive() {
		t.Error("a process that began at another time passes for this one")
	}
	if identity(1<<62).alive() || identity(0x7fffffff<<32).alive() {
		t.Error("a process that never was is alive")
	}
}

func TestOpenRefusesOtherLayout(t *testing.T) {
	for name, spoil := range map[string]func(*Board){
		"magic":   func(b *Board) { b.head.magic++ },
		"record":  func(b *Board) { b.head.record = 128 },
		"records": func(b *Board) { b.head.records = 1 << 40 },
		"short":   func(b *Board) { b.file.Truncate(10) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoard(t, 2)
			fd, err := unix.Dup(int(b.File().Fd()))
			if err != nil {
				t.Fatal(err)
			}
			spoil(b)
			if _, err := Open(os.NewFile(uintptr(fd), "board")); !errors.Is(err, ErrLayout) {
				t.Errorf("error %v, want ErrLayout", err)
			}
			b.records = nil
		})
	}
}
