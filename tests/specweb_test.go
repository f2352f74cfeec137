package tests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/fixtures"
	"github.com/weighstone/weighstone/fixtures/specweb"
)

// A visitor asks a server for what the SPECweb99-style workload has.
type visitor struct {
	t      *testing.T
	s      *server
	client *http.Client
}

func newVisitor(t *testing.T, s *server) *visitor {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return &visitor{t, s, &http.Client{Transport: transport, Timeout: patience}}
}

// try asks, and returns what came; an error means that no whole reply did.
func (v *visitor) try(method, target, cookie, body string) (int, http.Header, []byte, error) {
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, "http://"+v.s.addr+target, in)
	if err != nil {
		return 0, nil, nil, err
	}
	if cookie != "" {
		req.Header.Set("Cookie", cookie)
	}
	res, err := v.client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, res.Header, b, err
}

func (v *visitor) ask(method, target, cookie, body string, status int) (http.Header, []byte) {
	v.t.Helper()
	got, head, b, err := v.try(method, target, cookie, body)
	if err != nil || got != status {
		v.t.Errorf("%s %s: status %d, %v, want %d", method, target, got, err, status)
	}
	return head, b
}

// reset begins anew, and returns the tables that follow. The server tells when
// it was.
func (v *visitor) reset() *specweb.Tables {
	v.t.Helper()
	_, b := v.ask("POST", specweb.ResetURL+"?seed=9&users=50", "", "", 200)
	var at int64
	if _, err := fmt.Sscanf(string(b), specweb.Style+" reset %d\n", &at); err != nil {
		v.t.Fatalf("reset: %q: %v", b, err)
	}
	return specweb.NewTables(9, 50, at)
}

// records are those of the log, by id. Their numbers must be their places.
func (v *visitor) records() map[uint64]int {
	v.t.Helper()
	_, b := v.ask("GET", specweb.FetchURL, "", "", 200)
	all := map[uint64]int{}
	for at := 0; at < len(b); at += specweb.RecordBytes {
		r, ok := specweb.ParseRecord(b[at:min(at+specweb.RecordBytes, len(b))])
		if !ok || r.Number != uint64(at/specweb.RecordBytes+1) {
			v.t.Errorf("record %d: %q", at/specweb.RecordBytes+1, b[at:min(at+specweb.RecordBytes, len(b))])
		}
		all[r.ID]++
	}
	return all
}

func page(set *specweb.Set, script, query string, f specweb.File, ad int) []byte {
	r := set.Read(f, ad)
	return append(r.AppendRest(specweb.AppendPageHead(nil, weighstone.Software, "127.0.0.1", script, []byte(query))), specweb.PageEnd...)
}

// TestSpecweb: on every variant the operations answer as the rules say, a POST
// is logged once under one line of numbers, and what is wrong leaves no record.
func TestSpecweb(t *testing.T) {
	set := specweb.NewSet(fixtures.Seed)
	onEach(t, func(t *testing.T, variant string) {
		v := newVisitor(t, serve(t, variant))
		tables := v.reset()
		for _, f := range []specweb.File{{Class: 0, Index: 0}, {Class: 1, Index: 8}, {Class: 2, Index: 7}, {Class: 3, Index: 2}} {
			query := string(specweb.AppendQuery(nil, f))
			plain := set.Read(f, -1)
			_, got := v.ask("GET", specweb.Prefix+f.Path(), "", "", 200)
			if !bytes.Equal(got, plain.AppendRest(nil)) {
				t.Errorf("%s: wrong content", f.Path())
			}
			for _, url := range []string{specweb.GetURL, specweb.CGIURL} {
				if _, got := v.ask("GET", url+"?"+query, "", "", 200); !bytes.Equal(got, page(set, url, query, f, -1)) {
					t.Errorf("%s?%s: a wrong page", url, query)
				}
			}
			who := specweb.Visitor{User: 7 + f.Class, Last: 100 * f.Class}
			head, got := v.ask("GET", specweb.AdURL+"?"+query, string(who.AppendCookie(nil)), "", 200)
			want := tables.Next(who.User, who.Last, time.Now().Unix())
			if head.Get("Set-Cookie") != string(want.AppendSetCookie(nil)) || !bytes.Equal(got, page(set, specweb.AdURL, query, f, want.Ad)) {
				t.Errorf("%s: %q and its page, want advertisement %d", query, head.Get("Set-Cookie"), want.Ad)
			}
		}
		v.postMany(set)
		v.refused()
	})
}

