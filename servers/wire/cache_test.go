package wire

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
)

// A front is a machine with a cache, and how often its handlers were asked.
type front struct {
	t     *testing.T
	m     *Machine
	slot  weighstone.Slot
	peer  Peer
	now   time.Time
	asked int
	lines []string // of the access log, if there is one
}

// Exchange implements weighstone.AccessLog.
func (f *front) Exchange(x *weighstone.Exchange, status int, sent int64) {
	f.lines = append(f.lines, fmt.Sprintf("%s %s %d %d", x.In.Method, x.In.Target, status, sent))
}

// fresh is how long the pages of a front are good for.
const fresh = 10 * time.Second

func newFront(t *testing.T, logged bool) *front {
	f := &front{t: t, now: time.Now()}
	page := weighstone.NewPage("text/plain", time.Unix(1e9, 0), []byte("hello\n"))
	answer := func(lines ...weighstone.Field) weighstone.HandlerFunc {
		return func(x *weighstone.Exchange) {
			f.asked++
			x.SendPage(page)
			x.Out.Fresh = fresh
			x.Out.Extra = append(x.Out.Extra, lines...)
		}
	}
	const all = weighstone.GET | weighstone.HEAD | weighstone.POST
	site, err := weighstone.NewSite(0,
		weighstone.Route{Pattern: "/page", Methods: all, Handler: answer()},
		weighstone.Route{Pattern: "/p/", Methods: all, Handler: answer()},
		weighstone.Route{Pattern: "/lined", Methods: all, Handler: answer(weighstone.Field{Name: "X-Line", Value: "1"})},
		weighstone.Route{Pattern: "/cookie", Methods: all, Handler: answer(weighstone.Field{Name: "set-cookie", Value: "a=b"})},
		weighstone.Route{Pattern: "/private", Methods: all, Handler: answer(weighstone.Field{Name: "Cache-Control", Value: "private"})},
		weighstone.Route{Pattern: "/vary", Methods: all, Handler: answer(weighstone.Field{Name: "Vary", Value: "Accept"})},
		weighstone.Route{Pattern: "/silent", Methods: all, Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) {
			f.asked++
			x.SendPage(page)
		})},
		weighstone.Route{Pattern: "/failed", Methods: all, Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) {
			f.asked++
			x.SendPage(page)
			x.Out.Status, x.Out.Fresh = 404, fresh
		})},
		weighstone.Route{Pattern: "/made", Methods: all, Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) {
			f.asked++
			x.Scratch = append(x.Scratch, "made\n"...)
			x.SendScratch("text/plain")
			x.Out.Fresh = fresh
		})},
	)
	if err != nil {
		t.Fatal(err)
	}
	o := weighstone.Options{}
	if logged {
		o.Access = f
	}
	f.m = NewMachine(NewConfig(&o, site), &f.slot)
	f.m.Remember(NewCache(1 << 20))
	f.m.Tick(f.now)
	f.peer.Remote = netip.MustParseAddrPort("127.0.0.1:4000")
	return f
}

// ask has all requests in text answered.
func (f *front) ask(text string) (reply string, keep bool) {
	f.t.Helper()
	var out []byte
	for in := []byte(text); len(in) > 0; {
		n, step := f.m.Next(in, 0, &f.peer)
		if step != Answered {
			f.t.Fatalf("step %v for %q", step, in)
		}
		in = in[n:]
		var rest Rest
		out, rest, keep = f.m.Reply(out, false)
		out = append(out, rest.Page...)
		in = in[f.m.Unread():]
	}
	return string(out), keep
}

// from is a request with further lines.
func from(method, path string, lines ...string) string {
	head := method + " " + path + " HTTP/1.1\r\nHost: h\r\n"
	for _, l := range lines {
		head += l + "\r\n"
	}
	return head + "\r\n"
}

// wantAsked wants the handlers to have been asked so often since the start.
func (f *front) wantAsked(what string, n int) {
	f.t.Helper()
	if f.asked != n {
		f.t.Errorf("%s: the handler was asked %d times, want %d", what, f.asked, n)
	}
}

