package upstream

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/weighstone/weighstone/handlers/api"
)

// write writes a file.
func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// crew asks for path, by many at a time, and wants the same good reply.
func crew(t *testing.T, s *site, path, want string) {
	t.Helper()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				if a := s.get(path); a.status != 200 || a.body != want || a.broken != nil {
					t.Errorf("%s: %d, %.200q, %v", path, a.status, a.body, a.broken)
				}
			}
		})
	}
	all.Wait()
}

// phpScripts writes a document root for PHP.
func phpScripts(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "app"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"hello.php":  `<?php echo 'hello world';`,
		"large.php":  `<?php for ($i = 0; $i < 200000; $i++) echo "line $i\n";`,
		"post.php":   `<?php echo strlen(file_get_contents('php://input')), ' ', $_SERVER['CONTENT_TYPE'] ?? '';`,
		"where.php":  `<?php echo $_SERVER['SCRIPT_NAME'], ' ', $_SERVER['PATH_INFO'] ?? '-', ' ', $_GET['a'] ?? '-', ' ', $_SERVER['HTTP_PROXY'] ?? '-';`,
		"status.php": `<?php http_response_code(418); header('X-Kind: pot'); echo 'teapot';`,
		"fatal.php":  `<?php error_log('a line for the log'); nothing();`,
		"cut.php":    `<?php header('Content-Length: 1000'); echo 'short';`,
		"moved.php":  `<?php header('Location: http://a.example/'); `,
	} {
		write(t, filepath.Join(root, "app", name), text, 0o755)
	}
	return root
}

// tryPHP wants all scripts answered through /app/.
func tryPHP(t *testing.T, s *site) {
	t.Helper()
	crew(t, s, "/app/hello.php", "hello world")
	if a := s.get("/app/large.php"); a.status != 200 || !strings.HasSuffix(a.body, "\nline 199999\n") || a.broken != nil {
		t.Errorf("large: %d, %d bytes, %v", a.status, len(a.body), a.broken)
	}
	for _, n := range []int{1, 100_000, 3_000_000} {
		if a := s.ask("POST", "/app/post.php", strings.Repeat("x", n)); a.body != fmt.Sprintf("%d ", n) {
			t.Errorf("a body of %d: %.200q", n, a.body)
		}
	}
	if a := s.get("/app/where.php/more/info?a=b"); a.body != "/app/where.php /more/info b -" {
		t.Errorf("%q", a.body)
	}
	if a := s.get("/app/status.php"); a.status != 418 || a.header.Get("X-Kind") != "pot" || a.body != "teapot" {
		t.Errorf("%+v", a)
	}
	if a := s.get("/app/none.php"); a.status != 404 {
		t.Errorf("%+v", a)
	}
	if a := s.get("/app/moved.php"); a.status != 302 || a.header.Get("Location") != "http://a.example/" {
		t.Errorf("%+v", a)
	}
	if a := s.get("/app/fatal.php"); a.status != 500 {
		t.Errorf("%+v", a)
	}
	soon(t, "what PHP complains of is in the log", func() bool {
		log := s.log.String()
		return strings.Contains(log, "a line for the log") && strings.Contains(log, "undefined function nothing")
	})
	if a := s.get("/app/cut.php"); a.status != 502 {
		t.Errorf("shorter than announced: %+v", a)
	}
	crew(t, s, "/app/hello.php", "hello world")
}

// start runs a program in the background until the test's end, with all that
// it starts, and waits until it listens at a Unix socket.
func start(t *testing.T, socket string, cmd *exec.Cmd) {
	t.Helper()
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		if t.Failed() {
			t.Logf("%v said: %s", cmd.Args, &said)
		}
	})
	soon(t, fmt.Sprint(cmd.Args, " listens"), func() bool { return listens(socket) })
}

// listens says whether somebody does at a Unix socket.
func listens(path string) bool {
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// phpFPM returns the path of php-fpm, which has its version in its name.
func phpFPM(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob("/usr/sbin/php-fpm*")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		return need(t, "php-fpm")
	}
	return found[0]
}

