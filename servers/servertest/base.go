package servertest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A Base is what a process held before a server was started in it.
type Base struct {
	t          testing.TB
	goroutines goleak.Option
	files      map[string]string
	children   string
}

// NewBase looks at what this process holds.
func NewBase(t testing.TB) *Base {
	return &Base{t: t, goroutines: goleak.IgnoreCurrent(), files: openFiles(t), children: children(t)}
}

// settling is how long goroutines and descriptors may take to go.
const settling = 5 * time.Second

// Check fails the test when the process holds more than it did, and goes on
// doing so.
func (b *Base) Check() {
	b.t.Helper()
	options := append(libraryGoroutines(), b.goroutines)
	if err := goleak.Find(options...); err != nil {
		b.t.Errorf("goroutines are left: %v", err)
	}
	for end := time.Now().Add(settling); ; time.Sleep(5 * time.Millisecond) {
		left := b.left()
		if left == "" {
			return
		}
		if time.Now().After(end) {
			b.t.Error(left)
			return
		}
	}
}

// left describes the descriptors and children that are more than before.
func (b *Base) left() string {
	var more []string
	for fd, name := range openFiles(b.t) {
		if b.files[fd] != name {
			more = append(more, fd+" "+name)
		}
	}
	sort.Strings(more)
	if len(more) > 0 {
		return fmt.Sprintf("descriptors are left: %s", strings.Join(more, ", "))
	}
	if now := children(b.t); now != b.children {
		return fmt.Sprintf("children are left: %q, before: %q", now, b.children)
	}
	return ""
}

// libraryGoroutines are those that the libraries start once in a process and
// never end.
func libraryGoroutines() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/gofiber/fiber/v2/utils.StartTimeStampUpdater.func1.1"),
	}
}

// openFiles lists the descriptors of this process with what they are. The
// runtime's own poller, opened once, is left out.
func openFiles(t testing.TB) map[string]string {
	t.Helper()
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		name, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err == nil { // the descriptor of the listing itself is gone by now
			files[e.Name()] = name
		}
	}
	return files
}

// children lists the process ids of this process's children, zombies among
// them.
func children(t testing.TB) string {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for _, list := range lists {
		b, err := os.ReadFile(list)
		if err == nil { // else the thread has ended
			all = append(all, bytes.Fields(b)...)
		}
	}
	sort.Slice(all, func(i, j int) bool { return bytes.Compare(all[i], all[j]) < 0 })
	return string(bytes.Join(all, []byte(" ")))
}
