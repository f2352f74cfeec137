package cgi

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

func TestBody(t *testing.T) {
	h := newHost(t, Options{})
	h.script("cat", `printf 'Content-Type: a/b\n\n'; echo "[$CONTENT_LENGTH]"; cat`)
	for _, n := range []int{1, 1000, 64 << 10, 1 << 20} {
		body := strings.Repeat("0123456789", n/10+1)[:n]
		for _, chunked := range []bool{false, true} {
			c := call{method: "POST", target: "/cgi-bin/cat", body: iotest.HalfReader(strings.NewReader(body)), length: int64(n)}
			if chunked {
				c.length = -1
			}
			a := h.do(c)
			head, rest, _ := strings.Cut(a.body, "\n")
			if want := "[" + strconv.Itoa(n) + "]"; a.status != 200 || a.broken != nil || head != want || rest != body {
				t.Errorf("%d bytes, chunked %v: %d, %s, %d bytes, broken %v", n, chunked, a.status, head, len(rest), a.broken)
			}
			if a.close && !a.stream {
				t.Errorf("%d bytes, chunked %v: closes, though all was read", n, chunked)
			}
		}
	}
	if a := h.post("cat", ""); a.body != "[]\n" {
		t.Errorf("empty body: %q", a.body)
	}
	if a := h.get("cat"); a.body != "[]\n" {
		t.Errorf("no body: %q", a.body)
	}
}

// TestBothWays: a program that writes much before it reads much is not stuck.
func TestBothWays(t *testing.T) {
	h := newHost(t, Options{})
	h.script("both", `printf 'Content-Type: a/b\n\n'; head -c 1000000 /dev/zero; wc -c`)
	a := h.post("both", strings.Repeat("x", 1000000))
	if a.broken != nil || len(a.body) < 1000000 || strings.TrimSpace(a.body[1000000:]) != "1000000" {
		t.Errorf("%d bytes, broken %v", len(a.body), a.broken)
	}
}

// A stalled body gives some bytes and then waits for its end.
type stalled struct {
	first io.Reader
	over  chan struct{}
}

func (s *stalled) Read(p []byte) (int, error) {
	if n, err := s.first.Read(p); err == nil {
		return n, nil
	}
	<-s.over
	return 0, os.ErrDeadlineExceeded
}

// An interruptible one can be told to stop.
type interruptible struct {
	stalled
	once sync.Once
}

func (i *interruptible) Interrupt() { i.once.Do(func() { close(i.over) }) }

// TestUnwantedUpload: a program that does not read is answered at once,
// however slowly its body comes.
func TestUnwantedUpload(t *testing.T) {
	h := newHost(t, Options{})
	h.script("deaf", `printf 'Content-Type: a/b\n\nhello'`)

	body := &interruptible{stalled: stalled{strings.NewReader("begin"), make(chan struct{})}}
	a := h.do(call{method: "POST", target: "/cgi-bin/deaf", body: body, length: 1 << 20})
	if a.status != 200 || a.body != "hello" || !a.close || a.stream {
		t.Errorf("%+v, want a reply that closes", a)
	}

	over := make(chan struct{})
	x := h.begin(call{method: "POST", target: "/cgi-bin/deaf", body: &stalled{strings.NewReader("begin"), over}, length: 1 << 20})
	// The end of the program may or may not be seen before its body's.
	got, err := x.Scratch, error(nil)
	if x.Out.Body.Stream != nil {
		got, err = io.ReadAll(x.Out.Body.Stream)
	}
	if string(got) != "hello" || err != nil || !x.Out.Close || x.Out.Body.Length != 5 {
		t.Errorf("%q, error %v, close %v", got, err, x.Out.Close)
	}
	close(over) // the engine's time limit for bodies
	x.Out.Body.Close()
}

type engineError struct{ error }

func (engineError) Status() int { return 413 }

// TestBrokenBody: a program never takes a part of a body for the whole, and
// the client learns what was wrong.
func TestBrokenBody(t *testing.T) {
	h := newHost(t, Options{})
	h.script("slow", `cat >/dev/null; printf 'Content-Type: a/b\n\ndone'; sleep 60`)
	for _, c := range []struct {
		err    error
		length int64
		status int
	}{
		{io.ErrUnexpectedEOF, 1000, 400},
		{io.EOF, 1000, 400},
		{os.ErrDeadlineExceeded, 1000, 408},
		{engineError{errors.New("too large")}, 1000, 413},
		{engineError{errors.New("too large")}, -1, 413},
		{errors.New("bad chunk"), -1, 400},
	} {
		a := h.do(call{method: "POST", target: "/cgi-bin/slow", body: io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(c.err)), length: c.length})
		if a.status != c.status || !a.close {
			t.Errorf("%v, length %d: status %d, close %v; want %d", c.err, c.length, a.status, a.close, c.status)
		}
	}
	if log := h.log.String(); log != "" {
		t.Errorf("what clients did wrong fills the log: %s", log)
	}
}

// TestBrokenBodyBreaksStream: so it is when the reply has begun.
func TestBrokenBodyBreaksStream(t *testing.T) {
	h := newHost(t, Options{})
	h.script("early", `printf 'Content-Type: a/b\n\nbegun\n'; cat; echo done`)
	body, feed := io.Pipe()
	x := h.begin(call{method: "POST", target: "/cgi-bin/early", body: body, length: 1000})
	feed.CloseWithError(io.ErrUnexpectedEOF)
	got, err := io.ReadAll(x.Out.Body.Stream)
	if err == nil || strings.Contains(string(got), "done") {
		t.Errorf("%q, error %v; want it broken", got, err)
	}
	x.Out.Body.Close()
}

// TestStreamsBothWays: a reply streams while its request still comes.
func TestStreamsBothWays(t *testing.T) {
	h := newHost(t, Options{})
	h.script("cat", `printf 'Content-Type: a/b\n\n'; cat`)
	body, feed := io.Pipe()
	go func() {
		feed.Write([]byte("one"))
	}()
	x := h.begin(call{method: "POST", target: "/cgi-bin/cat", body: body, length: 6})
	if !x.Out.Close {
		t.Error("keeps a connection whose request has not ended")
	}
	b := make([]byte, 10)
	n, err := io.ReadAtLeast(x.Out.Body.Stream, b, 3)
	if string(b[:n]) != "one" || err != nil {
		t.Errorf("%q, error %v", b[:n], err)
	}
	go feed.Write([]byte("two"))
	if rest, err := io.ReadAll(x.Out.Body.Stream); string(rest) != "two" || err != nil {
		t.Errorf("%q, error %v", rest, err)
	}
	x.Out.Body.Close()
	feed.Close()
}
