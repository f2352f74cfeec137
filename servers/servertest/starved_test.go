package servertest_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/servertest"
)

// starvedRole is that of a child whose descriptors run out. Its argument is
// the name of an engine.
const starvedRole = "starved"

// starvedLimit is the descriptor limit of that child.
const starvedLimit = 40

// starved serves until its input ends. At each line it arms a timer, as the
// runtime does for itself when it likes, and says so.
func starved() int {
	limit := syscall.Rlimit{Cur: starvedLimit, Max: starvedLimit}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		fmt.Fprintln(os.Stderr, "lower the descriptor limit:", err)
		return 1
	}
	fd, err := sys.Listen("127.0.0.1:0", 0, false)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, e := range engines() {
		if e.Name == os.Args[1] {
			return serveStarved(e, fd)
		}
	}
	return 2
}

func serveStarved(e servertest.Engine, fd int) int {
	at := place{Kind: pagePlace}
	site, _, err := at.site()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// More than there are descriptors: the server is not to know.
	o, err := at.options(weighstone.Options{Limits: weighstone.Limits{MaxConns: 1000}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	server := e.New(o)
	served := make(chan error)
	go func() { served <- server.Serve([]int{fd}, site) }()
	fmt.Println(sys.LocalAddr(fd))
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		timer := time.AfterFunc(time.Hour, func() {})
		defer timer.Stop()
		fmt.Println("armed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := errors.Join(server.Drain(ctx), <-served); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestNoDescriptors: when descriptors run out, connections wait in the queue,
// the server does not spin nor need one for itself, and it takes them when
// others end.
func TestNoDescriptors(t *testing.T) {
	const conns = 3 * starvedLimit
	onFamilies(t, func(t *testing.T, e servertest.Engine) {
		c := startChild(t, starvedRole, e.Name)
		addr := c.Line()
		answered := make(chan net.Conn, conns)
		for range conns {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			go func() {
				io.WriteString(conn, servertest.Get("/100.html"))
				if b, err := bufio.NewReader(conn).ReadBytes('\n'); err != nil || !bytes.HasPrefix(b, []byte("HTTP/1.1 200 ")) {
					t.Errorf("%q, %v", b, err)
				}
				answered <- conn
			}()
		}
		first := <-answered
		c.Tell("arm a timer")
		c.Line()
		before := cpuTicks(t, c.Process.Pid)
		time.Sleep(time.Second)
		// A loop that spins would use nearly all of a hundred ticks.
		if spent := cpuTicks(t, c.Process.Pid) - before; spent > 30 {
			t.Errorf("the waiting server used %d ticks of CPU in a second", spent)
		}
		first.Close()
		for range conns - 1 {
			(<-answered).Close()
		}
		c.End()
	})
}

// cpuTicks is the CPU time that a process has used, in hundredths of a second
// (proc_pid_stat(5): fields 14 and 15).
func cpuTicks(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	sum := 0
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(string(f))
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}
