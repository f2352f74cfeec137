package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A waiting says who waits in which call: how many threads of a server. A
// negative number is any from one on; what is not named is not looked at. A
// "loop" waits in epoll for a set with a socket in it: the runtime waits for
// other things, where sockets are not its own.
type waiting map[string]int

const some = -1

// An architecture is what a variant does when nobody has connected, and when
// clients hold kept connections, of which one more does not read a large reply.
type architecture struct {
	variant string
	flags   []string
	alone   waiting
	held    waiting
	workers int // processes beside the first
}

// holding is how many kept connections there are, beside the one that does not
// read.
const holding = 3

// architectures are told apart by their waits. The threads that the Go runtime
// keeps beside wait in futex(2) and in its poller, on nothing of the clients'.
func architectures() []architecture {
	return []architecture{
		{
			variant: "thread-pool", flags: []string{"--workers", "8", "--max-workers", "8"},
			alone: waiting{"accept": 8, "read": 0, "write": 0},
			held:  waiting{"accept": 8 - holding - 1, "read": holding, "write": 1},
		},
		{
			variant: "thread-pool", flags: []string{"--workers", "2", "--max-workers", "8"}, // one is always ready
			alone: waiting{"accept": 2, "read": 0, "write": 0},
			held:  waiting{"accept": 1, "read": holding, "write": 1},
		},
		{
			variant: "prefork", flags: []string{"--workers", "8", "--min-workers", "8", "--max-workers", "8"}, workers: 8,
			alone: waiting{"accept": 8, "read": 0, "write": 0},
			held:  waiting{"accept": 8 - holding - 1, "read": holding, "write": 1},
		},
		{
			variant: "fork", workers: holding + 1,
			alone: waiting{"accept": 1, "read": 0, "write": 0},
			held:  waiting{"accept": 1, "read": holding, "write": 1},
		},
		{
			variant: "inetd", workers: holding + 1,
			alone: waiting{"accept": 1, "read": 0, "write": 0},
			held:  waiting{"accept": 1, "read": holding, "write": 1},
		},
		{
			variant: "symped", flags: []string{"--workers", "3"}, workers: 3,
			alone: waiting{"accept": 0, "read": 0, "write": 0, "epoll": some},
			held:  waiting{"accept": 0, "read": 0, "write": 0, "epoll": some},
		},
		{
			variant: "prefork-reuseport", flags: []string{"--workers", "3"}, workers: 3,
			alone: waiting{"accept": 0, "read": 0, "write": 0, "epoll": some},
			held:  waiting{"accept": 0, "read": 0, "write": 0, "epoll": some},
		},
		{
			variant: "reactors", flags: []string{"--workers", "3"}, // the acceptor alone has a socket, and then each has
			alone: waiting{"accept": 0, "read": 0, "write": 0, "loop": 1},
			held:  waiting{"accept": 0, "read": 0, "write": 0, "loop": 1 + 3},
		},
		{
			variant: "threads",
			alone:   waiting{"accept": 1, "read": 0, "write": 0},
			held:    waiting{"accept": 1, "read": holding, "write": 1},
		},
		{
			variant: "acceptor-queue", flags: []string{"--workers", "8"},
			alone: waiting{"accept": 1, "read": 0, "write": 0, "futex": some},
			held:  waiting{"accept": 1, "read": holding, "write": 1, "futex": some},
		},
		{
			variant: "event-mpm", flags: []string{"--workers", "8"}, // idle connections hold no thread
			alone: waiting{"accept": 0, "read": 0, "write": 0, "loop": 1, "futex": some},
			held:  waiting{"accept": 0, "read": 0, "write": 1, "loop": 1, "futex": some},
		},
		{
			variant: "iterative", // the others are closed; the kernel takes the one reply, and the client's end is awaited
			alone:   waiting{"accept": 1, "read": 0, "write": 0},
			held:    waiting{"accept": 0, "read": 1, "write": 0},
		},
		{
			variant: "goroutine",
			alone:   waiting{"accept": 0, "read": 0, "write": 0, "epoll": some},
			held:    waiting{"accept": 0, "read": 0, "write": 0, "epoll": some},
		},
		{
			variant: "epoll",
			alone:   waiting{"accept": 0, "read": 0, "write": 0, "loop": 1},
			held:    waiting{"accept": 0, "read": 0, "write": 0, "loop": 1},
		},
		{
			variant: "amped", flags: []string{"--helpers", "3"},
			alone: waiting{"accept": 0, "read": 0, "write": 0, "epoll": some, "helper in futex": 3},
			held:  waiting{"accept": 0, "read": 0, "write": 0, "epoll": some, "helper in futex": 3},
		},
		{
			variant: "staged", // the controllers begin with one thread each
			alone:   waiting{"accept": 0, "read": 0, "write": 0, "loop": 1, "parse in futex": 1, "handle in futex": 1, "send in futex": 1},
			held:    waiting{"accept": 0, "read": 0, "write": 0, "loop": 2, "parse in futex": some, "handle in futex": some, "send in futex": some},
		},
		{
			variant: "poll",
			alone:   waiting{"accept": 0, "read": 0, "write": 0, "poll": 1},
			held:    waiting{"accept": 0, "read": 0, "write": 0, "poll": 1},
		},
		{
			variant: "select",
			alone:   waiting{"accept": 0, "read": 0, "write": 0, "select": 1},
			held:    waiting{"accept": 0, "read": 0, "write": 0, "select": 1},
		},
	}
}

