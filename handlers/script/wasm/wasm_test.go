package wasm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
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
	"github.com/weighstone/weighstone/handlers/script/wasm/wat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A bench is a site with modules of the test's own, and the API beside.
type bench struct {
	site    *weighstone.Site
	handler *Handler
	dir     string
	log     *bytes.Buffer
}

// newBench makes one with programs in text, which follows the common part.
func newBench(t *testing.T, o Options, texts map[string]string) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), log: new(bytes.Buffer)}
	for name, text := range texts {
		b.write(t, name, text)
	}
	o.Dir, o.Log = b.dir, slog.New(slog.NewTextHandler(b.log, nil))
	var err error
	if b.handler, err = New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.handler.Close(); err != nil {
			t.Error(err)
		}
	})
	if b.site, err = weighstone.NewSite(0, append(b.handler.Routes(), api.Routes()...)...); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) write(t *testing.T, name, text string) {
	t.Helper()
	common, err := os.ReadFile("programs/common.wat")
	if err != nil {
		t.Fatal(err)
	}
	module, err := wat.Assemble(string(common), text)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, name+".wasm"), module, 0o644); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) get(target string) scripttest.Answer { return scripttest.Get(b.site, target) }

// TestSameAsAPI: the four programs answer what the handlers in Go do, but for
// the variable that names the gateway.
func TestSameAsAPI(t *testing.T) {
	b := newBench(t, Options{}, nil)
	for _, ask := range scripttest.Cases() {
		want, got := ask.Below("/api").Of(b.site), ask.Below("/wasm").Of(b.site)
		want.Body = strings.ReplaceAll(want.Body, "/api/", "/wasm/")
		got.Body = strings.Replace(got.Body, "GATEWAY_INTERFACE=CGI/1.1\n", "", 1)
		if len(got.Extra) == 0 {
			got.Extra = want.Extra // nil or empty
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s %s, %d bytes: %.2000s", ask.Method, ask.Target, ask.Length, d)
		}
	}
	if a := b.get("/wasm/hello"); len(a.Body) != 77 || b.log.Len() > 0 {
		t.Errorf("hello has %d bytes; log: %s", len(a.Body), b.log)
	}
}

// TestLargeEnvironment: variables that take more than the first page.
func TestLargeEnvironment(t *testing.T) {
	b := newBench(t, Options{}, nil)
	ask := scripttest.Ask{Method: "GET", Target: "/wasm/echo", Fields: scripttest.Lines{"X-Long", strings.Repeat("v", 200_000)}}
	if a := ask.Of(b.site); a.Status != 200 || !strings.Contains(a.Body, "HTTP_X_LONG="+strings.Repeat("v", 200_000)+"\n") {
		t.Errorf("%d, %d bytes; log: %s", a.Status, len(a.Body), b.log)
	}
}

func TestNames(t *testing.T) {
	const mine = `(data (i32.const 1040) "Content-type: text/plain\n\nmine") (func (export "_start") (call $put (i32.const 1040) (i32.const 30)))`
	b := newBench(t, Options{}, map[string]string{"mine": mine, "hello": mine})
	for target, want := range map[string]string{"/wasm/mine": "mine", "/wasm/mine/x": "mine", "/wasm/hello": "mine", "/wasm/send?size=1": "A"} {
		if a := b.get(target); a.Status != 200 || a.Body != want {
			t.Errorf("%s: %d %q", target, a.Status, a.Body)
		}
	}
	for _, target := range []string{"/wasm/", "/wasm", "/wasm/none", "/wasm/common", "/wasm/mine.wasm", "/wasm/.mine", "/wasm/%2e%2e/mine"} {
		if a := b.get(target); a.Status != 404 {
			t.Errorf("%s: %d, want 404", target, a.Status)
		}
	}
}

// TestLocalRedirect: a module that names a path of this server is answered for
// by that (RFC 3875 section 6.2.2), also by another module; not without end.
func TestLocalRedirect(t *testing.T) {
	to := func(path string) string {
		text := "Location: " + path + "\\n\\n"
		return fmt.Sprintf(`(data (i32.const 1040) "%s") (func (export "_start") (call $put (i32.const 1040) (i32.const %d)))`, text, len(text)-2)
	}
	b := newBench(t, Options{Instances: 1}, map[string]string{
		"api": to("/api/hello"), "module": to("/wasm/send?size=3"), "twice": to("/wasm/module"), "loop": to("/wasm/loop"), "nowhere": to("/nowhere"),
	})
	if a := b.get("/wasm/api"); a.Status != 500 {
		t.Errorf("without a site: %d", a.Status)
	}
	b.handler.UseSite(func() *weighstone.Site { return b.site })
	for target, want := range map[string]int{"/wasm/api": 200, "/wasm/module": 200, "/wasm/twice": 200, "/wasm/loop": 500, "/wasm/nowhere": 404} {
		if a := b.get(target); a.Status != want {
			t.Errorf("%s: %d, want %d; log: %s", target, a.Status, want, b.log)
		}
	}
	if a := b.get("/wasm/twice"); a.Body != "ABC" {
		t.Errorf("%q", a.Body)
	}
	if a, want := b.get("/wasm/api"), b.get("/api/hello"); a.Body != want.Body || a.Body == "" {
		t.Errorf("%q, want %q", a.Body, want.Body)
	}
}