func TestPHPFPM(t *testing.T) {
	fpm := phpFPM(t)
	root, dir := phpScripts(t), t.TempDir()
	socket := filepath.Join(dir, "fpm.sock")
	for name, pool := range map[string]string{
		"usual":       "pm = static\npm.max_children = 3\n",
		"few":         "pm = static\npm.max_children = 1\n",                      // less than we have connections
		"short lived": "pm = static\npm.max_children = 2\npm.max_requests = 5\n", // which closes kept connections
	} {
		t.Run(name, func(t *testing.T) {
			os.Remove(socket)
			config := filepath.Join(dir, "fpm.conf")
			user := ""
			if os.Geteuid() == 0 {
				user = "user = root\ngroup = root\n"
			}
			write(t, config, "[global]\ndaemonize = no\nerror_log = "+filepath.Join(dir, "log")+"\n[www]\nlisten = "+socket+"\ncatch_workers_output = yes\n"+user+pool, 0o644)
			start(t, socket, exec.Command(fpm, "-R", "-n", "-y", config, "-d", "log_errors=1", "-d", "display_errors=0"))
			tryPHP(t, mounted(t, Options{Root: root, Connections: 8}, "unix:"+socket))
		})
	}
}

// TestPHPCGI: php-cgi as a worker of ours, which ends after some requests.
func TestPHPCGI(t *testing.T) {
	php := need(t, "php-cgi")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "hello.php"), "<?php echo 'hello world';", 0o755)
	o := Options{Workers: 2, Env: []string{"PHP_FCGI_MAX_REQUESTS=7"}}
	s := serve(t, o, func(o Options) []closer {
		g, err := NewInterpreter(o, Scripts{Files: map[string]string{"/hello.php": filepath.Join(dir, "hello.php")}}, php, "-n")
		if err != nil {
			t.Fatal(err)
		}
		return []closer{g}
	})
	for i := range 100 {
		if a := s.get("/hello.php"); a.status != 200 || a.body != "hello world" {
			t.Errorf("%d: %+v", i, a)
		}
	}
	if n := strings.Count(s.log.String(), "worker ended"); n < 10 {
		t.Errorf("workers ended %d times: they are to after each seventh request", n)
	}
}

// TestFCGIWrap: programs of CGI behind FastCGI.
func TestFCGIWrap(t *testing.T) {
	wrap := need(t, "fcgiwrap")
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "app"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "app", "hello"), "#!/bin/sh\nprintf 'Content-type: text/html\\n\\n"+strings.TrimSuffix(api.Hello, "\n")+"\\n'\n", 0o755)
	write(t, filepath.Join(root, "app", "complains"), "#!/bin/sh\necho 'a line for the log' >&2\nprintf 'Content-type: a/b\\n\\nx'\n", 0o755)
	write(t, filepath.Join(root, "app", "mirror"), "#!/bin/sh\nprintf 'Content-type: a/b\\n\\n'\ncat\n", 0o755)
	socket := filepath.Join(t.TempDir(), "wrap.sock")
	cmd := exec.Command(wrap, "-f", "-c", "2", "-s", "unix:"+socket)
	start(t, socket, cmd)
	s := mounted(t, Options{Root: root, Connections: 2}, "unix:"+socket)
	crew(t, s, "/app/hello", api.Hello)
	if a := s.get("/app/complains"); a.body != "x" {
		t.Errorf("%+v", a)
	}
	soon(t, "what the program complains of is in the log", func() bool { return strings.Contains(s.log.String(), "a line for the log") })
	// More than a pipe holds it could not: it reads no output before it has
	// written all input.
	if body := strings.Repeat("x", 60_000); s.ask("POST", "/app/mirror", body).body != body {
		t.Error("a body comes back changed")
	}
	if a := s.get("/app/none"); a.status != 403 && a.status != 404 {
		t.Errorf("%+v", a)
	}
}

