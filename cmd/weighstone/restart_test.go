package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone/fixtures"
	"github.com/weighstone/weighstone/servers"
)

// TestRestartUnderLoad restarts every variant again and again under clients
// that never try twice, and with exchanges in every stage held across each
// restart. Nothing may be lost.
func TestRestartUnderLoad(t *testing.T) {
	times := 3
	if os.Getenv("CI") == "true" {
		times = 10
	}
	if os.Getenv("WEIGHSTONE_SOAK") != "" {
		times = 50
	}
	content := filepath.Join(t.TempDir(), "fixtures")
	if err := fixtures.Write(content); err != nil {
		t.Fatal(err)
	}
	for _, v := range servers.All() {
		t.Run(v.Name, func(t *testing.T) {
			s := startRestartable(t, v.Name, content)
			stop := s.keepAsking()
			for range times {
				s.restartHolding(t)
			}
			for what, n := range stop() {
				t.Logf("%s: %d replies", what, n)
				if n == 0 {
					t.Errorf("%s: none was answered", what)
				}
			}
			s.end(t)
		})
	}
}

// A restartable is a line of server processes with one address.
type restartable struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	addr string
	pid  int
	said chan string // ready lines
}

func startRestartable(t *testing.T, variant, content string) *restartable {
	t.Helper()
	path, err := exec.LookPath("weighstone") // this test binary
	if err != nil {
		t.Fatal(err)
	}
	s := &restartable{t: t, dir: t.TempDir(), said: make(chan string, 100)}
	s.writeProgram()
	s.cmd = exec.Command(path, "serve", variant, "--addr", "127.0.0.1:0", "--workers", "2",
		"--fixtures", content, "--cgi-bin", filepath.Join(s.dir, "programs"), "--drain", "60s")
	errs, err := os.Create(filepath.Join(s.dir, "err"))
	if err != nil {
		t.Fatal(err)
	}
	defer errs.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stdout, s.cmd.Stderr = w, errs
	err = s.cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.said)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			s.said <- lines.Text()
		}
		r.Close()
	}()
	t.Cleanup(func() {
		if s.pid != 0 {
			syscall.Kill(s.pid, syscall.SIGKILL)
		}
		s.cmd.Process.Kill()
		s.cmd.Wait()
		for range s.said {
		}
	})
	s.awaitReady()
	return s
}

// writeProgram makes the CGI program that waits for a file named as its query.
func (s *restartable) writeProgram() {
	const program = "#!/bin/sh\n" +
		"until [ -e \"../$QUERY_STRING\" ]; do sleep 0.01; done\n" +
		"echo Content-Type: text/plain; echo; echo waited\n"
	if err := os.Mkdir(filepath.Join(s.dir, "programs"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "programs", "wait"), []byte(program), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// awaitReady reads the next ready line.
func (s *restartable) awaitReady() {
	s.t.Helper()
	select {
	case line := <-s.said:
		m := readyLine.FindStringSubmatch(line)
		if m == nil {
			s.t.Fatalf("server said %q; stderr:\n%s", line, s.errors())
		}
		s.addr = strings.TrimPrefix(m[1], "http://")
		s.pid, _ = strconv.Atoi(m[2])
	case <-time.After(patience):
		s.t.Fatalf("no ready line; stderr:\n%s", s.errors())
	}
}

func (s *restartable) errors() string {
	b, err := os.ReadFile(filepath.Join(s.dir, "err"))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// restartHolding restarts the server with exchanges in every stage under way,
// and finishes them when the successor serves.
func (s *restartable) restartHolding(t *testing.T) {
	t.Helper()
	old := s.pid
	flag := fmt.Sprintf("go%d", old)
	half := s.begin(t, "GET /100.html HTTP/1.1\r\nHost: a\r\nX-Ha")
	body := s.begin(t, "GET /silicon-surf/file200k.html HTTP/1.1\r\nHost: a\r\n\r\n")
	begun := make([]byte, 10<<10)
	if _, err := io.ReadFull(body, begun); err != nil {
		t.Fatalf("begin a long reply: %v", err)
	}
	program := s.begin(t, "GET /cgi-bin/wait?"+flag+" HTTP/1.1\r\nHost: a\r\n\r\n")

	// A stopped server leaves new connections in the queue. The signals come
	// when it goes on.
	syscall.Kill(old, syscall.SIGSTOP)
	var queued []net.Conn
	for range 20 {
		queued = append(queued, s.begin(t, "GET /api/hello HTTP/1.1\r\nHost: a\r\n\r\n"))
	}
	syscall.Kill(old, syscall.SIGHUP)
	syscall.Kill(old, syscall.SIGCONT)
	s.awaitReady()
	if s.pid == old {
		t.Fatalf("process %d is ready again", old)
	}

	if err := os.WriteFile(filepath.Join(s.dir, flag), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(half, "lf: 1\r\n\r\n"); err != nil {
		t.Errorf("the second half of a request: %v", err)
	}
	finish(t, "half-sent request", half, nil, 100)
	finish(t, "half-read reply", body, begun, 200<<10)
	finish(t, "CGI in flight", program, nil, len("waited\n"))
	for i, c := range queued {
		finish(t, fmt.Sprintf("connection %d of the queue", i), c, nil, 77)
	}
	s.awaitEnd(old)
}

// begin opens a connection with a small window and sends text.
func (s *restartable) begin(t *testing.T, text string) net.Conn {
	t.Helper()
	d := net.Dialer{Timeout: patience, Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10) })
	}}
	c, err := d.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// finish reads a reply, of which there is a beginning already, and closes.
func finish(t *testing.T, what string, c net.Conn, begun []byte, size int) {
	t.Helper()
	defer c.Close()
	resp, err := http.ReadResponse(bufio.NewReader(io.MultiReader(bytes.NewReader(begun), c)), nil)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || n != int64(size) {
		t.Errorf("%s: status %d, %d bytes of %d, %v", what, resp.StatusCode, n, size, err)
	}
}

// awaitEnd waits until a process has ended.
func (s *restartable) awaitEnd(pid int) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("process %d never ended; stderr:\n%s", pid, s.errors())
		}
	}
}