// TestFaults: what traps, or is no CGI reply, is answered 500 or 502, and the
// server goes on.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		status int
	}{
		"a trap":                  {`(func (export "_start") (unreachable))`, 500},
		"a trap after output":     {`(data (i32.const 1040) "Content-type: text/plain\n\nhalf") (func (export "_start") (call $put (i32.const 1040) (i32.const 30)) (unreachable))`, 500},
		"a wild address":          {`(func (export "_start") (drop (i32.load (i32.const -4))))`, 500},
		"a division":              {`(func (export "_start") (drop (i32.div_u (i32.const 1) (i32.const 0))))`, 500},
		"a deep recursion":        {`(func $f (call $f) (call $f)) (func (export "_start") (call $f))`, 500},
		"no output":               {`(func (export "_start"))`, 500},
		"no header":               {`(data (i32.const 1040) "no header\n\n") (func (export "_start") (call $put (i32.const 1040) (i32.const 11)))`, 500},
		"a bad status":            {`(data (i32.const 1040) "Status: 99\n\n") (func (export "_start") (call $put (i32.const 1040) (i32.const 12)))`, 502},
		"too short":               {`(data (i32.const 1040) "Status: 200\nContent-Length: 9\n\nx") (func (export "_start") (call $put (i32.const 1040) (i32.const 31)))`, 502},
		"an exit status":          {`(data (i32.const 1040) "Status: 404\n\n") (func (export "_start") (call $put (i32.const 1040) (i32.const 13)) (call $proc_exit (i32.const 3)))`, 404},
		"more output than may be": {`(func (export "_start") (loop $l (call $put (i32.const 4096) (i32.const 57344)) (br $l)))`, 500},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{}, map[string]string{"s": c.text})
			for range 2 {
				if a := b.get("/wasm/s"); a.Status != c.status {
					t.Errorf("%+.300v, want %d; log: %s", a, c.status, b.log)
				}
			}
			if a := b.get("/wasm/hello"); a.Status != 200 || len(a.Body) != 77 {
				t.Errorf("afterwards: %d", a.Status)
			}
			if c.status >= 500 && b.log.Len() == 0 {
				t.Error("nothing was logged")
			}
		})
	}
}

