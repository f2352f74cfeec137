package subject

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone/internal/proc"
)

// built returns the directory of the built programs.
func built(t *testing.T) string {
	t.Helper()
	bin, err := filepath.Abs("../../bin")
	if err == nil {
		_, err = os.Stat(filepath.Join(bin, "weighstone"))
	}
	if err != nil {
		missing(t, fmt.Errorf("make build makes it: %w", err))
	}
	return bin
}

// here returns what a function found, or ends the test.
func here[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			missing(t, err)
		}
		return v
	}
}

// everything is a setup with all that is asked of servers of their own, and
// the paths to look at: true for those that programs answer.
func everything(t *testing.T, dir, bin string) (Setup, map[string]bool) {
	t.Helper()
	return Setup{
			Root: dir, CGI: bin + "/cgi",
			Apps: []App{{Name: "constant", URL: "/fcgi-bin/constant", Path: bin + "/fcgi/constant", Processes: 2}},
			Scripts: []Scripts{
				{".php", bin + "/php", here[App](t)(PHP(2))},
				{".pl", bin + "/cgi", here[App](t)(Perl(bin+"/perl/perlhost.pl", 2))},
			},
			AccessLog: filepath.Join(t.TempDir(), "access.log"),
		}, map[string]bool{
			"/100.html": false, "/": false, "/cgi-bin/hello": true, "/cgi-bin/send?size=20000": true,
			"/fcgi-bin/constant": true, "/hello.php": true, "/hello.pl": true,
		}
}

// ours starts a server of ours that is to answer as the others do.
func ours(t *testing.T, dir, bin string, probe Probe) (base string) {
	t.Helper()
	s := New(Weighstone(bin+"/weighstone", "epoll", "--root", dir, "--php", "fastcgi", "--perl", "fastcgi"), options(t, probe))
	base, err := s.Start(within(t, 60*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(within(t, 30*time.Second)); err != nil {
			t.Error(err)
		}
	})
	return base
}

// alike looks at paths of two servers with each kind of connection.
func alike(t *testing.T, base, ours string, keeps Keeps, paths map[string]bool) {
	t.Helper()
	ctx := within(t, 60*time.Second)
	for path, program := range paths {
		for _, r := range []Request{{path, true, false, program}, {path, false, false, program}, {path, false, true, program}} {
			if r.Keepalive && !keeps.Connection(program) {
				continue
			}
			want, err := Look(ctx, ours, r)
			if err != nil {
				t.Error(err)
				continue
			}
			got, err := Look(ctx, base, r)
			if err == nil {
				err = got.Same(want)
			}
			if err != nil {
				t.Errorf("%+v: %v", r, err)
			}
		}
	}
}

// family returns the processes of a subject, itself and its applications.
func family(t *testing.T, s *Local) []int {
	t.Helper()
	pid, err := s.Pid()
	if err != nil {
		t.Fatal(err)
	}
	all := append([]int{pid}, proc.Descendants(pid)...)
	for _, a := range s.apps {
		all = append(append(all, a.Pid()), proc.Descendants(a.Pid())...)
	}
	return all
}