// TestPerlFCGI: Perl's FCGI as a worker of ours.
func TestPerlFCGI(t *testing.T) {
	perl := need(t, "perl")
	if err := exec.Command(perl, "-MFCGI", "-e", "1").Run(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("libfcgi-perl is needed")
		}
		t.Skip("libfcgi-perl is needed")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "count.pl"), "#!"+perl+`
use FCGI;
my $request = FCGI::Request();
my $n = 0;
while ($request->Accept() >= 0) {
	my $body = '';
	read(STDIN, $body, $ENV{CONTENT_LENGTH} || 0);
	print STDERR "a line for the log\n" if $ENV{QUERY_STRING} eq 'complain';
	print "Content-type: text/plain\r\n\r\n", length($body), ' ', ++$n > 1 ? 'kept' : 'new';
}
`, 0o755)
	s := withPrograms(t, Options{Workers: 1}, dir)
	for i, want := range []string{"5 new", "5 kept", "5 kept"} {
		if a := s.ask("POST", "/fcgi-bin/count.pl", "12345"); a.status != 200 || a.body != want {
			t.Errorf("%d: %+v", i, a)
		}
	}
	s.get("/fcgi-bin/count.pl?complain")
	soon(t, "what it complains of is in the log", func() bool { return strings.Contains(s.log.String(), "a line for the log") })
}

// TestLibfcgi: a program upon libfcgi as a worker of ours. Its connections end
// when they are silent for two seconds after they were made.
func TestLibfcgi(t *testing.T) {
	cc := need(t, "cc")
	dir, source := t.TempDir(), filepath.Join(t.TempDir(), "kit.c")
	write(t, source, `#include <fcgi_stdio.h>
#include <stdlib.h>
int main(void)
{
	for (int n = 0; FCGI_Accept() >= 0; n++) {
		const char *length = getenv("CONTENT_LENGTH");
		long left = length ? atol(length) : 0, got = 0;
		while (got < left && getchar() != EOF)
			got++;
		printf("Content-type: text/plain\r\n\r\n%ld %s\n", got, n ? "kept" : "new");
		for (int i = 0; getenv("QUERY_STRING")[0] == 'l' && i < 100000; i++)
			printf("line %d\n", i);
	}
	return 0;
}
`, 0o644)
	if out, err := exec.Command(cc, "-o", filepath.Join(dir, "kit"), source, "-lfcgi").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("libfcgi-dev is needed: %s", out)
		}
		t.Skip("libfcgi-dev is needed")
	}
	s := withPrograms(t, Options{Workers: 1}, dir)
	for i, want := range []string{"5 new\n", "5 kept\n", "5 kept\n"} {
		if a := s.ask("POST", "/fcgi-bin/kit", "12345"); a.status != 200 || a.body != want {
			t.Errorf("%d: %+v", i, a)
		}
	}
	if a := s.get("/fcgi-bin/kit?long"); a.status != 200 || !strings.HasSuffix(a.body, "\nline 99999\n") {
		t.Errorf("%d, %d bytes, %v", a.status, len(a.body), a.broken)
	}
}

// TestForeignGateway: our responders in C answer libfcgi's own client, and
// end when they are told to.
func TestForeignGateway(t *testing.T) {
	client := need(t, "cgi-fcgi")
	dir := programs(t)
	for _, c := range []struct{ program, body, want string }{
		{"hello", "", "Content-type: text/html\r\n\r\n" + api.Hello},
		{"mirror", "body", "Content-type: application/octet-stream\r\nContent-Length: 4\r\n\r\nbody"},
		{"echo", "body", "Content-type: text/plain\r\n\r\nCONTENT_LENGTH=4\nREQUEST_METHOD=POST\n\nbody"},
	} {
		socket := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		f, err := l.(*net.UnixListener).File()
		if err != nil {
			t.Fatal(err)
		}
		app := exec.Command(filepath.Join(dir, c.program))
		app.Stdin = f
		if err := app.Start(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			cmd := exec.Command(client, "-bind", "-connect", socket)
			cmd.Env = []string{"REQUEST_METHOD=GET"}
			if c.body != "" {
				cmd.Env = []string{"REQUEST_METHOD=POST", fmt.Sprint("CONTENT_LENGTH=", len(c.body))}
			}
			cmd.Stdin = strings.NewReader(c.body)
			if out, err := cmd.Output(); err != nil || string(out) != c.want {
				t.Errorf("%s: %q, %v", c.program, out, err)
			}
		}
		app.Process.Signal(os.Interrupt)
		app.Wait()
		f.Close()
		l.Close()
	}
}

