package store

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/fixtures"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lines are the header lines of a test request, name and value in turn.
type lines []string

func (l lines) Get(name string) []byte {
	for i := 0; i < len(l); i += 2 {
		if l[i] == name {
			return []byte(l[i+1])
		}
	}
	return nil
}

func (l lines) Each(sink weighstone.FieldSink) {
	for i := 0; i < len(l); i += 2 {
		sink.Field([]byte(l[i]), []byte(l[i+1]))
	}
}

// fixturesDir writes the fixtures.
func fixturesDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := fixtures.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A served is a handler in a site.
type served struct {
	*Handler
	site *weighstone.Site
}

func serve(t *testing.T, o Options) served {
	t.Helper()
	h := New(o)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	site, err := weighstone.NewSite(0, h.Routes()...)
	if err != nil {
		t.Fatal(err)
	}
	return served{h, site}
}

// ask answers a GET into a new exchange.
func (s served) ask(target string, fields ...string) *weighstone.Exchange {
	x := new(weighstone.Exchange)
	s.into(x, target, fields...)
	return x
}

func (s served) into(x *weighstone.Exchange, target string, fields ...string) {
	x.Reset()
	x.In = weighstone.Request{Method: []byte("GET"), Target: []byte(target), Minor: 1, Fields: lines(fields)}
	if r := s.site.Find(x); r != nil {
		r.Handler.Serve(x)
	}
}

