package lua

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/handlers/api"
	"github.com/weighstone/weighstone/handlers/script/scripttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A bench is a site with scripts of the test's own, and the API beside.
type bench struct {
	site    *weighstone.Site
	handler *Handler
	dir     string
	log     *bytes.Buffer
}

func newBench(t *testing.T, o Options, scripts map[string]string) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), log: new(bytes.Buffer)}
	for name, text := range scripts {
		b.write(t, name, text)
	}
	o.Dir, o.Log = b.dir, slog.New(slog.NewTextHandler(b.log, nil))
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	b.handler = h
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	if b.site, err = weighstone.NewSite(0, append(h.Routes(), api.Routes()...)...); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name+".lua"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) get(target string) scripttest.Answer { return scripttest.Get(b.site, target) }

// TestSameAsAPI: the four programs answer what the handlers in Go do.
func TestSameAsAPI(t *testing.T) {
	b := newBench(t, Options{}, nil)
	for _, ask := range scripttest.Cases() {
		want, got := ask.Below("/api").Of(b.site), ask.Below("/lua").Of(b.site)
		want.Body = strings.ReplaceAll(want.Body, "/api/", "/lua/")
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s %s, %d bytes: %.2000s", ask.Method, ask.Target, ask.Length, d)
		}
	}
	if a := b.get("/lua/hello"); len(a.Body) != 77 || b.log.Len() > 0 {
		t.Errorf("hello has %d bytes; log: %s", len(a.Body), b.log)
	}
}

func TestNames(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"mine": `write(request.info)`, "hello": `write("mine")`, "a.b": `write("dots")`})
	if err := os.Symlink("/etc/passwd", filepath.Join(b.dir, "link.lua")); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{
		"/lua/mine": "", "/lua/mine/": "/", "/lua/mine/x/y": "/x/y", "/lua/hello": "mine", "/lua/a.b": "dots", "/lua/send?size=1": "A",
	} {
		if a := b.get(target); a.Status != 200 || a.Body != want {
			t.Errorf("%s: %d %q", target, a.Status, a.Body)
		}
	}
	for _, target := range []string{"/lua/", "/lua", "/lua/none", "/lua/mine.lua", "/lua/.mine", "/lua/%2e%2e/mine", "/lua/a%20b", "/lua/MINE"} {
		if a := b.get(target); a.Status != 404 {
			t.Errorf("%s: %d, want 404", target, a.Status)
		}
	}
	if a := b.get("/lua/link"); a.Status == 200 {
		t.Errorf("a link that leads out: %d %q", a.Status, a.Body)
	}
}

// TestReload: a script that changes is compiled again.
func TestReload(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"s": `write("one")`})
	for i, text := range []string{`write("one")`, `write("three")`, `this is no Lua`, `write("four")`} {
		b.write(t, "s", text)
		stamp := time.Now().Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(filepath.Join(b.dir, "s.lua"), stamp, stamp); err != nil {
			t.Fatal(err)
		}
		want := "500 Internal Server Error\n"
		if m := regexp.MustCompile(`^write\("(.*)"\)$`).FindStringSubmatch(text); m != nil {
			want = m[1]
		}
		for end := time.Now().Add(20 * time.Second); b.get("/lua/s").Body != want; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: still %q", text, b.get("/lua/s").Body)
			}
		}
	}
	if !strings.Contains(b.log.String(), "s.lua") {
		t.Errorf("the log does not name the script: %s", b.log)
	}
}

