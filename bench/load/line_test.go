package load

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/bench"
)

// A watched plan asks for one page, the last time on each connection after three
// requests, and watches its replies.
type watched struct{ clients []*watcher }

type watcher struct {
	asked   int
	want    string
	body    strings.Builder
	status  int
	kind    string
	samples []bench.Sample
}

func newWatched(clients int, want string) *watched {
	w := &watched{}
	for range clients {
		w.clients = append(w.clients, &watcher{want: want})
	}
	return w
}

func (w *watched) Classes() []bench.Class         { return []bench.Class{{Name: "/", Weight: 1}} }
func (w *watched) Script(client int) bench.Script { return w.clients[client] }

func (w *watcher) Next(ask *bench.Ask) {
	w.asked++
	w.body.Reset()
	*ask = bench.Ask{Target: []byte("/"), Expect: bench.Expect{Length: -1}, Last: w.asked%3 == 0, Judge: w}
}

func (w *watcher) Head(status int, f weighstone.Fields) {
	w.status, w.kind = status, string(f.Get("Content-Type"))
}
func (w *watcher) Body(b []byte)        { w.body.Write(b) }
func (w *watcher) Right() bool          { return w.body.String() == w.want && w.kind == "text/plain" }
func (w *watcher) Done(s *bench.Sample) { w.samples = append(w.samples, *s) }

// typed is a reply that says what it is.
func typed(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// TestJudge: the judge of a request sees head and body of its reply and is
// believed; a script says where a connection ends.
func TestJudge(t *testing.T) {
	body := strings.Repeat("hello ", 20000)
	url := serveScript(t, always(typed(body), true)).url
	for _, want := range []string{body, body + "!"} {
		p := newWatched(2, want)
		r := runs(t, url, Config{Plan: p, Clients: 2, Requests: 60, Keepalive: true, CloseFirst: true})
		wrong := uint64(0)
		if want != body {
			wrong = 60
		}
		if r.Tally.Faults[bench.FaultContent] != wrong || r.Good() != 60-wrong {
			t.Errorf("%d good, faults %v, want %d wrong", r.Good(), r.Tally.Faults, wrong)
		}
		connections := uint64(0)
		for _, c := range p.clients {
			connections += uint64((len(c.samples) + 2) / 3)
		}
		if r.Connections != connections {
			t.Errorf("%d connections, want %d of three requests each", r.Connections, connections)
		}
	}
}

// TestLineRate: a client asks again exactly when the last reply could have
// crossed its line, at 50 and at 1,000 connections. What the machine adds by its
// own lag is told by the samples, and not counted: it is no error of the pacing.
func TestLineRate(t *testing.T) {
	const rate = 400_000
	page := typed(strings.Repeat("x", 5000))
	line := LineTime(int64(len(page)), rate)
	url := serveScript(t, always(page, true)).url
	for _, clients := range []int{50, 1000} {
		p := newWatched(clients, strings.Repeat("x", 5000))
		runs(t, url, Config{Plan: p, Clients: clients, Duration: 2 * time.Second, Keepalive: true, CloseFirst: true, LineRate: rate, Workers: 1})
		worst, n := 0.0, 0
		for _, c := range p.clients {
			for i := 1; i < len(c.samples); i++ {
				last, s := &c.samples[i-1], &c.samples[i]
				begun := last.Due + last.Started
				want := max(line, last.Ended()-begun) // a reply that was slower than the line
				worst = max(worst, math.Abs(float64(s.Due-begun-want))/float64(want))
				n++
			}
		}
		if worst > 0.02 || n < 50 { // how many there are is the machine's
			t.Errorf("%d connections: pacing is off by up to %.2f %%, in %d requests", clients, 100*worst, n)
		}
	}
}

// TestDelay: a client acts on a reply exactly the delay later, and on one by a
// new connection two of them. The samples do not have it.
func TestDelay(t *testing.T) {
	const delay = 30 * time.Millisecond
	body := "hello"
	url := serveScript(t, always(typed(body), true)).url
	for _, clients := range []int{1, 50} {
		p := newWatched(clients, body)
		runs(t, url, Config{Plan: p, Clients: clients, Requests: uint64(10 * clients), Keepalive: true, CloseFirst: true, Delay: delay, Workers: 1})
		kept, fresh := 0, 0
		for _, c := range p.clients {
			for i := 1; i < len(c.samples); i++ {
				last := &c.samples[i-1]
				want := delay
				if last.Connected > 0 {
					want = 2 * delay
					fresh++
				} else {
					kept++
				}
				if got := c.samples[i].Due - last.Ended(); got != want {
					t.Errorf("asked again %v after the reply, want %v", got, want)
				}
			}
		}
		if kept == 0 || fresh == 0 {
			t.Errorf("%d replies by kept connections, %d by new ones", kept, fresh)
		}
	}
}

// TestMemoryOfAClient: what a client costs here, beside its socket and its
// script.
func TestMemoryOfAClient(t *testing.T) {
	heap := func(clients int) uint64 {
		p := newWatched(clients, "")
		r, err := newRun(Config{URL: "http://127.0.0.1:1/", Plan: p, Clients: clients, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		w, err := newWorker(r, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer w.close()
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(w)
		return after.HeapAlloc - before.HeapAlloc
	}
	const few, many = 1000, 5000
	each := (heap(many) - heap(few)) / (many - few)
	t.Logf("%d bytes a client", each)
	if each > 2000 { // a session of the SPECweb99-style workload has as much, and both together 4 KB
		t.Errorf("a client takes %d bytes, want at most 2,000", each)
	}
}