func field(x *weighstone.Exchange, name string) string {
	for _, f := range x.Out.Extra {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func TestEveryDocumentUnderBothURLs(t *testing.T) {
	dir := fixturesDir(t)
	s := serve(t, Options{Fixtures: dir})
	for _, f := range fixtures.Expected().Files {
		want, err := os.ReadFile(filepath.Join(dir, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		long := fixtures.DocumentURL("/db/", f.Path)
		if len(long) != 202 {
			t.Errorf("%s has %d bytes, want 202", long, len(long))
		}
		for _, target := range []string{"/db/" + f.Path, "/db/" + f.Path + "?x=y", long} {
			x := s.ask(target)
			if x.Out.Code() != 200 || !bytes.Equal(x.Scratch, want) || x.Out.Body.Length != int64(len(want)) {
				t.Errorf("%s: %d with %d bytes, want %d", target, x.Out.Code(), len(x.Scratch), len(want))
			}
			if tag := field(x, "ETag"); tag != `"`+f.SHA256[:16]+`"` || field(x, "Last-Modified") != "Thu, 01 Feb 1996 00:00:00 GMT" {
				t.Errorf("%s: %v", target, x.Out.Extra)
			}
		}
	}
	if x := s.ask("/db/"); !bytes.HasPrefix(x.Scratch, []byte("<!DOCTYPE html>")) || x.Out.Type != "text/html; charset=utf-8" {
		t.Errorf("the index: %d %q", x.Out.Code(), x.Out.Type)
	}
}

func TestNoSuchDocument(t *testing.T) {
	s := serve(t, Options{Fixtures: fixturesDir(t)})
	long, _, _ := strings.Cut(fixtures.DocumentURL("/db/", "100.html"), "?")
	for _, target := range []string{
		"/db/none", "/db/silicon-surf", "/db/silicon-surf/", "/db/100.html/", "/db/manifest.json", "/db/fixtures.db",
		"/db/'%20OR%201=1", "/db/%ff%00", "/db/" + fixtures.Database() + ".nsf", "/db/" + fixtures.Database() + ".nsf/",
		long[:len(long)-1], long + "/", strings.Replace(long, ".nsf/", ".nsf/0", 1), strings.ToLower(long),
	} {
		if x := s.ask(target); x.Out.Code() != 404 && x.Out.Code() != 400 {
			t.Errorf("%s: %d, want 404", target, x.Out.Code())
		}
	}
}

func TestConditionsAndRanges(t *testing.T) {
	s := serve(t, Options{Fixtures: fixturesDir(t)})
	tag := field(s.ask("/db/100.html"), "ETag")
	for _, c := range []struct {
		fields []string
		status int
		length int64
	}{
		{[]string{"If-None-Match", tag}, 304, 0},
		{[]string{"If-None-Match", `"other"`}, 200, 100},
		{[]string{"If-Modified-Since", "Thu, 01 Feb 1996 00:00:00 GMT"}, 304, 0},
		{[]string{"If-Modified-Since", "Wed, 31 Jan 1996 00:00:00 GMT"}, 200, 100},
		{[]string{"If-Match", `"other"`}, 412, 24},
		{[]string{"Range", "bytes=10-19"}, 206, 10},
		{[]string{"Range", "bytes=100-"}, 416, 36},
	} {
		if x := s.ask("/db/100.html", c.fields...); x.Out.Code() != c.status || x.Out.Body.Length != c.length {
			t.Errorf("%v: %d with %d bytes, want %d with %d", c.fields, x.Out.Code(), x.Out.Body.Length, c.status, c.length)
		}
	}
}

// TestSlow: only what takes long leaves an event loop.
func TestSlow(t *testing.T) {
	s := serve(t, Options{Fixtures: fixturesDir(t)})
	slow := func(target string) bool {
		x := new(weighstone.Exchange)
		x.In = weighstone.Request{Method: []byte("GET"), Target: []byte(target), Minor: 1, Fields: lines(nil)}
		return s.site.Find(x).MayWait(&x.In)
	}
	if !slow("/db/100.html") {
		t.Error("the first request may open the database in a loop")
	}
	s.ask("/db/100.html")
	if slow("/db/100.html") || slow(fixtures.DocumentURL("/db/", "silicon-surf/file200k.html")) {
		t.Error("a document that is read at once leaves the loop")
	}
	if !slow("/db/standard/file5m.html") || !slow(fixtures.DocumentURL("/db/", "standard/file5m.html")) {
		t.Error("a document of 5 MB is read in the loop")
	}
}

// versions writes two directories with the same paths and different content.
func versions(t *testing.T) [2]string {
	t.Helper()
	var dirs [2]string
	for i := range dirs {
		dirs[i] = t.TempDir()
		for n := range 20 {
			body := strings.Repeat(fmt.Sprintf("version %d of document %d\n", i, n), 100*(n+1)+i)
			if err := os.WriteFile(filepath.Join(dirs[i], fmt.Sprintf("d%d.txt", n)), []byte(body), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dirs
}

// TestReplacedUnderReaders: every reply is one version or the other, whole.
func TestReplacedUnderReaders(t *testing.T) {
	dirs := versions(t)
	var want [2]map[string]string
	for i, dir := range dirs {
		want[i] = map[string]string{}
		for n := range 20 {
			b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("d%d.txt", n)))
			if err != nil {
				t.Fatal(err)
			}
			want[i][fmt.Sprintf("/db/d%d.txt", n)] = string(b)
		}
	}
	file := filepath.Join(t.TempDir(), "x.db")
	if _, err := Load(file, dirs[0]); err != nil {
		t.Fatal(err)
	}
	s := serve(t, Options{Fixtures: t.TempDir(), File: file})
	var done atomic.Bool
	var seen [2]atomic.Int64
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			x := new(weighstone.Exchange)
			for n := g; !done.Load(); n++ {
				target := fmt.Sprintf("/db/d%d.txt", n%20)
				s.into(x, target)
				switch got := string(x.Scratch); {
				case x.Out.Code() == 200 && got == want[0][target]:
					seen[0].Add(1)
				case x.Out.Code() == 200 && got == want[1][target]:
					seen[1].Add(1)
				default:
					t.Errorf("%s: %d, %d bytes of neither version", target, x.Out.Code(), len(got))
					return
				}
			}
		})
	}
	for i := range 30 {
		before := seen[(i+1)%2].Load()
		if _, err := Load(file, dirs[(i+1)%2]); err != nil {
			t.Error(err)
			break
		}
		for seen[(i+1)%2].Load() == before && !t.Failed() { // until the new version is served
		}
	}
	done.Store(true)
	wg.Wait()
	if _, err := Verify(file); err != nil {
		t.Error(err)
	}
}

// TestFailedLoadChangesNothing: what can't be loaded whole is not loaded.
func TestFailedLoadChangesNothing(t *testing.T) {
	dirs := versions(t)
	file := filepath.Join(t.TempDir(), "x.db")
	before, err := Load(file, dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dirs[1])
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := replace(file, root, []string{"d1.txt", "missing"}); err == nil {
		t.Error("a missing file was loaded")
	}
	if _, err := Load(file, t.TempDir()); err == nil {
		t.Error("nothing was loaded")
	}
	if after, err := Verify(file); err != nil || after != before {
		t.Errorf("%+v, %v; want %+v", after, err, before)
	}
}

func TestLoadDigestIsTheManifests(t *testing.T) {
	dir := fixturesDir(t)
	for _, name := range []string{"x.db", "x.db-wal", ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(filepath.Join(t.TempDir(), "x.db"), dir)
	if err != nil || c.Digest != fixtures.Expected().Digest || c.Documents != len(fixtures.Expected().Files) {
		t.Errorf("%+v, %v", c, err)
	}
}

// tamper changes a database behind the back of Load.
func tamper(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", source(file))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func TestWrongContent(t *testing.T) {
	dir := fixturesDir(t)
	for name, spoil := range map[string]func(t *testing.T, file string){
		"a body": func(t *testing.T, file string) {
			tamper(t, file, "UPDATE documents SET body = 'x' WHERE path = '100.html'")
		},
		"a missing document": func(t *testing.T, file string) { tamper(t, file, "DELETE FROM documents WHERE path = '100.html'") },
		"no table":           func(t *testing.T, file string) { tamper(t, file, "DROP TABLE documents") },
		"another schema":     func(t *testing.T, file string) { tamper(t, file, "PRAGMA user_version = 7; DROP TABLE content") },
		"no database": func(t *testing.T, file string) {
			if err := os.WriteFile(file, bytes.Repeat([]byte("no database "), 1000), 0o644); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.db")
			if _, err := loadFixtures(file, dir); err != nil {
				t.Fatal(err)
			}
			spoil(t, file)
			if x := serve(t, Options{Fixtures: dir, File: file}).ask("/db/index.html"); x.Out.Code() != 503 {
				t.Errorf("a database of somebody else: %d, want 503", x.Out.Code())
			}
			own := filepath.Join(dir, Name)
			os.Remove(own)
			if err := os.Rename(file, own); err != nil {
				t.Fatal(err)
			}
			if x := serve(t, Options{Fixtures: dir}).ask("/db/100.html"); x.Out.Code() != 200 || len(x.Scratch) != 100 {
				t.Errorf("the fixtures' own: %d, want it made anew", x.Out.Code())
			}
			if c, err := Verify(own); err != nil || c.Digest != fixtures.Expected().Digest {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

// TestLoadFails: a database that can't be made anew, for want of a file of the
// fixtures, is not removed: others read it.
func TestLoadFails(t *testing.T) {
	dir := fixturesDir(t)
	own := filepath.Join(dir, Name)
	if _, err := loadFixtures(own, dir); err != nil {
		t.Fatal(err)
	}
	tamper(t, own, "UPDATE documents SET body = 'x' WHERE path = '100.html'")
	if err := os.Remove(filepath.Join(dir, "100.html")); err != nil {
		t.Fatal(err)
	}
	if x := serve(t, Options{Fixtures: dir}).ask("/db/index.html"); x.Out.Code() != 503 {
		t.Errorf("%d, want 503", x.Out.Code())
	}
	if _, err := os.Stat(own); err != nil {
		t.Error(err)
	}
}

// TestTwoAtOnce: two servers that start at the same time both serve.
func TestTwoAtOnce(t *testing.T) {
	dir := fixturesDir(t)
	var wg sync.WaitGroup
	for range 4 {
		s := serve(t, Options{Fixtures: dir})
		wg.Go(func() {
			if x := s.ask("/db/100.html"); x.Out.Code() != 200 {
				t.Errorf("status %d", x.Out.Code())
			}
		})
	}
	wg.Wait()
}

// TestDescriptors: what was opened is closed, also when the database was
// refused.
func TestDescriptors(t *testing.T) {
	dir := fixturesDir(t)
	bad := filepath.Join(t.TempDir(), "bad.db")
	if err := os.WriteFile(bad, bytes.Repeat([]byte("no database "), 1000), 0o644); err != nil {
		t.Fatal(err)
	}
	open := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	round := func() {
		for _, file := range []string{"", bad} {
			h := New(Options{Fixtures: dir, File: file})
			site, err := weighstone.NewSite(0, h.Routes()...)
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { served{h, site}.ask("/db/100.html") })
			}
			wg.Wait()
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	round()
	before := open()
	for range 5 {
		round()
	}
	if after := open(); after > before {
		t.Errorf("%d descriptors are open, %d were", after, before)
	}
}
