package tests

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAmped: a file that is not in the kernel's memory is read by a helper, and
// one that is, by the loop.
func TestAmped(t *testing.T) {
	root, file, content := coldFile(t, 300<<10)
	s := serve(t, "amped", "--root", root)
	fetched := func() int { return int(status(t, s.addr)["fetched"].(float64)) }
	ask := func() {
		t.Helper()
		if got := fetch(t, s, "GET", "/cold.bin"); got != string(content) {
			t.Fatalf("%d bytes that are not the file's %d", len(got), len(content))
		}
	}
	ask()
	// Its pages were written just now, or are being read ahead.
	eventually(t, "all of the file is in memory", func() bool {
		before := fetched()
		ask()
		return fetched() == before
	})
	// Now and then a disk has the bytes before the kernel has looked for them.
	eventually(t, "a helper reads of a cold file", func() bool {
		before := fetched()
		dropPages(t, file)
		ask()
		n := fetched() - before
		if n > 300/64+1 {
			t.Fatalf("helpers read %d times for 5 pieces", n)
		}
		return n > 0
	})
	eventually(t, "all of the file is in memory again", func() bool {
		before := fetched()
		ask()
		return fetched() == before
	})
}

// TestAmpedThreads: the thread that reads a cold file is not the one that waits
// for events and answers.
func TestAmpedThreads(t *testing.T) {
	need(t, "strace")
	root, file, content := coldFile(t, 60<<10)
	log := string(traceLog(t, "preadv2,pread64,sendto,sendmsg", func(addr string) {
		c, err := dial(addr, false)
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		for i := range 10 {
			if i < 5 {
				dropPages(t, file)
			}
			if err := c.send(get("/cold.bin")); err != nil {
				t.Fatal(err)
			}
			if _, err := c.receive(content); err != nil {
				t.Fatal(err)
			}
		}
	}, "amped", "--root", root, "--file-cache", "descriptor", "--pin")) // or the loop may change threads with a helper
	by := func(call string) (threads []string) {
		for _, m := range regexp.MustCompile(`(?m)^(\d+) +`+call).FindAllStringSubmatch(log, -1) {
			threads = append(threads, m[1])
		}
		if threads == nil {
			t.Fatalf("no %s in\n%s", call, log)
		}
		return threads
	}
	helpers := by(`pread64\(\d+<[^>]*/cold\.bin>`)
	loop := append(by(`preadv2\(.*RWF_NOWAIT\) += -1 EAGAIN`), by(`send(?:to|msg)\(\d+<TCP`)...)
	for _, thread := range loop {
		if slices.Contains(helpers, thread) {
			t.Fatalf("thread %s asks or sends, and reads the file:\n%s", thread, log)
		}
	}
	if n := strings.Count(log, "RWF_NOWAIT) = 61440"); n < 4 { // the first warm one may follow a helper's read
		t.Errorf("the loop read the warm file %d times, want at least 4:\n%s", n, log)
	}
}

// TestAmpedGoesOn: clients that share one helper for a large cold file get all of
// it, and another its answer beside them.
func TestAmpedGoesOn(t *testing.T) {
	root, file, content := coldFile(t, 8<<20)
	s := serve(t, "amped", "--root", root, "--helpers", "1")
	small := fetch(t, s, "GET", "/100.html")
	for range 3 {
		dropPages(t, file)
		conns := make([]net.Conn, 4)
		for i := range conns {
			c, err := net.Dial("tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			conns[i] = c
			fmt.Fprint(c, "GET /cold.bin HTTP/1.1\r\nHost: test.example\r\nConnection: close\r\n\r\n")
		}
		if got := fetch(t, s, "GET", "/100.html"); got != small {
			t.Errorf("%q, want %q", got, small)
		}
		for _, c := range conns {
			b, err := io.ReadAll(c)
			if err != nil || !bytes.HasSuffix(b, content) {
				t.Fatalf("%d bytes of a reply of %d, %v", len(b), len(content), err)
			}
		}
	}
}

// coldFile makes a document root with a file whose pages can be dropped: one on
// a disk, and written to it.
func coldFile(t *testing.T, size int) (root, name string, content []byte) {
	t.Helper()
	root = t.TempDir()
	var fs unix.Statfs_t
	if err := unix.Statfs(root, &fs); err != nil {
		t.Fatal(err)
	}
	if fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.OVERLAYFS_SUPER_MAGIC {
		// Of the first nothing can be dropped, and the second can't tell what it has.
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is on no disk: set TMPDIR to a directory that is", root)
		}
		t.Skipf("%s is on no disk", root)
	}
	name = filepath.Join(root, "cold.bin")
	content = bytes.Repeat([]byte("0123456789abcdef"), size/16)
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return root, name, content
}

// dropPages takes a file out of the kernel's memory (posix_fadvise(2)).
func dropPages(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil { // dirty pages are not dropped
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
}