// TestLanguage: what a script computes.
func TestLanguage(t *testing.T) {
	for script, want := range map[string]string{
		`write(1 .. 2, "|", "a" .. 1.5 .. "b" .. ("c" .. "d"), "|", (1 .. 2) + 1)`:                                                         "12|a1.5bcd|13",
		`local t = setmetatable({}, {__concat = function(a, b) return "<" .. type(a) .. type(b) .. ">" end}); write(t .. "x" .. "y")`:      "<tablestring>",
		`local t = setmetatable({}, {__concat = function(a, b) return "<" .. type(a) .. type(b) .. ">" end}); write("w" .. "x" .. t .. 1)`: "wx<tablenumber>",
		`write(pcall(function() return nil .. "x" end) and "ok" or "error")`:                                                               "error",
		`local function two() return "a", "b" end; write("x" .. two())`:                                                                    "xa",
		`local s = ""; for i = 1, 5 do s = s .. i end; write(s)`:                                                                           "12345",
		`write(string.gsub("hello world", "o", "0"))`:                                                                                      "hell0 w0rld2",
		`write((string.gsub("hello world", "(%w+) (%w+)", "%2 %1 %0%%")))`:                                                                 "world hello hello world%",
		`write((string.gsub("abc", "%w", {a = "1", b = true == false})))`:                                                                  "1bc",
		`write((string.gsub("abc", "%w", function(c) return c == "b" and "" or nil end)))`:                                                 "ac",
		`write((string.gsub("abc", "", "-")))`:                                                                                             "-a-b-c-",
		`write((string.gsub("a,b,c", ",", ";", 1)))`:                                                                                       "a;b,c",
		`write(table.concat({1, "b", 3}, ", "), table.concat({}), table.concat({1, 2, 3}, "", 2, 3))`:                                      "1, b, 323",
		`write(string.format("%5.2f|%-4d|%s|%q", 1.5, 7, "x", "y"))`:                                                                       ` 1.50|7   |x|"y"`,
		`for w in string.gmatch("one two", "%a+") do write(w, ";") end`:                                                                    "one;two;",
		`write(string.rep("ab", 3), string.upper("x"), string.reverse("abc"), ("x"):rep(2))`:                                               "abababXcbaxx",
		`write(tostring(request.read(5)), tostring(request.read()))`:                                                                       "nilnil",
		`x = 5; write(x, tostring(_G), tostring(loadstring), tostring(io), tostring(os), tostring(coroutine), tostring(require))`:          "5nilnilnilnilnilnil",
		`write(tostring(y)); y = 1`: "nil",
		`response.status = 404; response.type = "a/b"; response.field("X-A", "1"); write(response.status)`:             "404",
		`write(request.header("x-yes") or "none", request.header("X-No") or "none", request.length, request.method)`:   "1none0GET",
		`local t = {}; for i = 1, 100 do t[i] = "p" end; write(#(` + strings.Repeat(`"0123456789" .. `, 120) + `"x"))`: "1201",
	} {
		b := newBench(t, Options{}, map[string]string{"s": script})
		for range 2 { // with an interpreter that was used before
			if a := (scripttest.Ask{Method: "GET", Target: "/lua/s", Fields: scripttest.Lines{"X-Yes", "1"}}).Of(b.site); a.Body != want {
				t.Errorf("%s: %d %q, want %q; log: %s", script, a.Status, a.Body, want, b.log)
			}
		}
	}
}

// TestFaults: what a script does wrong is answered 500, never with its text.
func TestFaults(t *testing.T) {
	for _, script := range []string{
		`error("why")`, `error({})`, `error()`, `nothing()`, `local x = nil; x.y = 1`, `return return`, `x = = 1`, "\x00", `write({})`,
		`response.status = 99`, `response.status = "x"`, `response.type = "a\r\nb: c"`, `response.other = 1`, `request.method = "x"`,
		`response.field("Content-Length", "1")`, `response.field("X: y", "1")`, `response.field("X", "1\r\nY: 2")`, `fail(200)`,
		`string.format("%999d", 1)`, `string.format("%*d", 999, 1)`, `local f; f = function() return 1 + f() end; f()`, `string.gsub("x", "(", "")`,
		`local t = {}; for i = 1, 100000 do t[i] = i end; unpack(t)`, `getmetatable(request).__index = nil`, `string.gsub("x", "x", "%5")`,
	} {
		b := newBench(t, Options{}, map[string]string{"s": script})
		for range 2 {
			if a := b.get("/lua/s"); a.Status != 500 || a.Body != "500 Internal Server Error\n" || len(a.Extra) > 0 {
				t.Errorf("%s: %+v", script, a)
			}
		}
		if a := b.get("/lua/hello"); a.Status != 200 {
			t.Errorf("after %s: %d", script, a.Status)
		}
		if b.log.Len() == 0 {
			t.Errorf("%s: nothing was logged", script)
		}
	}
}

// TestEndless: a script in a loop is answered 504, and the server goes on.
func TestEndless(t *testing.T) {
	for _, script := range []string{
		`while true do end`, `repeat until false`, `local function f() return f() end; f()`, `while true do pcall(error) end`,
		`local function f() pcall(f); f() end; f()`, `for i = 1, 1e15 do local t = {i} end`, `local s = "x"; while true do s = string.rep("x", 1000) end`,
		`pcall(function() while true do pcall(function() while true do end end) end end); while true do end`,
	} {
		b := newBench(t, Options{Timeout: 50 * time.Millisecond}, map[string]string{"s": script})
		if a := b.get("/lua/s"); a.Status != 504 {
			t.Errorf("%s: %d %q, want 504; log: %s", script, a.Status, a.Body, b.log)
		}
		if a := b.get("/lua/hello"); a.Status != 200 {
			t.Errorf("after %s: %d", script, a.Status)
		}
	}
}

// TestHungry: a script that takes too much memory is answered 500.
func TestHungry(t *testing.T) {
	for _, script := range []string{
		`local s = "x"; while true do s = s .. s end`,
		`local s = "x"; while true do s = s .. s .. s .. s .. s .. s .. s .. s .. s .. s end`,
		`string.rep("x", 1e12)`, `string.rep(string.rep("x", 1e6), 1e6)`, `local t = {}; while true do t[#t + 1] = string.rep("x", 1000) end`,
		`local t = {}; while true do t[#t + 1] = {} end`, `local t = {}; local i = 0; while true do i = i + 1; t["k" .. i] = i end`,
		`local t = {}; while true do t = {t} end`, `local t = {}; while true do t[#t + 1] = function() return t end end`,
		`local t = {}; for i = 1, 100 do t[i] = string.rep("x", 1e5) end; while true do t[#t + 1] = table.concat(t) end`,
		`local s = string.rep("x", 6e4); while true do s = s .. string.gsub(s:sub(1, 6e4), "x", s) end`,
		`local s = string.rep("x", 1e6); while true do s = string.format("%s%s", s, s) end`,
		`local function f(...) return f("x", ...) end; f()`, `x = {}; while true do x[#x + 1] = string.upper(string.rep("x", 1e5)) end`,
		`while true do pcall(function() x = (x or "x") .. (x or "x") end) end`,
		`while true do string.x = (string.x or "x") .. (string.x or "x") end`,
	} {
		b := newBench(t, Options{Memory: 8 << 20, Timeout: 20 * time.Second}, map[string]string{"s": script})
		if a := b.get("/lua/s"); a.Status != 500 {
			t.Errorf("%s: %d, want 500; log: %s", script, a.Status, b.log)
		}
		if a := b.get("/lua/hello"); a.Status != 200 {
			t.Errorf("after %s: %d", script, a.Status)
		}
	}
}