// postMany posts from some clients at once.
func (v *visitor) postMany(set *specweb.Set) {
	v.t.Helper()
	const clients, each = 8, 10
	f := specweb.File{Class: 1, Index: 2}
	want := page(set, specweb.PostURL, "", f, -1)
	var posts sync.WaitGroup
	for c := range uint64(clients) {
		posts.Go(func() {
			for i := range uint64(each) {
				_, got := v.ask("POST", specweb.PostURL, "visitor=3.4", string(specweb.AppendForm(nil, c<<32|i, f)), 200)
				if !bytes.Equal(got, want) {
					v.t.Errorf("the reply to a POST is a wrong page")
				}
			}
		})
	}
	posts.Wait()
	records := v.records()
	if len(records) != clients*each {
		v.t.Errorf("%d ids logged, want %d", len(records), clients*each)
	}
	for id, n := range records {
		if n != 1 {
			v.t.Errorf("%x was logged %d times", id, n)
		}
	}
}

// refused asks for what can't be.
func (v *visitor) refused() {
	v.t.Helper()
	const file, form = "?file=dir00000/class1_3", "id=00000000000000ff&file=dir00000/class1_3"
	before := len(v.records())
	v.ask("GET", specweb.GetURL+"?file=../../etc/passwd", "", "", 400)
	v.ask("GET", specweb.CGIURL+"?file=../../etc/passwd", "", "", 400)
	v.ask("GET", specweb.GetURL+"?file=dir99999/class0_0", "", "", 404)
	v.ask("GET", specweb.CGIURL+"?file=dir99999/class0_0", "", "", 404)
	v.ask("GET", specweb.Prefix+"dir99999/class0_0", "", "", 404)
	v.ask("GET", specweb.AdURL+file, "", "", 400)
	v.ask("GET", specweb.AdURL+file, "visitor=3.360", "", 400)
	v.ask("GET", specweb.AdURL+file, "visitor=50.1", "", 403)
	v.ask("POST", specweb.PostURL, "visitor=3", form, 400)
	v.ask("POST", specweb.PostURL, "visitor=50.1", form, 403)
	v.ask("POST", specweb.PostURL, "visitor=3.4", "id=00000000000000ff", 400)
	v.ask("POST", specweb.PostURL, "visitor=3.4", strings.Repeat("x", 2000), 413)
	if after := len(v.records()); after != before {
		v.t.Errorf("%d records were left by what was refused", after-before)
	}
}

// TestSpecwebPostsThroughRestart: while a server of processes is replaced, and a
// worker of it killed, no POST is logged twice, no number is missing, and every
// one that was answered is there.
func TestSpecwebPostsThroughRestart(t *testing.T) {
	for _, variant := range []string{"epoll", "prefork"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			s := serve(t, variant)
			v := newVisitor(t, s)
			v.reset()
			p := &poster{v: v, answered: map[uint64]bool{}, killed: variant == "prefork"}
			p.begin(8)
			p.await(50)
			if p.killed {
				for _, pid := range processes(t, s.pid) {
					if pid != s.pid {
						if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
							t.Fatal(err)
						}
						break
					}
				}
				p.await(50)
			}
			old := s.restart()
			p.await(50)
			s.reap(old)
			p.end()
			records := v.records()
			for id, n := range records {
				if n != 1 {
					t.Errorf("%x was logged %d times", id, n)
				}
			}
			for id := range p.answered {
				if records[id] != 1 {
					t.Errorf("%x was answered but not logged", id)
				}
			}
			if extra := len(records) - len(p.answered); extra < 0 || int64(extra) > p.failed.Load() {
				t.Errorf("%d records of %d POSTs answered and %d not", len(records), len(p.answered), p.failed.Load())
			}
		})
	}
}

// A poster posts from several clients until it is told to end.
type poster struct {
	v      *visitor
	killed bool // a process is to die: some POSTs stay without an answer

	clients sync.WaitGroup
	over    atomic.Bool
	failed  atomic.Int64

	mu       sync.Mutex
	answered map[uint64]bool
}

func (p *poster) begin(clients int) {
	for c := range uint64(clients) {
		p.clients.Go(func() {
			for i := uint64(0); !p.over.Load(); i++ {
				p.post(c<<32 | i)
			}
		})
	}
}

func (p *poster) post(id uint64) {
	status, _, _, err := p.v.try("POST", specweb.PostURL, "visitor=3.4", string(specweb.AppendForm(nil, id, specweb.File{})))
	switch {
	case err == nil && status == 200:
		p.mu.Lock()
		p.answered[id] = true
		p.mu.Unlock()
	case err != nil && p.killed && !errors.Is(err, syscall.ECONNREFUSED):
		p.failed.Add(1)
	default:
		p.v.t.Errorf("POST %x: status %d, %v", id, status, err)
		p.over.Store(true)
	}
}

// await waits until so many more were answered.
func (p *poster) await(n int) {
	p.v.t.Helper()
	count := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.answered)
	}
	until := count() + n
	eventually(p.v.t, "POSTs go on", func() bool { return count() >= until || p.over.Load() })
}

func (p *poster) end() {
	p.over.Store(true)
	p.clients.Wait()
}