// keepAsking starts the clients that never try twice. What it returns stops
// them and says how many replies each kind got.
func (s *restartable) keepAsking() (stop func() map[string]uint64) {
	var done atomic.Bool
	var wg sync.WaitGroup
	kinds := []struct {
		name, path string
		keep       bool
		count      atomic.Uint64
	}{
		{name: "kept connections", path: "/100.html", keep: true},
		{name: "kept connections, in process", path: "/api/send?size=3000", keep: true},
		{name: "a connection a request", path: "/index.html"},
	}
	addr := s.addr
	for i := range kinds {
		k := &kinds[i]
		for range 2 {
			wg.Go(func() {
				for !done.Load() {
					n, err := converse(addr, k.path, k.keep, &done)
					k.count.Add(n)
					if err != nil {
						s.t.Errorf("%s: a reply was lost: %v", k.name, err)
						return
					}
				}
			})
		}
	}
	return func() map[string]uint64 {
		done.Store(true)
		wg.Wait()
		counts := map[string]uint64{}
		for i := range kinds {
			counts[kinds[i].name] = kinds[i].count.Load()
		}
		return counts
	}
}

// converse asks over one connection until the server announces its end, and
// returns how many replies there were.
func converse(addr, path string, keep bool, done *atomic.Bool) (n uint64, err error) {
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	r := bufio.NewReader(c)
	request := "GET " + path + " HTTP/1.1\r\nHost: a\r\n"
	if !keep {
		request += "Connection: close\r\n"
	}
	for !done.Load() {
		c.SetDeadline(time.Now().Add(patience))
		if _, err := io.WriteString(c, request+"\r\n"); err != nil {
			return n, fmt.Errorf("after %d: send: %w", n, err)
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			return n, fmt.Errorf("after %d: head: %w", n, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return n, fmt.Errorf("after %d: body: %w", n, err)
		}
		if resp.StatusCode != http.StatusOK {
			return n, fmt.Errorf("after %d: status %d", n, resp.StatusCode)
		}
		n++
		if resp.Close {
			return n, nil
		}
	}
	return n, nil
}

// end stops the last process, and sees that none had anything to complain of.
func (s *restartable) end(t *testing.T) {
	t.Helper()
	syscall.Kill(s.pid, syscall.SIGTERM)
	s.awaitEnd(s.pid)
	s.pid = 0
	s.cmd.Wait()
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the first process ended with %d", code)
	}
	if said := s.errors(); strings.Contains(said, "level=WARN") || strings.Contains(said, "level=ERROR") || strings.Contains(said, "weighstone:") {
		t.Errorf("the servers said:\n%s", said)
	}
}
