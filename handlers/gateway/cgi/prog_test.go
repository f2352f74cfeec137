package cgi

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/handlers/api"
)

const sources = "../../../cgi/prog"

// need returns the path of a tool. Without it the test is skipped, which in
// continuous integration is a failure.
func need(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
	return path
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// compile makes a sample program of its sources in C.
func compile(t *testing.T, cc, name, to string) {
	t.Helper()
	args := []string{"-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-o", to, filepath.Join(sources, name+".c")}
	for _, shared := range []string{"exchange.c", "fastcgi.c", "input.c", "main.c", "scgi.c"} {
		args = append(args, filepath.Join(sources, shared))
	}
	command(t, cc, args...)
}

var programs = []string{"echo", "hello", "send", "mirror"}

// TestSamplesAnswerAlike: in C, in Go and in process the same requests get
// the same bytes, but for what names the mechanism.
func TestSamplesAnswerAlike(t *testing.T) {
	t.Run("C", func(t *testing.T) {
		cc := need(t, "cc")
		dir := t.TempDir()
		for _, p := range programs {
			compile(t, cc, p, filepath.Join(dir, p))
		}
		compareWithAPI(t, dir)
	})
	t.Run("Go", func(t *testing.T) {
		goTool := need(t, "go")
		dir := t.TempDir()
		command(t, goTool, "build", "-o", filepath.Join(dir, "echo"), "./"+sources+"/gocgi")
		for _, p := range programs[1:] {
			if err := os.Link(filepath.Join(dir, "echo"), filepath.Join(dir, p)); err != nil {
				t.Fatal(err)
			}
		}
		compareWithAPI(t, dir)
	})
}

// mechanism matches the lines of echo that may differ.
var mechanism = regexp.MustCompile(`(?m)^(SCRIPT_NAME|SCRIPT_FILENAME|GATEWAY_INTERFACE|PATH_TRANSLATED|REQUEST_URI|DOCUMENT_ROOT)=.*\n`)

func compareWithAPI(t *testing.T, dir string) {
	h := newHost(t, Options{Dirs: []string{dir}, Root: "/srv/www"})
	routes := append(api.Routes(), h.Routes()...)
	var err error
	if h.site, err = weighstone.NewSite(0, routes...); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("long body\r\n\x00", 200_000)
	for _, c := range []struct{ method, target, kind, body string }{
		{"GET", "hello", "", ""},
		{"HEAD", "hello", "", ""},
		{"GET", "send", "", ""},
		{"GET", "send?size=0", "", ""},
		{"GET", "send?size=100", "", ""},
		{"GET", "send?a=b&size=300000", "", ""},
		{"GET", "send?size=16777216", "", ""},
		{"GET", "send?size=16777217", "", ""},
		{"GET", "send?size=-1", "", ""},
		{"GET", "send?size=", "", ""},
		{"GET", "send?size=1&size=2", "", ""},
		{"GET", "mirror", "", ""},
		{"POST", "mirror", "", "x"},
		{"POST", "mirror", "a/b; c=d", "some body"},
		{"POST", "mirror", "a/b", long},
		{"GET", "echo", "", ""},
		{"GET", "echo/path%20info/x?query=%31", "", ""},
		{"POST", "echo", "", ""},
		{"POST", "echo", "a/b", "some\n\nbody"},
		{"POST", "echo", "a/b", long},
	} {
		for _, chunked := range []bool{false, true} {
			if chunked && c.body == "" {
				continue
			}
			ask := func(prefix string) answer {
				r := call{method: c.method, target: prefix + c.target, length: int64(len(c.body)),
					fields: lines{"User-Agent", "t", "X-B", "1", "Accept", "*/*", "X-b", "2", "Proxy", "p"}}
				if c.kind != "" {
					r.fields = append(r.fields, "Content-Type", c.kind)
				}
				if c.body != "" {
					r.body = strings.NewReader(c.body)
				}
				if chunked {
					r.length = -1
				}
				a := h.do(r)
				a.fields, a.stream, a.elapsed, a.close = nil, false, 0, false
				if strings.HasPrefix(c.target, "echo") {
					a.body = mechanism.ReplaceAllString(a.body, "")
					a.length = 0 // differs with what names the mechanism
				}
				return a
			}
			inProcess, program := ask("/api/"), ask("/cgi-bin/")
			if program.length < 0 { // a reply that does not come at once is sent as it comes
				program.length = inProcess.length
			}
			if inProcess.body == program.body { // long ones take the comparison below seconds
				inProcess.body, program.body = "", ""
			}
			if d := cmp.Diff(inProcess, program, cmp.AllowUnexported(answer{})); d != "" {
				t.Errorf("%s %s, %d bytes, chunked %v (- in process, + program):\n%.2000s", c.method, c.target, len(c.body), chunked, d)
			}
		}
	}
}

func TestHelloScripts(t *testing.T) {
	h := newHost(t, Options{})
	for name, interpreter := range map[string]string{"hello.sh": "sh", "hello.pl": "perl"} {
		t.Run(name, func(t *testing.T) {
			need(t, interpreter)
			copyFile(t, filepath.Join(sources, name), filepath.Join(h.dir, name))
			if a := h.get(name); a.status != 200 || a.kind != "text/html" || a.body != api.Hello || a.length != 77 {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestShortBodyIsReported: echo says so when its body ends early.
func TestShortBodyIsReported(t *testing.T) {
	dir := t.TempDir()
	compile(t, need(t, "cc"), "echo", filepath.Join(dir, "echo"))
	cmd := exec.Command(filepath.Join(dir, "echo"))
	cmd.Env = []string{"REQUEST_METHOD=POST", "CONTENT_LENGTH=10", "PATH=/bin", "HTTP_B=1", "HTTP_A_B=2", "HTTP_A=3", "LD_X=no"}
	cmd.Stdin = strings.NewReader("short")
	out, err := cmd.Output()
	want := "Content-type: text/plain\r\n\r\nCONTENT_LENGTH=10\nHTTP_A=3\nHTTP_A_B=2\nHTTP_B=1\nREQUEST_METHOD=POST\n\nshort\n[body ends 5 bytes short]\n"
	if err != nil || string(out) != want {
		t.Errorf("%q, error %v", out, err)
	}
}