// TestWaits: each architecture waits as its description says, at rest and with
// connections, so that none exists in name only.
func TestWaits(t *testing.T) {
	file := content(t, "100.html")
	for _, a := range architectures() {
		t.Run(strings.Join(append([]string{a.variant}, a.flags...), " "), func(t *testing.T) {
			s := serve(t, a.variant, a.flags...)
			awaitWaits(t, s.pid, a.alone)
			for range holding {
				c, err := dial(s.addr, false)
				if err == nil {
					err = c.send(get("/100.html"))
				}
				if err == nil {
					_, err = c.receive(file)
				}
				if err != nil {
					t.Fatal(err)
				}
				defer c.close()
			}
			deaf, err := dial(s.addr, true)
			if err == nil {
				// The kernel takes a few megabytes in the client's place.
				err = deaf.send(strings.Repeat(get("/silicon-surf/file200k.html"), 100))
			}
			if err != nil {
				t.Fatal(err)
			}
			defer deaf.close()
			awaitWaits(t, s.pid, a.held)
			if n := len(processes(t, s.pid)) - 1; n != a.workers {
				t.Errorf("%d workers, want %d", n, a.workers)
			}
		})
	}
}

// awaitWaits waits until the threads of a process and its workers wait as they
// should.
func awaitWaits(t *testing.T, pid int, want waiting) {
	t.Helper()
	var got waiting
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		got = waiting{}
		for _, process := range processes(t, pid) {
			got.add(t, process)
		}
		if got.are(want) {
			return
		}
	}
	t.Errorf("threads wait as %v, want %v", got, want)
}

// are says whether the waits are those wanted.
func (w waiting) are(want waiting) bool {
	for call, n := range want {
		if n < 0 && w[call] == 0 || n >= 0 && w[call] != n {
			return false
		}
	}
	return true
}

// calls are what the waits are called. Those of the second list count on
// sockets alone: the runtime reads from other things.
var (
	anyCalls = map[uint64]string{
		unix.SYS_FUTEX: "futex", unix.SYS_EPOLL_PWAIT: "epoll", unix.SYS_EPOLL_WAIT: "epoll",
		unix.SYS_POLL: "poll", unix.SYS_PSELECT6: "select", unix.SYS_IO_URING_ENTER: "uring",
	}
	socketCalls = map[uint64]string{
		unix.SYS_ACCEPT4: "accept", unix.SYS_READ: "read", unix.SYS_RECVFROM: "read",
		unix.SYS_SENDTO: "write", unix.SYS_SENDMSG: "write", unix.SYS_WRITE: "write", unix.SYS_SENDFILE: "write",
	}
)

// controlFD is a worker's socket to its master, on which a thread waits.
const controlFD = 3

// add counts the threads of a process by the call that each is blocked in
// (proc_pid_syscall(5)): its number, and its arguments in hexadecimal.
func (w waiting) add(t *testing.T, pid int) {
	t.Helper()
	worker := isWorker(pid)
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("no threads of %d: %v", pid, err)
	}
	for _, thread := range threads {
		b, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		words := strings.Fields(string(b))
		if len(words) < 2 { // it is running
			continue
		}
		call, err := strconv.ParseUint(words[0], 10, 64)
		if err != nil {
			continue // not in a call: -1
		}
		if name := anyCalls[call]; name != "" {
			w[name]++
			if comm := nameOf(thread); comm != "" {
				w[comm+" in "+name]++
			}
		}
		fd, err := strconv.ParseUint(words[1], 0, 64)
		if anyCalls[call] == "epoll" && err == nil && hasSocket(pid, fd) {
			w["loop"]++
		}
		if name := socketCalls[call]; name != "" && err == nil && isSocket(pid, fd) && !(worker && fd == controlFD) {
			w[name]++
		}
	}
}

// nameOf returns the name that a server gave to the thread with this file, empty
// for the program's own.
func nameOf(syscall string) string {
	b, err := os.ReadFile(filepath.Join(filepath.Dir(syscall), "comm"))
	name := strings.TrimSpace(string(b))
	if err != nil || strings.HasPrefix(name, "weighstone") {
		return ""
	}
	return name
}

// isSocket says whether a descriptor of a process is a socket.
func isSocket(pid int, fd uint64) bool {
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
	return err == nil && strings.HasPrefix(name, "socket:")
}

// member is a descriptor of an epoll set in fdinfo (proc_pid_fdinfo(5)).
var member = regexp.MustCompile(`(?m)^tfd: *(\d+) `)

// hasSocket says whether there is a socket in an epoll set of a process.
func hasSocket(pid int, set uint64) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", pid, set))
	if err != nil {
		return false
	}
	for _, m := range member.FindAllSubmatch(b, -1) {
		if fd, err := strconv.ParseUint(string(m[1]), 10, 64); err == nil && isSocket(pid, fd) && !isLocal(pid, fd) {
			return true
		}
	}
	return false
}

// isLocal says whether a socket of a process is none of the network's: those are
// between the server and its own programs, in the runtime's set.
func isLocal(pid int, fd uint64) bool {
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
	if err != nil {
		return false
	}
	inode := strings.TrimSuffix(strings.TrimPrefix(name, "socket:["), "]")
	local, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/unix", pid)) // Num RefCount Protocol Flags Type St Inode Path
	return err == nil && slices.ContainsFunc(strings.Split(string(local), "\n"), func(line string) bool {
		words := strings.Fields(line)
		return len(words) > 6 && words[6] == inode
	})
}
