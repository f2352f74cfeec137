package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone/fixtures"
)

// TestAgree: every variant of the program as it is built answers every URL
// alike: the whole content, the API, and programs through CGI. No child is left
// behind.
func TestAgree(t *testing.T) {
	programs := cgiPrograms(t)
	asked := append(contentPaths(t),
		"/", "/none", "/silicon-surf", "/silicon-surf/", "/.hidden", "/%2e%2e/etc/passwd", "/100.html?query",
		"/api/hello", "/api/send", "/api/send?size=100", "/api/send?size=x", "/api/echo?a=b", "/api/mirror",
		"/db/100.html", "/db/silicon-surf/file200k.html", "/db/standard/file5m.html", "/db/", "/db", "/db/none", fixtures.DocumentURL("/db/", "standard/file500k.html"),
		"/lua/hello", "/lua/send?size=100", "/lua/send?size=2000000", "/lua/send?size=x", "/lua/echo/info?a=b", "/lua/mirror", "/lua/none", "/lua/", "/lua",
		"/wasm/hello", "/wasm/send?size=100", "/wasm/send?size=2000000", "/wasm/send?size=x", "/wasm/echo/info?a=b", "/wasm/mirror", "/wasm/none", "/wasm/",
		"/cgi-bin/text", "/cgi-bin/status", "/cgi-bin/redirect", "/cgi-bin/local", "/cgi-bin/length", "/cgi-bin/large", "/cgi-bin/broken",
		"/cgi-helper/text", "/cgi-helper/status", "/cgi-helper/redirect", "/cgi-helper/local", "/cgi-helper/length", "/cgi-helper/large", "/cgi-helper/broken",
		"/cgi-helper/none", "/cgi-helper/", "/cgi-helper", "/cgi-helper/text/extra?query", "/cgi-helper/%2e%2e/text",
		"/cgi-bin/none", "/cgi-bin/", "/cgi-bin", "/cgi-bin/text/extra?query", "/cgi-bin/%2e%2e/text")
	answers := map[string][]string{}
	all := variants(t)
	for _, variant := range all {
		s := serve(t, variant, "--cgi-bin", programs)
		for _, path := range asked {
			for _, method := range []string{"GET", "HEAD", "POST"} {
				answers[variant] = append(answers[variant], ask(t, s.addr, method, path))
			}
		}
		s.childless()
		s.stop()
	}
	for _, variant := range all[1:] {
		for i, got := range answers[variant] {
			if want := answers[all[0]][i]; got != want {
				t.Errorf("%s:\n%.500s\n%s:\n%.500s", variant, got, all[0], want)
			}
		}
	}
}

// contentPaths are those of the content, as the program lists it.
func contentPaths(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command(built.program, "fixtures", "list", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Files []struct{ Path string } }
	if err := json.Unmarshal(out, &manifest); err != nil {
		t.Fatalf("%v in %.200s", err, out)
	}
	var paths []string
	for _, f := range manifest.Files {
		paths = append(paths, "/"+strings.TrimPrefix(f.Path, "/"))
	}
	if len(paths) < 20 {
		t.Fatalf("the content has %d files", len(paths))
	}
	return paths
}

// cgiPrograms writes programs that reply in each way that RFC 3875 section 6.2
// has, and one that does not.
func cgiPrograms(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, script := range map[string]string{
		"text":     `printf 'Content-Type: text/plain\n\n%s %s %s\n' "$REQUEST_METHOD" "$PATH_INFO" "$QUERY_STRING"`,
		"status":   `printf 'Status: 418 Teapot\nContent-Type: text/plain\nX-Kind: pot\n\nshort and stout\n'`,
		"redirect": `printf 'Location: http://a.example/elsewhere\n\n'`,
		"local":    `printf 'Location: /100.html\n\n'`,
		"length":   `printf 'Content-Type: text/plain\nContent-Length: 5\n\nhello'`,
		"large":    `printf 'Content-Type: text/plain\n\n'; i=0; while [ $i -lt 3000 ]; do echo "line $i of a reply that is larger than any buffer"; i=$((i+1)); done`,
		"broken":   `echo 'this is no header'`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// noMatter are the fields in which answers may differ.
var noMatter = []string{"Date", "Connection", "Keep-Alive", "Transfer-Encoding"}

// ephemeral are the values in an echo that differ from run to run.
var ephemeral = regexp.MustCompile(`(?m)^((?:REMOTE|SERVER)_PORT|HTTP_HOST)=.*$`)

// ask sends one request and describes the reply.
func ask(t *testing.T, addr, method, path string) string {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+addr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	for _, name := range noMatter {
		res.Header.Del(name)
	}
	if strings.Contains(path, "/echo") {
		body = ephemeral.ReplaceAll(body, []byte("$1"))
		res.Header.Del("Content-Length")
	}
	if strings.HasPrefix(path, "/cgi-bin/") && path != "/cgi-bin/length" {
		// Without a length of the program's own there is one only if it ended
		// soon enough to be waited for.
		res.Header.Del("Content-Length")
	}
	var fields bytes.Buffer
	if err := res.Header.Write(&fields); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %s: %d\n%s\n%s", method, path, res.StatusCode, &fields, body)
}

// childless wants the serving processes to have no children but their workers
// and the CGI helper, and that to have none, zombies included, some time after
// the last reply.
func (s *server) childless() {
	s.t.Helper()
	var left []int
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		left = nil
		for _, pid := range processes(s.t, s.pid) {
			for _, child := range children(s.t, pid) {
				switch {
				case isWorker(child):
				case isHelper(child):
					left = append(left, children(s.t, child)...)
				default:
					left = append(left, child)
				}
			}
		}
		if len(left) == 0 {
			return
		}
	}
	s.t.Errorf("children are left: %v", left)
}
