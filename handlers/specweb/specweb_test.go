package specweb

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
	"github.com/weighstone/weighstone/internal/postlog"
)

// A site is that of a handler, with its log; the set has two directories.
type site struct {
	*weighstone.Site
	set *rules.Set
	log *postlog.Log
}

func newSite(t *testing.T, fault Fault) *site { return newSites(t, fault, 1)[0] }

// newSites are those of several processes with one log.
func newSites(t *testing.T, fault Fault, n int) (all []*site) {
	t.Helper()
	shared, err := postlog.Create(postlog.Memory, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shared.Close() })
	for range n {
		log, err := postlog.Open(shared, false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { log.Close() })
		s := &site{set: rules.NewSet(1), log: log}
		h := New(Options{Files: s.file, Log: func() (*postlog.Log, error) { return log, nil }, Fault: fault})
		if s.Site, err = weighstone.NewSite(0, h.Routes()...); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func (s *site) file(dst, path []byte) ([]byte, int) {
	f, ok := rules.ParsePath(path[len(rules.Prefix):])
	if !ok || f.Dir >= 2 {
		return dst, 404
	}
	r := s.set.Read(f, -1)
	return r.AppendRest(dst), 200
}

// fields are a request's cookie.
type fields string

func (f fields) Get(name string) []byte {
	if name == "Cookie" && f != "" {
		return []byte(f)
	}
	return nil
}

func (fields) Each(weighstone.FieldSink) {}

// do has the site answer a request.
func (s *site) do(method, target, cookie, body string) *weighstone.Exchange {
	x := new(weighstone.Exchange)
	x.In = weighstone.Request{
		Method: []byte(method), Target: []byte(target), Minor: 1, Fields: fields(cookie),
		Remote: netip.MustParseAddrPort("127.0.0.9:1234"), Length: int64(len(body)),
	}
	if body != "" {
		x.In.Body = strings.NewReader(body)
	}
	if r := s.Find(x); r != nil {
		r.Handler.Serve(x)
	}
	return x
}

func (s *site) reset(t *testing.T) *rules.Tables {
	t.Helper()
	if x := s.do("POST", rules.ResetURL+"?seed=3&users=20", "", ""); x.Out.Code() != 200 {
		t.Fatalf("reset: status %d", x.Out.Code())
	}
	f, err := s.log.Facts()
	if err != nil {
		t.Fatal(err)
	}
	return rules.NewTables(f.Seed, f.Users, f.At)
}

// records fetches the log.
func (s *site) records(t *testing.T) (all []rules.Record, corrupt int) {
	t.Helper()
	x := s.do("GET", rules.FetchURL, "", "")
	b := make([]byte, x.Out.Body.Length)
	if len(b) > 0 {
		if _, err := io.ReadFull(io.NewSectionReader(x.Out.Body.File, x.Out.Body.Offset, x.Out.Body.Length), b); err != nil {
			t.Fatal(err)
		}
	}
	for at := 0; at < len(b); at += rules.RecordBytes {
		if r, ok := rules.ParseRecord(b[at : at+rules.RecordBytes]); ok {
			all = append(all, r)
		} else {
			corrupt++
		}
	}
	return all, corrupt
}

func (s *site) page(script, query string, f rules.File, ad int) string {
	r := s.set.Read(f, ad)
	return string(append(r.AppendRest(rules.AppendPageHead(nil, weighstone.Software, "127.0.0.9", script, []byte(query))), rules.PageEnd...))
}

func TestPages(t *testing.T) {
	s := newSite(t, Fault{})
	tables := s.reset(t)
	for n := range 2 * rules.PerDir {
		f := rules.File{Dir: n / rules.PerDir, Class: n % rules.PerDir / rules.PerClass, Index: n % rules.PerClass}
		query := string(rules.AppendQuery(nil, f))
		if x := s.do("GET", rules.GetURL+"?"+query, "", ""); string(x.Scratch) != s.page(rules.GetURL, query, f, -1) || x.Out.Type != "text/html" {
			t.Errorf("%s: a wrong page", query)
		}
		v := rules.Visitor{User: n % 20, Last: n * 5 % rules.NumAds}
		x := s.do("GET", rules.AdURL+"?"+query, string(v.AppendCookie(nil)), "")
		want := tables.Next(v.User, v.Last, time.Now().Unix())
		if string(x.Scratch) != s.page(rules.AdURL, query, f, want.Ad) {
			t.Errorf("%s: a wrong page for advertisement %d", query, want.Ad)
		}
		if len(x.Out.Extra) != 1 || x.Out.Extra[0].Name != "Set-Cookie" || x.Out.Extra[0].Value != string(want.AppendSetCookie(nil)) {
			t.Errorf("%s: fields %v, want %s", query, x.Out.Extra, want.AppendSetCookie(nil))
		}
	}
}

func TestPost(t *testing.T) {
	s := newSite(t, Fault{})
	s.reset(t)
	f, v := rules.File{Dir: 1, Class: 2, Index: 3}, rules.Visitor{User: 7, Last: 8}
	const n = 30
	var posts sync.WaitGroup
	for id := range uint64(n) {
		posts.Go(func() {
			x := s.do("POST", rules.PostURL, string(v.AppendCookie(nil)), string(rules.AppendForm(nil, id, f)))
			if string(x.Scratch) != s.page(rules.PostURL, "", f, -1) {
				t.Errorf("post %d: status %d or a wrong page", id, x.Out.Code())
			}
		})
	}
	posts.Wait()
	all, corrupt := s.records(t)
	if len(all) != n || corrupt != 0 {
		t.Fatalf("%d records, %d corrupt, want %d", len(all), corrupt, n)
	}
	seen := map[uint64]bool{}
	for i, r := range all {
		if r.Number != uint64(i+1) || r.File != f || r.Visitor != v || r.Process != os.Getpid() || seen[r.ID] {
			t.Errorf("record %d: %+v", i+1, r)
		}
		seen[r.ID] = true
	}
	s.reset(t)
	if all, _ := s.records(t); len(all) != 0 {
		t.Errorf("after the reset %d records", len(all))
	}
}

// TestBadInput: each has its status, and none leaves a record.
func TestBadInput(t *testing.T) {
	const (
		cookie = "visitor=3.4"
		file   = "file=dir00001/class1_3"
		form   = "id=0000000000000001&" + file
	)
	s := newSite(t, Fault{})
	for _, target := range []string{rules.AdURL + "?" + file, rules.PostURL} {
		method, body := "GET", ""
		if target == rules.PostURL {
			method, body = "POST", form
		}
		if x := s.do(method, target, cookie, body); x.Out.Code() != 409 {
			t.Errorf("%s before the first reset: %d, want 409", target, x.Out.Code())
		}
	}
	s.reset(t)
	for _, c := range []struct {
		method, target, cookie, body string
		status                       int
	}{
		{"GET", rules.GetURL, "", "", 400},
		{"GET", rules.GetURL + "?file=../../etc/passwd", "", "", 400},
		{"GET", rules.GetURL + "?" + file + "&x=<script>", "", "", 400},
		{"GET", rules.GetURL + "?file=dir00002/class1_3", "", "", 404},
		{"POST", rules.GetURL, "", "", 405},
		{"GET", rules.AdURL + "?" + file, "", "", 400},
		{"GET", rules.AdURL + "?" + file, "visitor=3", "", 400},
		{"GET", rules.AdURL + "?" + file, "visitor=3.360", "", 400},
		{"GET", rules.AdURL + "?" + file, "visitor=20.4", "", 403},
		{"GET", rules.AdURL + "?file=dir00002/class1_3", cookie, "", 404},
		{"GET", rules.PostURL, cookie, "", 405},
		{"POST", rules.PostURL, cookie, "", 400},
		{"POST", rules.PostURL, "", form, 400},
		{"POST", rules.PostURL, "visitor=x.y", form, 400},
		{"POST", rules.PostURL, "visitor=20.4", form, 403},
		{"POST", rules.PostURL, cookie, file, 400},
		{"POST", rules.PostURL, cookie, "id=0000000000000001", 400},
		{"POST", rules.PostURL, cookie, "id=0000000000000001&file=dir00002/class1_3", 404},
		{"POST", rules.PostURL, cookie, strings.Repeat("x", 5000), 413},
		{"POST", rules.PostURL, cookie, strings.Repeat("x", weighstone.MaxBuffered+1), 413},
		{"GET", rules.ResetURL + "?seed=1&users=1", "", "", 405},
		{"POST", rules.ResetURL, "", "", 400},
		{"POST", rules.ResetURL + "?seed=1&users=0", "", "", 400},
		{"POST", rules.ResetURL + "?seed=x&users=1", "", "", 400},
		{"POST", rules.ResetURL + "?seed=1&users=99999999", "", "", 400},
		{"POST", rules.FetchURL, "", "", 405},
	} {
		if x := s.do(c.method, c.target, c.cookie, c.body); x.Out.Code() != c.status {
			t.Errorf("%s %s, cookie %q, body of %d: status %d, want %d", c.method, c.target, c.cookie, len(c.body), x.Out.Code(), c.status)
		}
	}
	if all, corrupt := s.records(t); len(all)+corrupt != 0 {
		t.Errorf("%d records were left", len(all)+corrupt)
	}
}

// TestFaults: each fault befalls exactly one request in so many, by the seed,
// and shows.
func TestFaults(t *testing.T) {
	const posts, every = 100, 10
	for mode, want := range map[string]struct{ records, ids, corrupt, wrongAds int }{
		"":               {posts, posts, 0, 0},
		replayPost:       {posts + 10, posts, 0, 0},
		dropAndDuplicate: {posts, posts - 10, 0, 0},
		tornRecord:       {posts - 10, posts - 10, 10, 0},
		staleAd:          {posts, posts, 0, 10},
		mixUsers:         {posts, posts, 0, 10},
	} {
		s := newSite(t, Fault{Mode: mode, Every: every, Seed: 4})
		tables := s.reset(t)
		wrong := 0
		for i := range posts {
			v := rules.Visitor{User: i % 20, Last: i}
			form := string(rules.AppendForm(nil, uint64(i), rules.File{}))
			if x := s.do("POST", rules.PostURL, string(v.AppendCookie(nil)), form); x.Out.Code() != 200 {
				t.Fatalf("%s: status %d", mode, x.Out.Code())
			}
			x := s.do("GET", rules.AdURL+"?file=dir00000/class1_0", string(v.AppendCookie(nil)), "")
			if x.Out.Extra[0].Value != string(tables.Next(v.User, v.Last, time.Now().Unix()).AppendSetCookie(nil)) {
				wrong++
			}
		}
		all, corrupt := s.records(t)
		ids := map[uint64]bool{}
		for _, r := range all {
			ids[r.ID] = true
		}
		if len(all) != want.records || len(ids) != want.ids || corrupt != want.corrupt || wrong != want.wrongAds {
			t.Errorf("%q: %d records of %d posts, %d corrupt, %d wrong advertisements; want %+v", mode, len(all), len(ids), corrupt, wrong, want)
		}
	}
}

// TestResetOvertakes: a POST that was begun before a reset is not a record of the
// log after it.
func TestResetOvertakes(t *testing.T) {
	sites := newSites(t, Fault{}, 2)
	sites[0].reset(t)
	before := sites[0].log.Generation()
	sites[1].reset(t)
	c, r := culprit{}, rules.Record{ID: 7}
	if err := c.record(sites[0].log, before, &r); !errors.Is(err, postlog.ErrReset) {
		t.Errorf("a POST of the run before: %v", err)
	}
	if all, corrupt := sites[0].records(t); len(all)+corrupt > 0 {
		t.Errorf("%d records, %d corrupt", len(all), corrupt)
	}
	if err := c.record(sites[0].log, before+1, &r); err != nil {
		t.Error(err)
	}
	if all, _ := sites[0].records(t); len(all) != 1 {
		t.Errorf("%d records", len(all))
	}
}

// TestFaultsAreShared: whichever process has a POST, one in ten is dropped, and
// the one after it logged twice, as by one server.
func TestFaultsAreShared(t *testing.T) {
	const posts = 100
	sites := newSites(t, Fault{Mode: dropAndDuplicate, Every: 10, Seed: 1}, 4)
	sites[0].reset(t)
	for i := range posts {
		v := rules.Visitor{User: 1, Last: 2}
		form := string(rules.AppendForm(nil, uint64(i), rules.File{}))
		if x := sites[i%4].do("POST", rules.PostURL, string(v.AppendCookie(nil)), form); x.Out.Code() != 200 {
			t.Fatalf("status %d", x.Out.Code())
		}
	}
	all, corrupt := sites[0].records(t)
	times := map[uint64]int{}
	for _, r := range all {
		times[r.ID]++
	}
	once, twice := 0, 0
	for _, n := range times {
		switch n {
		case 1:
			once++
		case 2:
			twice++
		}
	}
	if len(all) != posts || corrupt != 0 || once != posts-20 || twice != 10 {
		t.Errorf("%d records of %d posts: %d once, %d twice, %d corrupt", len(all), posts, once, twice, corrupt)
	}
}

// TestSeldomFault: a fault of one in 200,000 befalls just that many, and by
// another seed others.
func TestSeldomFault(t *testing.T) {
	const every = 200_000
	log := newSite(t, Fault{}).log
	struck := map[uint64]bool{}
	for seed := range uint64(3) {
		c := culprit{Fault{Mode: replayPost, Every: every, Seed: seed}}
		n := 0
		for k := range uint64(2 * every) {
			if c.strikes(log) {
				n++
				struck[k%every] = true
			}
		}
		if n != 2 {
			t.Errorf("seed %d: %d of %d", seed, n, 2*every)
		}
	}
	if len(struck) != 3 {
		t.Errorf("three seeds befall %d places", len(struck))
	}
}

func TestParseFault(t *testing.T) {
	for _, mode := range Faults() {
		if f, err := ParseFault(mode+":1000", 7); err != nil || f.String() != mode+":1000" || f.Seed != 7 {
			t.Errorf("%s: %v, %v", mode, f, err)
		}
	}
	for _, bad := range []string{"", "replay-post", "replay-post:", "replay-post:0", "replay-post:-1", "gremlin:5", "replay-post:99999999999"} {
		if f, err := ParseFault(bad, 1); err == nil {
			t.Errorf("%q: %v", bad, f)
		}
	}
	if s := fmt.Sprint(Fault{}); s != "" {
		t.Errorf("none is %q", s)
	}
}