// TestCacheAnswers: what was answered once is answered again with the same
// bytes and without the handler, for the whole of its time and no longer.
func TestCacheAnswers(t *testing.T) {
	for _, logged := range []bool{false, true} {
		for _, path := range []string{"/page", "/lined", "/page?a=b"} {
			f := newFront(t, logged)
			first, _ := f.ask(from("GET", path))
			for range 5 {
				if again, keep := f.ask(from("GET", path)); again != first || !keep {
					t.Errorf("%s: kept %v, reply %q, want %q", path, keep, again, first)
				}
			}
			f.wantAsked(path, 1)
			f.now = f.now.Add(fresh - time.Nanosecond)
			f.m.Tick(f.now)
			later, _ := f.ask(from("GET", path))
			f.wantAsked("at the end of its time", 1)
			if later == first || len(later) != len(first) {
				t.Errorf("seconds later %q, want another Date than in %q", later, first)
			}
			f.now = f.now.Add(time.Nanosecond)
			f.m.Tick(f.now)
			f.ask(from("GET", path))
			f.wantAsked("after its time", 2)
			f.ask(from("GET", path))
			f.wantAsked("after it was asked again", 2)
			if cached, all := f.slot.Cached.Load(), f.slot.Requests.Load(); cached != 7 || all != 9 || f.slot.Responses[2].Load() != 9 {
				t.Errorf("%d of %d requests counted as cached, want 7 of 9", cached, all)
			}
			if logged && (len(f.lines) != 9 || f.lines[3] != "GET "+path+" 200 6") {
				t.Errorf("logged %q", f.lines)
			}
		}
	}
}

// TestCacheRefuses: a POST is never answered from the cache, nor is a request
// that is one client's own or asks for less than the whole, nor stored what a
// reply keeps back.
func TestCacheRefuses(t *testing.T) {
	for _, logged := range []bool{false, true} {
		for _, request := range []string{
			from("POST", "/page"), from("POST", "/page", "Content-Length: 3") + "abc",
			from("GET", "/page", "Content-Length: 3") + "abc",
			from("GET", "/page", "Cookie: a=b"), from("GET", "/page", "cookie: a=b"), from("GET", "/page", "Authorization: Basic YTpi"),
			from("GET", "/page", "Range: bytes=0-1"), from("GET", "/page", `If-None-Match: "x"`),
			from("GET", "/page", "If-Modified-Since: Sun, 09 Sep 2001 01:46:40 GMT"), from("GET", "/page", `If-Match: *`),
			from("GET", "/page", "Cache-Control: no-cache"), from("GET", "/page", "Pragma: no-cache"),
			from("GET", "/cookie"), from("GET", "/private"), from("GET", "/vary"),
			from("GET", "/silent"), from("GET", "/failed"), from("GET", "/made"),
		} {
			f := newFront(t, logged)
			f.ask(from("GET", "/page")) // is stored
			for i := range 4 {
				f.ask(request)
				f.wantAsked(request, 2+i)
			}
			f.ask(from("GET", "/page"))
			f.wantAsked("a plain request after "+request, 5)
			if f.slot.Cached.Load() != 1 {
				t.Errorf("%q: %d requests counted as cached, want 1", request, f.slot.Cached.Load())
			}
		}
	}
}

// TestCacheKeys: replies to another method, target or host are others.
func TestCacheKeys(t *testing.T) {
	f := newFront(t, false)
	requests := []string{
		from("GET", "/page"), from("HEAD", "/page"), from("GET", "/page?"), from("GET", "/page?x"), from("GET", "/p/1"), from("GET", "/p/2"),
		"GET /page HTTP/1.1\r\nHost: other\r\n\r\n", "GET http://h/page HTTP/1.1\r\nHost: h\r\n\r\n",
	}
	var first []string
	for i, r := range requests {
		reply, _ := f.ask(r)
		first = append(first, reply)
		f.wantAsked(r, i+1)
	}
	for i, r := range requests {
		if again, _ := f.ask(r); again != first[i] {
			t.Errorf("%q: %q, want %q", r, again, first[i])
		}
	}
	f.wantAsked("all of them again", len(requests))
	if !strings.HasSuffix(first[0], "hello\n") || !strings.HasSuffix(first[1], "\r\n\r\n") || !strings.Contains(first[1], "Content-Length: 6\r\n") {
		t.Errorf("GET %q, HEAD %q", first[0], first[1])
	}
}