// TestFrugal: garbage is not held against a script.
func TestFrugal(t *testing.T) {
	for _, script := range []string{
		`for i = 1, 3000 do local s = string.rep("x", 100000) end`, `for i = 1, 200000 do local t = {i, i} end`,
		`local s = string.rep("x", 4e6); local t = {}; for i = 1, 1000 do t[i] = s end`, `for i = 1, 300 do write(string.rep("x", 1e5)) end`,
	} {
		b := newBench(t, Options{Memory: 8 << 20}, map[string]string{"s": script})
		if a := b.get("/lua/s"); a.Status != 200 {
			t.Errorf("%s: %d; log: %s", script, a.Status, b.log)
		}
	}
}

// TestGone: a script whose client left is stopped.
func TestGone(t *testing.T) {
	b := newBench(t, Options{Timeout: time.Hour}, map[string]string{"s": `while true do end`})
	gone := make(chan struct{})
	time.AfterFunc(20*time.Millisecond, func() { close(gone) })
	if a := (scripttest.Ask{Method: "GET", Target: "/lua/s", Gone: gone}).Of(b.site); a.Status != 504 {
		t.Errorf("status %d", a.Status)
	}
}

// TestBusy: who finds all interpreters at work waits, and no longer than a
// script may take.
func TestBusy(t *testing.T) {
	b := newBench(t, Options{Interpreters: 1, Timeout: 50 * time.Millisecond}, nil)
	seat, err := b.handler.pool.Take(time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []weighstone.Field{{Name: "Retry-After", Value: "1"}}
	if a := b.get("/lua/hello"); a.Status != 503 || !cmp.Equal(a.Extra, want) {
		t.Errorf("all at work: %+v, want 503", a)
	}
	b.handler.pool.Put(seat)
	if a := b.get("/lua/hello"); a.Status != 200 {
		t.Errorf("at leisure again: %d", a.Status)
	}
}

// TestMany: interpreters are not mixed up.
func TestMany(t *testing.T) {
	b := newBench(t, Options{Interpreters: 3}, map[string]string{
		"s": `n = (n or 0) + 1; for i = 1, 100 do n = n + 1 end; write(n, request.query)`,
	})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				q := fmt.Sprintf("%d-%d", g, i)
				if a := b.get("/lua/s?" + q); a.Body != "101"+q {
					t.Errorf("%q, want 101%s", a.Body, q)
				}
			}
		})
	}
	wg.Wait()
}

type tooLarge struct{ error }

func (tooLarge) Status() int { return 413 }

func TestBrokenBody(t *testing.T) {
	b := newBench(t, Options{}, nil)
	for _, c := range []struct {
		body   io.Reader
		length int64
		status int
	}{
		{strings.NewReader("short"), 10, 400},
		{iotest.ErrReader(tooLarge{errors.New("too large")}), -1, 413},
		{io.MultiReader(bytes.NewReader(make([]byte, 2<<20)), iotest.ErrReader(errors.New("bad chunk"))), -1, 400},
	} {
		if a := (scripttest.Ask{Method: "POST", Target: "/lua/mirror", Body: c.body, Length: c.length}).Of(b.site); a.Status != c.status || !a.Close {
			t.Errorf("length %d: %d, close %v; want %d", c.length, a.Status, a.Close, c.status)
		}
	}
	if a := (scripttest.Ask{Method: "POST", Target: "/lua/none", Body: strings.NewReader("x"), Length: 1 << 20}).Of(b.site); a.Status != 404 || !a.Close {
		t.Errorf("no such script: %d, close %v", a.Status, a.Close)
	}
}

func BenchmarkHello(b *testing.B) {
	h, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	site, err := weighstone.NewSite(0, h.Routes()...)
	if err != nil {
		b.Fatal(err)
	}
	x := new(weighstone.Exchange)
	b.ReportAllocs()
	for b.Loop() {
		x.Reset()
		x.In = weighstone.Request{Method: []byte("GET"), Target: []byte("/lua/hello"), Minor: 1, Fields: scripttest.Lines(nil)}
		site.Find(x).Handler.Serve(x)
		if len(x.Scratch) != 77 {
			b.Fatalf("%d bytes", len(x.Scratch))
		}
	}
}