// perlSite is a site with the scripts of a directory below /perl/.
func perlSite(t *testing.T, dir string, workers int) *site {
	t.Helper()
	perl := need(t, "perl")
	host, err := filepath.Abs("../../../cgi/prog/perlhost.pl")
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, Options{Workers: workers}, func(o Options) []closer {
		g, err := NewInterpreter(o, Scripts{Prefix: "/perl/", Dir: dir, Suffix: ".pl"}, perl, host)
		if err != nil {
			t.Fatal(err)
		}
		return []closer{g}
	})
}

// TestPerlHost: a script is compiled once, keeps its package variables, and is
// compiled again when it has changed.
func TestPerlHost(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) { write(t, filepath.Join(dir, name), text, 0o755) }
	s := perlSite(t, dir, 1)
	put("count.pl", `our $n; my $m; print "Content-type: text/plain\n\n", ++$n, ++$m, $compiled; BEGIN { our $compiled = 'a' }`)
	for _, want := range []string{"11a", "21a", "31a"} {
		if a := s.get("/perl/count.pl"); a.status != 200 || a.body != want {
			t.Errorf("%+v, want %s", a, want)
		}
	}
	put("count.pl", `our $n; print "Content-type: text/plain\n\n", "changed ", ++$n;`)
	if a := s.get("/perl/count.pl"); a.body != "changed 1" {
		t.Errorf("a script that has changed: %+v", a)
	}
	put("exits.pl", "print \"Content-type: text/plain\\n\\nbefore\"; exit 1; print 'after';\n__END__\nnothing of this } is Perl\n")
	put("dies.pl", `die "with a line for the log\n";`)
	put("bad.pl", `this is no Perl at all {{{`)
	put("sees.pl", `print "Content-type: text/plain\n\n", join ' ', $0, __FILE__, __LINE__, $ENV{QUERY_STRING}, defined $conn ? 'all' : 'nothing';`)
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"exits.pl", "before", 200}, {"dies.pl", "500 Internal Server Error\n", 500}, {"bad.pl", "500 Internal Server Error\n", 500},
		{"sees.pl?a", fmt.Sprintf("%[1]s/sees.pl %[1]s/sees.pl 1 a nothing", dir), 200}, {"none.pl", "404 Not Found\n", 404}, {"count.pl", "changed 2", 200},
	} {
		if a := s.get("/perl/" + c.path); a.status != c.status || a.body != c.body {
			t.Errorf("%s: %+v", c.path, a)
		}
	}
	soon(t, "complaints are in the log", func() bool {
		log := s.log.String()
		return strings.Contains(log, "with a line for the log") && strings.Contains(log, "bad.pl line 1")
	})
}

// TestPerlSamples: the sample scripts answer as the programs do.
func TestPerlSamples(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"echo.pl", "hello.pl", "mirror.pl", "send.pl"} {
		b, err := os.ReadFile("../../../cgi/prog/" + name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(b), 0o755)
	}
	s := perlSite(t, dir, 2)
	crew(t, s, "/perl/hello.pl", api.Hello)
	for _, n := range []int{0, 10_240, 300_000, 16 << 20} {
		if a := s.get(fmt.Sprint("/perl/send.pl?size=", n)); len(a.body) != n || !strings.HasPrefix(a.body, "ABC"[:min(n, 3)]) {
			t.Errorf("%d: %d, %d bytes", n, a.status, len(a.body))
		}
	}
	if a := s.get("/perl/send.pl?size=16777217"); a.status != 400 {
		t.Errorf("%+v", a)
	}
	if body := strings.Repeat("x\r\n\x00\xff", 100_000); s.ask("POST", "/perl/mirror.pl", body).body != body {
		t.Error("a body comes back changed")
	}
	if a := s.ask("POST", "/perl/echo.pl/info?q", "body"); !strings.HasPrefix(a.body, "CONTENT_LENGTH=4\n") || !strings.Contains(a.body, "\nPATH_INFO=/info\n") || !strings.HasSuffix(a.body, "\n\nbody") {
		t.Errorf("%q", a.body)
	}
}
