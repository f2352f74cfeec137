package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// What one request is, and how long the server is left alone around it, so
// that what it does for the one is told from what it does for the next.
const (
	kept   = "GET /100.html HTTP/1.1\r\nHost: weighstone\r\n\r\n"
	single = "GET /100.html HTTP/1.1\r\nHost: weighstone\r\nConnection: close\r\n\r\n"
	rest   = 150 * time.Millisecond
	rounds = 4 // the last is shown: buffers, caches and threads are there then
	limit  = 30 * time.Second
)

// A span is the time of one request, from the client's view.
type span struct{ from, to time.Time }

// capture serves by variant under strace, asks, and returns the calls of one
// request on a kept connection, if the variant keeps any, and of one on a
// connection of its own.
func capture(ctx context.Context, program, variant string, keepalive bool) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "weighstone-docs")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	log := filepath.Join(dir, "trace")
	addr, stop, err := serve(ctx, program, variant, log)
	if err != nil {
		return "", err
	}
	spans, err := askAll(addr, keepalive)
	if err := errors.Join(err, stop()); err != nil {
		return "", err
	}
	return render(variant, log, spans)
}

// A titled span is one part of a capture.
type titled struct {
	title string
	span
}

// askAll asks in each way that the variant knows.
func askAll(addr string, keepalive bool) ([]titled, error) {
	var parts []titled
	if keepalive {
		s, err := askKept(addr)
		if err != nil {
			return nil, err
		}
		parts = append(parts, titled{"kept connection", s})
	}
	s, err := askOwn(addr)
	return append(parts, titled{"connection of its own", s}), err
}

func render(variant, log string, parts []titled) (string, error) {
	trace, err := os.ReadFile(log)
	if err != nil {
		return "", err
	}
	text, err := placeless(string(trace))
	if err != nil {
		return "", err
	}
	calls, err := parse(text)
	if err != nil {
		return "", err
	}
	version, err := exec.Command("strace", "-V").Output()
	if err != nil {
		return "", err
	}
	var uts syscall.Utsname
	if err := syscall.Uname(&uts); err != nil {
		return "", err
	}
	var b strings.Builder
	first, _, _ := strings.Cut(string(version), "\n")
	fmt.Fprintf(&b, "# %s, one request for /100.html; %s\n", strings.Join(append([]string{"weighstone", "serve", variant}, sizes(variant)...), " "), first)
	for _, part := range parts {
		in, futexes := within(calls, part.from, part.to)
		if len(in) == 0 {
			return "", fmt.Errorf("no call in the time of the request on a %s", part.title)
		}
		fmt.Fprintf(&b, "\n== %s\n%s", part.title, show(in))
		if futexes > 0 {
			fmt.Fprintf(&b, "(and futex %d times)\n", futexes)
		}
	}
	return b.String(), nil
}

var readyLine = regexp.MustCompile(`^weighstone \S+ ready http://(\S+) pid (\d+)\n$`)

// sizes are the flags by which a variant has as few workers as it can, and
// starts no other meanwhile; and what it takes to see what it is about.
func sizes(variant string) []string {
	switch variant {
	case "prefork": // two, since a kept connection holds one
		return []string{"--workers", "2", "--max-workers", "2"}
	case "fork", "inetd":
		return nil
	}
	if variant == "amped" { // or a file would be in the program's memory, not the kernel's
		return []string{"--workers", "1", "--file-cache", "descriptor"}
	}
	return []string{"--workers", "1"}
}

// serve starts the server under strace. stop drains it.
func serve(ctx context.Context, program, variant, log string) (addr string, stop func() error, err error) {
	args := []string{"-f", "-qq", "-yy", "-ttt", "-T", "-s", "24", "-o", log, program, "serve", variant, "--addr", "127.0.0.1:0"}
	cmd := exec.CommandContext(ctx, "strace", append(args, sizes(variant)...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	m := readyLine.FindStringSubmatch(line)
	if m == nil {
		cmd.Process.Kill()
		return "", nil, errors.Join(fmt.Errorf("the server said %q", line), err, cmd.Wait())
	}
	var pid int
	fmt.Sscan(m[2], &pid)
	return m[1], func() error {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			return err
		}
		return cmd.Wait()
	}, nil
}

// askKept asks several times on one connection, and returns the time of the
// last: from when all was done for the one before.
func askKept(addr string) (span, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return span{}, err
	}
	defer conn.Close()
	r := bufio.NewReader(conn)
	var last span
	for range rounds {
		last.from = time.Now()
		if err := ask(conn, r, kept); err != nil {
			return span{}, err
		}
		time.Sleep(rest)
		last.to = time.Now()
	}
	return last, nil
}

// askOwn asks several times on connections of their own.
func askOwn(addr string) (span, error) {
	var last span
	for range rounds {
		time.Sleep(rest)
		last.from = time.Now()
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return span{}, err
		}
		err = ask(conn, bufio.NewReader(conn), single)
		conn.Close()
		if err != nil {
			return span{}, err
		}
		time.Sleep(rest)
		last.to = time.Now()
	}
	return last, nil
}

func ask(conn net.Conn, r *bufio.Reader, request string) error {
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return err
	}
	reply, err := http.ReadResponse(r, nil)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if _, err := io.Copy(io.Discard, reply.Body); err != nil {
		return err
	}
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %s", reply.Status)
	}
	return nil
}