func TestNoModule(t *testing.T) {
	b := newBench(t, Options{}, nil)
	for name, content := range map[string]string{"text": "no module", "empty": "", "cut": "\x00asm\x01\x00\x00\x00\x01"} {
		if err := os.WriteFile(filepath.Join(b.dir, name+".wasm"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if a := b.get("/wasm/" + name); a.Status != 500 || !strings.Contains(b.log.String(), name) {
			t.Errorf("%s: %d; log: %s", name, a.Status, b.log)
		}
	}
}

// TestEndless: a module in a loop is answered 504.
func TestEndless(t *testing.T) {
	for _, text := range []string{
		`(func (export "_start") (loop $l (br $l)))`,
		`(func $f (export "_start") (loop $l (call $load_environment) (br $l)))`,
	} {
		b := newBench(t, Options{Timeout: 50 * time.Millisecond}, map[string]string{"s": text})
		if a := b.get("/wasm/s"); a.Status != 504 {
			t.Errorf("%s: %d, want 504; log: %s", text, a.Status, b.log)
		}
		if a := b.get("/wasm/hello"); a.Status != 200 {
			t.Errorf("after %s: %d; log: %s", text, a.Status, b.log)
		}
	}
}

// TestMemory: an instance gets the memory it may have, zero, and no more.
func TestMemory(t *testing.T) {
	// Grows by a page until it can't, and says how often that was; before,
	// looks whether what is there was used by another.
	const text = `
		(data (i32.const 1040) "Content-type: text/plain\n\n")
		(func (export "_start") (local $n i32)
		  (if (i32.load (i32.const 60000)) (then (unreachable)))
		  (i32.store (i32.const 60000) (i32.const -1))
		  (loop $l
		    (if (i32.ge_s (memory.grow (i32.const 1)) (i32.const 0))
		      (then
		        (if (i32.load (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 8))) (then (unreachable)))
		        (i32.store (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 8)) (i32.const -1))
		        (local.set $n (i32.add (local.get $n) (i32.const 1))) (br $l))))
		  (call $put (i32.const 1040) (i32.const 26))
		  (call $put_number (local.get $n)))`
	for _, c := range []struct {
		memory int64
		want   string
	}{{8 * pageSize, "7"}, {8*pageSize - 1, "7"}, {40 * pageSize, "39"}} {
		b := newBench(t, Options{Memory: c.memory, Instances: 1}, map[string]string{"s": text})
		for range 3 {
			if a := b.get("/wasm/s"); a.Body != c.want {
				t.Errorf("%d bytes: %d %q, want %s; log: %s", c.memory, a.Status, a.Body, c.want, b.log)
			}
		}
	}
	b := newBench(t, Options{Memory: 1}, map[string]string{"s": text})
	if a := b.get("/wasm/s"); a.Body != "0" {
		t.Errorf("one page: %q; log: %s", a.Body, b.log)
	}
}

// TestGone: a module whose client left is stopped.
func TestGone(t *testing.T) {
	b := newBench(t, Options{Timeout: time.Hour}, map[string]string{"s": `(func (export "_start") (loop $l (br $l)))`})
	gone := make(chan struct{})
	time.AfterFunc(20*time.Millisecond, func() { close(gone) })
	if a := (scripttest.Ask{Method: "GET", Target: "/wasm/s", Gone: gone}).Of(b.site); a.Status != 504 {
		t.Errorf("status %d; log: %s", a.Status, b.log)
	}
}

// TestMany: instances are not mixed up.
func TestMany(t *testing.T) {
	b := newBench(t, Options{Instances: 3}, nil)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 30 {
				body := strings.Repeat(string(rune('a'+g)), 100*i+1)
				ask := scripttest.Ask{Method: "POST", Target: "/wasm/mirror", Body: strings.NewReader(body), Length: int64(len(body))}
				if a := ask.Of(b.site); a.Body != body {
					t.Errorf("%d: %.20q, want %.20q", a.Status, a.Body, body)
				}
			}
		})
	}
	wg.Wait()
}

func TestBrokenBody(t *testing.T) {
	b := newBench(t, Options{}, nil)
	for _, c := range []struct {
		body   io.Reader
		length int64
		status int
	}{
		{strings.NewReader("short"), 10, 400},
		{iotest.ErrReader(errors.New("bad chunk")), -1, 400},
	} {
		if a := (scripttest.Ask{Method: "POST", Target: "/wasm/mirror", Body: c.body, Length: c.length}).Of(b.site); a.Status != c.status || !a.Close {
			t.Errorf("length %d: %d, close %v; want %d", c.length, a.Status, a.Close, c.status)
		}
	}
}

// goProgram is a CGI program of a user.
const goProgram = `package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	body, _ := io.ReadAll(os.Stdin)
	_, err := os.Open("/etc/passwd")
	fmt.Fprintln(os.Stderr, "a line for the log")
	fmt.Printf("Content-Type: text/plain\n\n%s %s %s %v", os.Getenv("REQUEST_METHOD"), os.Getenv("PATH_INFO"), body, err != nil)
}
`

// TestGoProgram: what a real compiler makes runs too.
func TestGoProgram(t *testing.T) {
	b := newBench(t, Options{}, nil)
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte(goProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(b.dir, "prog.wasm"), source)
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for range 2 {
		a := (scripttest.Ask{Method: "POST", Target: "/wasm/prog/info", Body: strings.NewReader("the body"), Length: 8}).Of(b.site)
		if a.Body != "POST /info the body true" {
			t.Errorf("%d %q; log: %s", a.Status, a.Body, b.log)
		}
	}
	if !strings.Contains(b.log.String(), "a line for the log") {
		t.Errorf("log: %s", b.log)
	}
}

func BenchmarkHello(b *testing.B) {
	h, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	site, err := weighstone.NewSite(0, h.Routes()...)
	if err != nil {
		b.Fatal(err)
	}
	x := new(weighstone.Exchange)
	b.ReportAllocs()
	for b.Loop() {
		x.Reset()
		x.In = weighstone.Request{Method: []byte("GET"), Target: []byte("/wasm/hello"), Minor: 1, Fields: scripttest.Lines(nil)}
		site.Find(x).Handler.Serve(x)
		if len(x.Scratch) != 77 {
			b.Fatalf("%d bytes", len(x.Scratch))
		}
	}
}
