package loop

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
)

// heldFetchers are helpers that read when they are let go: a disk that doesn't
// answer.
func heldFetchers(s *server) (letGo chan struct{}) {
	letGo = make(chan struct{})
	s.read = func(f fetch) {
		<-letGo
		f.read()
	}
	return letGo
}

// ampedSite serves a file, whose pages it drops before, at /file and a word at
// /word.
func ampedSite(t *testing.T, content []byte) *weighstone.Site {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
	site, err := weighstone.NewSite(0,
		weighstone.Route{Pattern: "/file", Methods: weighstone.GET, Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) {
			f, err := os.Open(name)
			if err == nil {
				err = f.Sync()
			}
			if err == nil {
				err = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
			}
			if err != nil {
				t.Error(err)
			}
			x.SendFile(f, 0, int64(len(content)))
		})},
		weighstone.Route{Pattern: "/word", Methods: weighstone.GET, Handler: weighstone.HandlerFunc(func(x *weighstone.Exchange) {
			x.Scratch = append(x.Scratch[:0], "word"...)
			x.SendScratch("text/plain")
		})},
	)
	if err != nil {
		t.Fatal(err)
	}
	return site
}

// run serves site until the test's end.
func run(t *testing.T, s *server, site *weighstone.Site) (addr string) {
	t.Helper()
	fd, err := sys.Listen("127.0.0.1:0", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	served := start(func() error { return s.Serve([]int{fd}, site) })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := s.Drain(ctx); err != nil {
			t.Errorf("drain: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		sys.Close(fd)
	})
	return sys.LocalAddr(fd).String()
}

func ask(t *testing.T, addr, path string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return c
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// askUntilCold asks for the file until a helper has to read it: now and then a
// disk is faster than the question.
func askUntilCold(t *testing.T, s *server, addr string) (c net.Conn) {
	t.Helper()
	await(t, "a helper is asked", func() bool {
		before := s.Stats()
		c = ask(t, addr, "/file")
		await(t, "the request is answered", func() bool { return s.Stats().Requests > before.Requests })
		time.Sleep(time.Millisecond) // for the send behind the count
		return s.Stats().Fetched > before.Fetched
	})
	return c
}

// TestFetch: while all helpers wait for a disk the loop answers others; the
// client that waits is answered when the bytes come, and one that has left
// meanwhile leaves nothing behind.
func TestFetch(t *testing.T) {
	for name, knobs := range map[string]weighstone.Knobs{
		"level": {}, "edge": {EdgeTriggered: true}, "naive": {NaiveControl: true},
	} {
		t.Run(name, func(t *testing.T) {
			knobs.Helpers = 1
			s := NewAmped(weighstone.Options{Knobs: knobs}).(*server)
			letGo := heldFetchers(s)
			content := bytes.Repeat([]byte("0123456789abcdef"), 300<<10/16)
			addr := run(t, s, ampedSite(t, content))
			waits := askUntilCold(t, s, addr)
			leaves := askUntilCold(t, s, addr)
			leaves.(*net.TCPConn).SetLinger(0)
			leaves.Close()
			if b, err := io.ReadAll(ask(t, addr, "/word")); err != nil || !bytes.HasSuffix(b, []byte("\r\n\r\nword")) {
				t.Errorf("beside a disk that doesn't answer: %q, %v", b, err)
			}
			close(letGo)
			if b, err := io.ReadAll(waits); err != nil || !bytes.HasSuffix(b, content) {
				t.Errorf("%d bytes of a reply of %d, %v", len(b), len(content), err)
			}
			await(t, "both connections are gone", func() bool {
				n := int64(0)
				for _, state := range s.Stats().Conns {
					n += state
				}
				return n == 0
			})
		})
	}
}

// TestFetchLate: a connection whose file doesn't come within the write limit is
// closed, and the read that comes later is for nothing.
func TestFetchLate(t *testing.T) {
	s := NewAmped(weighstone.Options{Limits: weighstone.Limits{Write: 50 * time.Millisecond}}).(*server)
	letGo := heldFetchers(s)
	addr := run(t, s, ampedSite(t, make([]byte, 300<<10)))
	c := askUntilCold(t, s, addr)
	if b, err := io.ReadAll(c); err == nil && len(b) >= 300<<10 {
		t.Errorf("a complete reply of %d bytes without the file", len(b))
	}
	close(letGo)
	if b, err := io.ReadAll(ask(t, addr, "/word")); err != nil || !bytes.HasSuffix(b, []byte("word")) {
		t.Errorf("afterwards: %q, %v", b, err)
	}
}