// gone waits until the processes have ended.
func gone(t *testing.T, pids []int) {
	t.Helper()
	ctx := within(t, 30*time.Second)
	for _, pid := range pids {
		for {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil || strings.Contains(string(stat), ") Z ") {
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("a process is left: %s", stat)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// life starts a subject, lets look at it, and stops it: nothing is left.
func life(t *testing.T, s *Local, look func(base string)) {
	t.Helper()
	base, err := s.Start(within(t, 60*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	dir := s.dir
	look(base)
	pids := family(t, s)
	if err := s.Died(); err != nil {
		t.Error(err)
	}
	if err := s.Stop(within(t, 30*time.Second)); err != nil {
		t.Error(err)
	}
	gone(t, pids)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}
}

func TestPeers(t *testing.T) {
	dir, probe := root(t)
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("<p>The page of the directory\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	bin := built(t)
	base := ours(t, dir, bin, probe)
	for _, peer := range Peers() {
		t.Run(peer.Name, func(t *testing.T) {
			s, paths := everything(t, dir, bin)
			for what, without := range limits() { // what a server can't do is not asked of it
				if _, err := peer.Find(s); errors.Is(err, ErrUnable) && strings.Contains(err.Error(), what) {
					t.Log(err)
					without(&s, paths)
				}
			}
			recipe := here[Recipe](t)(peer.Find(s))
			recipe.Name += " itself" // as studies call it: the blank must not get into a configuration
			sub := New(recipe, options(t, probe))
			checkFacts(t, sub)
			life(t, sub, func(at string) { alike(t, at, base, peer.Keeps, paths) })
			if s.AccessLog == "" {
				return
			}
			if log, err := os.ReadFile(s.AccessLog); err != nil || !strings.Contains(string(log), "/100.html") {
				t.Errorf("the access log is %q, %v", log, err)
			}
		})
	}
}

// TestCounted: what a program uses is the server's, or said to be unknown.
func TestCounted(t *testing.T) {
	dir, probe := root(t)
	programs := t.TempDir()
	burn := "#!/bin/sh\ni=0; while [ $i -lt 60000 ]; do i=$((i+1)); done\nprintf 'Content-type: text/plain\\r\\n\\r\\ndone'\n"
	if err := os.WriteFile(filepath.Join(programs, "burn"), []byte(burn), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, peer := range Peers() {
		t.Run(peer.Name, func(t *testing.T) {
			s := New(here[Recipe](t)(peer.Find(Setup{Root: dir, CGI: programs})), options(t, probe))
			life(t, s, func(base string) {
				before, err := s.Usage()
				if !s.Counted() {
					if !errors.Is(err, ErrUncounted) {
						t.Errorf("usage: %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if body, err := Fetch(within(t, 60*time.Second), base, "/cgi-bin/burn"); err != nil || string(body) != "done" {
					t.Fatalf("%q, %v", body, err)
				}
				// The program has answered, and is waited for soon.
				for ctx := within(t, 30*time.Second); ; time.Sleep(20 * time.Millisecond) {
					after, err := s.Usage()
					if err != nil {
						t.Fatal(err)
					}
					if used := after.Sub(before); used.CPU >= 15*time.Millisecond {
						return
					} else if ctx.Err() != nil {
						t.Fatalf("a program that takes some 40 ms used %v", used.CPU)
					}
				}
			})
		})
	}
}

// TestRefused: a server that refuses its configuration says why.
func TestRefused(t *testing.T) {
	dir, probe := root(t)
	for name, c := range map[string]struct{ begin, said string }{
		"nginx":        {"nonsense on;\n", `unknown directive "nonsense"`},
		"lighttpd":     {"nonsense = \n", "parser failed somehow near here"},
		"h2o":          {"nonsense: 1\n", "unknown command: nonsense"},
		"apache-event": {"Nonsense On\n", "Invalid command 'Nonsense'"},
		"caddy":        {"nonsense {\n", "Error: "},
		"webrick":      {"raise 'nonsense'\n", "nonsense (RuntimeError)"},
	} {
		t.Run(name, func(t *testing.T) {
			peer, err := FindPeer(name)
			if err != nil {
				t.Fatal(err)
			}
			r := here[Recipe](t)(peer.Find(Setup{Root: dir}))
			config := r.Config
			r.Config = func(port int, dir string) string { return c.begin + config(port, dir) }
			_, err = New(r, options(t, probe)).Start(within(t, 60*time.Second))
			if err == nil {
				t.Fatal("it started")
			}
			if n := strings.Count(err.Error(), c.said); n != 1 && c.said != "Error: " {
				t.Errorf("it is said %d times", n)
			}
			for _, want := range []string{"start " + name, c.said, "to do:", strings.TrimPrefix(Source(peer.Package), "Debian ")} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
		})
	}
}

func TestPortInUse(t *testing.T) {
	dir, probe := root(t)
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	for _, name := range []string{"nginx", "lighttpd", "apache-event", "caddy", "webrick"} {
		t.Run(name, func(t *testing.T) {
			peer, err := FindPeer(name)
			if err != nil {
				t.Fatal(err)
			}
			r := here[Recipe](t)(peer.Find(Setup{Root: dir}))
			config := r.Config
			r.Config = func(_ int, dir string) string { return config(port, dir) }
			_, err = New(r, options(t, probe)).Start(within(t, 60*time.Second))
			if !errors.Is(err, ErrPortInUse) || !strings.Contains(err.Error(), "to do:") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// limits are what some servers can't do, by what they say of it, with what to
// leave out for them.
func limits() map[string]func(*Setup, map[string]bool) {
	return map[string]func(*Setup, map[string]bool){
		"FastCGI": func(s *Setup, paths map[string]bool) {
			s.Apps, s.Scripts = nil, nil
			for _, p := range []string{"/fcgi-bin/constant", "/hello.php", "/hello.pl"} {
				delete(paths, p)
			}
		},
	}
}

func checkFacts(t *testing.T, s *Local) {
	t.Helper()
	facts := map[string]string{}
	for _, f := range s.Facts() {
		facts[f.Name] = f.Value
	}
	if !strings.ContainsAny(facts["version"], "0123456789") || len(facts["config_sha256"]) != 64 || facts["modules"] == "" {
		t.Errorf("facts: %v", facts)
	}
	for _, sentence := range s.Unequal() {
		if len(sentence) < 20 || strings.HasSuffix(sentence, ".") {
			t.Errorf("what is unequal: %q", sentence)
		}
	}
	if len(s.Unequal()) == 0 {
		t.Error("nothing is said of what could not be made equal")
	}
}

// TestInside is about interpreters in the server's process, and Apache's other
// ways to the same programs.
func TestInside(t *testing.T) {
	dir, probe := root(t)
	bin := built(t)
	base := ours(t, dir, bin, probe)
	php, perl := Scripts{Suffix: ".php", Dir: bin + "/php"}, Scripts{Suffix: ".pl", Dir: bin + "/cgi"}
	for _, c := range []struct {
		peer  string
		setup Setup
		path  string
		want  string // among the modules
	}{
		{"apache-prefork", Setup{Scripts: []Scripts{php, perl}}, "/hello.php", "php perl"},
		{"apache-worker", Setup{Scripts: []Scripts{perl}}, "/hello.pl", "perl"},
		{"apache-prefork", Setup{CGI: bin + "/cgi", CGID: true}, "/cgi-bin/hello", "cgid"},
		{"apache-event", Setup{Workers: 2, Override: true}, "/100.html", "mpm_event"},
		{"nginx", Setup{Workers: 2}, "/100.html", "ngx_http_core"},
		{"lighttpd", Setup{Workers: 2}, "/100.html", "mod_staticfile"},
	} {
		t.Run(c.peer+" "+c.want, func(t *testing.T) {
			peer, err := FindPeer(c.peer)
			if err != nil {
				t.Fatal(err)
			}
			c.setup.Root = dir
			recipe := here[Recipe](t)(peer.Find(c.setup))
			if !strings.HasSuffix(strings.Join(recipe.Modules, " "), c.want) && !slices.Contains(recipe.Modules, c.want) {
				t.Errorf("modules are %v", recipe.Modules)
			}
			life(t, New(recipe, options(t, probe)), func(at string) {
				alike(t, at, base, KeepsAll, map[string]bool{c.path: c.path != "/100.html"})
			})
		})
	}
}

func TestWhatCannotBe(t *testing.T) {
	dir := t.TempDir()
	php := []Scripts{{Suffix: ".php", Dir: dir}}
	for _, c := range []struct {
		peer  string
		setup Setup
		want  string
	}{
		{"nginx", Setup{Root: dir, Scripts: php}, "interpreter"},
		{"lighttpd", Setup{Root: dir, Override: true}, "override files"},
		{"apache-event", Setup{Root: dir, Scripts: php}, "apache-prefork has it"},
		{"nginx", Setup{Root: filepath.Join(dir, "not-there")}, "is not a directory"},
		{"nginx", Setup{Root: dir + "/a;b"}, "has a character"},
	} {
		peer, err := FindPeer(c.peer)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = peer.Here(); err != nil {
			missing(t, err)
		}
		if _, err = peer.Find(c.setup); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.peer, err, c.want)
		}
	}
	if _, err := FindPeer("thttpd"); err == nil || !strings.Contains(err.Error(), "apache-event") {
		t.Errorf("an unknown peer: %v", err)
	}
}