// TestCacheConnection: whether the connection is kept is the request's own
// affair, and so is the version.
func TestCacheConnection(t *testing.T) {
	f := newFront(t, false)
	f.ask(from("GET", "/page"))
	for range 3 { // parsed, known
		for request, want := range map[string]string{
			from("GET", "/page"):                                              "",
			from("GET", "/page", "Connection: close"):                         "Connection: close\r\n",
			"GET /page HTTP/1.0\r\nHost: h\r\n\r\n":                           "Connection: close\r\n",
			"GET /page HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n": "Connection: keep-alive\r\n",
		} {
			reply, keep := f.ask(request)
			if got := strings.Contains(reply, "Connection: "); got != (want != "") || !strings.Contains(reply, want) || keep != (want != "Connection: close\r\n") || f.m.AskedToClose() == keep {
				t.Errorf("%q: kept %v, %q, want %q in it", request, keep, reply, want)
			}
		}
	}
	f.wantAsked("all versions", 1)
	two := strings.Repeat(from("GET", "/page"), 2) + from("POST", "/page") + from("GET", "/page")
	if reply, _ := f.ask(two); strings.Count(reply, "hello\n") != 4 {
		t.Errorf("pipelined: %q", reply)
	}
	f.wantAsked("the POST between", 2)
}

// TestCacheBounded: whatever is asked for, the cache stays within its budget,
// and what is asked for often stays in it.
func TestCacheBounded(t *testing.T) {
	f := newFront(t, false)
	const budget = 64 << 10
	c := NewCache(budget)
	f.m.Remember(c)
	for i := range 5000 {
		f.ask(from("GET", fmt.Sprintf("/p/%d", i)))
		f.ask(from("GET", fmt.Sprintf("/p/%d", i), "X: "+strings.Repeat("x", i%100)))
		f.ask(from("GET", "/page"))
		if got := c.young.bytes + c.old.bytes; got > budget {
			t.Fatalf("%d bytes after %d requests, budget %d", got, i, budget)
		}
	}
	f.wantAsked("one page between many", 5001)
	for _, s := range []*shelf{c.young, c.old} {
		for _, k := range s.heads {
			if r := s.replies[k.reply.key]; r != k.reply {
				t.Errorf("head %q keeps a reply that is not on its shelf", k.text)
			}
		}
	}
}

// TestCacheEmpty: what is stored is forgotten at once, logged or not.
func TestCacheEmpty(t *testing.T) {
	for _, logged := range []bool{false, true} {
		f := newFront(t, logged)
		f.ask(from("GET", "/page"))
		f.ask(from("GET", "/page"))
		f.m.cache.Empty()
		f.ask(from("GET", "/page"))
		f.wantAsked("after it was emptied", 2)
	}
}

func BenchmarkCached(b *testing.B) {
	f := newFront(new(testing.T), false)
	request := []byte(from("GET", "/page", "User-Agent: test"))
	out := make([]byte, 0, 4096)
	for b.Loop() {
		f.m.Next(request, 0, &f.peer)
		out, _, _ = f.m.Reply(out[:0], false)
	}
}

func BenchmarkNotCached(b *testing.B) {
	f := newFront(new(testing.T), false)
	f.m.Remember(nil)
	request := []byte(from("GET", "/page", "User-Agent: test"))
	out := make([]byte, 0, 4096)
	for b.Loop() {
		f.m.Next(request, 0, &f.peer)
		out, _, _ = f.m.Reply(out[:0], false)
	}
}
