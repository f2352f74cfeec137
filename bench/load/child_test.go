package load

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/pace"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/internal/testproc"
	"golang.org/x/sys/unix"
)

// sourceLog counts connections' requests by the address they came from.
type sourceLog struct {
	mu  sync.Mutex
	all map[string]int
}

func (l *sourceLog) answer(_ int64, c *net.TCPConn, _ string) bool {
	l.mu.Lock()
	if l.all == nil {
		l.all = map[string]int{}
	}
	l.all[c.RemoteAddr().(*net.TCPAddr).IP.String()]++
	l.mu.Unlock()
	io.WriteString(c, ok("hi"))
	return true
}

func (l *sourceLog) counts() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

// serveFickle closes a connection after 5 ms without a request.
func serveFickle(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				c.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
				if _, err := bufio.NewReader(c).ReadString('\n'); err == nil {
					io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi")
				}
				c.(*net.TCPConn).CloseWrite() // a late request is read, so that it is no reset
				c.SetReadDeadline(time.Now().Add(time.Second))
				io.Copy(io.Discard, c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return "http://" + l.Addr().String() + "/"
}

// serveChild is a server as a process: it prints its URL and serves until its
// input ends.
func serveChild() {
	url, stop, err := startRaw(os.Getenv("REPLY"), true)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(url)
	io.Copy(io.Discard, os.Stdin)
	stop()
}

// startProcess starts such a server.
func startProcess(t *testing.T, reply string) (url string, p *os.Process) {
	t.Helper()
	c := testproc.Start(t, child("serve", "REPLY="+reply))
	return c.Line(), c.Process
}

// pinProcess has all threads of a process stay on a core.
func pinProcess(t *testing.T, p *os.Process, core int) {
	t.Helper()
	var set unix.CPUSet
	set.Set(core)
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p.Pid))
	for _, task := range tasks {
		if tid, _ := strconv.Atoi(filepath.Base(task)); err == nil {
			err = unix.SchedSetaffinity(tid, &set)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func serveProcess(t *testing.T, reply string) string {
	url, _ := startProcess(t, reply)
	return url
}

// TestServerThatDies ends the server in the middle of a run, which then says
// so and does not go on longer than it would have.
func TestServerThatDies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Config{
		"kept":    {Keepalive: true, Duration: time.Second},
		"open":    {Duration: time.Second, Arrival: pace.Arrival{Kind: pace.Constant, Rate: 500}},
		"a count": {Requests: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			url, server := startProcess(t, ok("hi"))
			kill := time.AfterFunc(500*time.Millisecond, func() { server.Kill() })
			defer kill.Stop()
			c.CloseFirst, c.Clients = true, 4
			if c.Requests > 0 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				c.URL = url
				c.Plan = one{bench.Ask{Target: []byte("/"), Expect: bench.Expect{Length: 2}}}
				r, err := Run(ctx, c)
				died(t, r, err)
				return
			}
			died(t, runs(t, url, c), nil)
		})
	}
}

func died(t *testing.T, r *Result, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	verdict, reasons := r.Verdict()
	if why := strings.Join(reasons, "; "); r.Good() == 0 || verdict != bench.Incomplete || !strings.Contains(why, "the server was gone from") {
		t.Errorf("good %d, faults %v, verdict %s: %s", r.Good(), r.Tally.Faults, verdict, why)
	}
}

// TestStoppedServerShowsInTheTail stops the server for two seconds of a run of
// an open loop: what was due meanwhile waited for it.
func TestStoppedServerShowsInTheTail(t *testing.T) {
	t.Parallel()
	url, server := startProcess(t, ok("hi"))
	const rate, seconds, stopped = 500, 4, 2 * time.Second
	stop := time.AfterFunc(time.Second, func() { server.Signal(syscall.SIGSTOP) })
	defer stop.Stop()
	cont := time.AfterFunc(time.Second+stopped, func() { server.Signal(syscall.SIGCONT) })
	defer cont.Stop()
	r := runs(t, url, Config{
		Duration: seconds * time.Second, Clients: 16, Keepalive: true, Arrival: pace.Arrival{Kind: pace.Constant, Rate: rate},
	})
	if r.Good()+r.Dropped != rate*seconds || r.Bad() != 0 {
		t.Fatalf("good %d, bad %d, dropped %d: %v", r.Good(), r.Bad(), r.Dropped, r.Offence)
	}
	// Of 2,000 requests 1,000 were due while it stood still, evenly: the
	// longest tenth of all waited from 1.6 to 2 s.
	p90, _ := r.Tally.Latency.Quantile(.9)
	p99, _ := r.Tally.Latency.Quantile(.99)
	if p90 < 1500*time.Millisecond || p99 < 1900*time.Millisecond {
		t.Errorf("p90 %v and p99 %v of an open loop with a server that stood still for 2 s", p90, p99)
	}
	// What a tool sees that starts its clock when it sends: 16 of 2,000.
	if p90, _ := r.Tally.Service.Quantile(.9); p90 > stopped/2 {
		t.Errorf("p90 %v of the service time", p90)
	}
}

// TestClientHemmedInByOthers leaves the client little of its core in a closed
// loop, whose rate is then the client's and not the server's.
func TestClientHemmedInByOthers(t *testing.T) {
	cores := sys.Cores()
	if len(cores) < 2 {
		cannot(t, "the server needs another core than the client")
	}
	url, server := startProcess(t, ok("hi"))
	pinProcess(t, server, cores[0])
	core := cores[len(cores)-1]
	for range 6 {
		testproc.StartHog(t, child("hog", "CORE="+strconv.Itoa(core)))
	}
	// What else runs on the machine may hold the server back as much, but not
	// each time.
	var verdict bench.Verdict
	var why string
	for range 6 {
		r := runs(t, url, Config{Duration: 500 * time.Millisecond, Clients: 64, Workers: 1, CPUs: []int{core}, Keepalive: true})
		var reasons []string
		verdict, reasons = r.Verdict()
		why = strings.Join(reasons, "; ")
		t.Logf("%s: %s", verdict, why)
		if verdict == bench.ClientBound && strings.Contains(why, "of what it got of 1 core: it ran for") && r.ClientCPU() <= maxClientCPU {
			return
		}
	}
	t.Errorf("%s: %s", verdict, why)
}
