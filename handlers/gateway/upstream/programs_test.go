package upstream

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weighstone/weighstone/handlers/api"
)

// TestSamples: the sample programs, in C and in Go, reply through FastCGI and
// SCGI what they do in process.
func TestSamples(t *testing.T) {
	t.Run("C", func(t *testing.T) { trySamples(t, programs(t)) })
	t.Run("Go", func(t *testing.T) {
		dir := t.TempDir()
		if out, err := exec.Command(need(t, "go"), "build", "-o", filepath.Join(dir, "echo"), "../../../cgi/prog/gocgi").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, name := range []string{"hello", "send", "mirror", "constant"} {
			if err := os.Link(filepath.Join(dir, "echo"), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		trySamples(t, dir)
	})
}

func trySamples(t *testing.T, dir string) {
	s := withPrograms(t, Options{Root: "/srv/www", Workers: 2}, dir)
	long := strings.Repeat("long body\r\n\x00", 100_000)
	for _, at := range []string{"/fcgi-bin/", "/scgi-bin/"} {
		for range 3 { // on kept connections too
			if a := s.get(at + "hello"); a.status != 200 || a.body != api.Hello || a.header.Get("Content-Length") != "77" || a.header.Get("Content-Type") != "text/html" {
				t.Errorf("%shello: %+v", at, a)
			}
		}
		if a := s.get(at + "constant"); a.status != 200 || len(a.body) != 162 || a.broken != nil {
			t.Errorf("%sconstant: %+v", at, a)
		}
		for _, size := range []int{0, 100, 70_000, 16 << 20} {
			a := s.get(fmt.Sprintf("%ssend?size=%d", at, size))
			if a.status != 200 || len(a.body) != size || a.broken != nil || a.header.Get("Content-Length") != fmt.Sprint(size) {
				t.Errorf("%ssend, %d: %d, %d bytes, %v", at, size, a.status, len(a.body), a.broken)
			}
		}
		if a := s.get(at + "send?size=x"); a.status != 400 {
			t.Errorf("%ssend?size=x: %+v", at, a)
		}
		for _, body := range []string{"", "x", long} {
			if a := s.ask("POST", at+"mirror", body); a.status != 200 || a.body != body {
				t.Errorf("%smirror, %d bytes: %d, %d bytes, %v", at, len(body), a.status, len(a.body), a.broken)
			}
			if a := s.askWith("POST", at+"mirror", chunked{strings.NewReader(body)}); a.status != 200 || a.body != body {
				t.Errorf("%smirror, %d bytes in chunks: %d, %d bytes, %v", at, len(body), a.status, len(a.body), a.broken)
			}
		}
		a := s.ask("POST", at+"echo/path%20info?query", "some body")
		for _, want := range []string{
			"CONTENT_LENGTH=9\n", "PATH_INFO=/path info\n", "QUERY_STRING=query\n", "SCRIPT_NAME=" + at + "echo\n",
			"SCRIPT_FILENAME=" + dir + "/echo\n", "DOCUMENT_ROOT=/srv/www\n", "GATEWAY_INTERFACE=CGI/1.1\n", "\n\nsome body",
		} {
			if !strings.Contains(a.body, want) {
				t.Errorf("%secho: no %q in\n%s", at, want, a.body)
			}
		}
		if a := s.ask("HEAD", at+"send?size=70000", ""); a.status != 200 || a.body != "" || a.header.Get("Content-Length") != "70000" {
			t.Errorf("%ssend, HEAD: %+v", at, a)
		}
		for path, status := range map[string]int{"none": 404, "": 404, "..%2fx": 400} {
			if a := s.get(at + path); a.status != status {
				t.Errorf("%s%s: %d, want %d", at, path, a.status, status)
			}
		}
	}
}

// chunked hides the length of a body.
type chunked struct{ r *strings.Reader }

func (c chunked) Read(p []byte) (int, error) { return c.r.Read(p) }

// TestManyClients: more requests than workers wait for their turn, and all
// are answered; with a short queue the rest is told at once.
func TestManyClients(t *testing.T) {
	dir := programs(t)
	for name, c := range map[string]struct{ queue, least int }{"usual queue": {0, 1000}, "short queue": {100, 104}} {
		t.Run(name, func(t *testing.T) {
			s := withPrograms(t, Options{Workers: 4, Queue: c.queue}, dir)
			statuses := crowd(t, s, 1000)
			if n := statuses[200]; n < c.least || n+statuses[503] != 1000 {
				t.Errorf("%v", statuses)
			}
		})
	}
}

// crowd asks so many times at once, and counts the statuses.
func crowd(t *testing.T, s *site, n int) map[int]int {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for range n {
		all.Go(func() {
			a := s.get("/fcgi-bin/send?size=1000")
			if a.status == 503 && a.header.Get("Retry-After") == "" {
				t.Error("503 without Retry-After")
			}
			if a.status == 200 && len(a.body) != 1000 {
				t.Errorf("%d bytes", len(a.body))
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[a.status]++
		})
	}
	all.Wait()
	return statuses
}
