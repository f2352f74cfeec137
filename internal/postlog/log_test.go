package postlog

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weighstone/weighstone/internal/testproc"
)

// TestMain makes this binary a writer too: it opens the log on descriptor 3 and
// appends from 16 goroutines, telling each number, until its input ends or it
// is killed.
func TestMain(m *testing.M) {
	name := os.Getenv("POSTLOG_WRITER")
	if name == "" {
		os.Exit(m.Run())
	}
	if err := write(name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(name string) error {
	l, err := Open(os.NewFile(3, "log"), false)
	if err != nil {
		return err
	}
	var over atomic.Bool
	go func() {
		bufio.NewReader(os.Stdin).ReadByte()
		over.Store(true)
	}()
	var writers sync.WaitGroup
	for g := range 16 {
		writers.Go(func() {
			for i := 0; !over.Load(); i++ {
				who := fmt.Sprintf("%s.%d.%d", name, g, i)
				n, err := l.Append(record(who))
				if err != nil {
					panic(err)
				}
				fmt.Printf("%d %s\n", n, who) // one write
			}
		})
	}
	writers.Wait()
	return l.Close()
}

// record makes a record that tells its number and who wrote it.
func record(who string) func([]byte, uint64) []byte {
	return func(dst []byte, n uint64) []byte { return fmt.Appendf(dst, "%010d %-84s\n", n, who) }
}

func newLog(t *testing.T, kind Kind, name string) (*Log, *os.File) {
	t.Helper()
	f, err := Create(kind, name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(f, kind == Synced)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); f.Close() })
	return l, f
}

// read returns who wrote each record, and fails when a number is not its place.
func read(t *testing.T, l *Log) []string {
	t.Helper()
	f, offset, length, err := l.Records()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, length)
	if _, err := f.ReadAt(b, offset); err != nil && length > 0 {
		t.Fatal(err)
	}
	var all []string
	for at := 0; at < len(b); at += RecordBytes {
		number, who, _ := strings.Cut(strings.TrimSpace(string(b[at:at+RecordBytes])), " ")
		if n, err := strconv.Atoi(number); err != nil || n != at/RecordBytes+1 {
			t.Fatalf("record %d says %q", at/RecordBytes+1, b[at:at+RecordBytes])
		}
		all = append(all, strings.TrimSpace(who))
	}
	return all
}

func TestKinds(t *testing.T) {
	for _, kind := range []Kind{Memory, File, Synced} {
		names := []string{""}
		if kind != Memory {
			names = append(names, filepath.Join(t.TempDir(), "posts"))
		}
		for _, name := range names {
			l, _ := newLog(t, kind, name)
			if f, err := l.Facts(); f != (Facts{}) || err != nil {
				t.Errorf("%s: %+v, %v", kind, f, err)
			}
			for i := range 3 {
				if n, err := l.Append(record("first")); n != uint64(i+1) || err != nil {
					t.Errorf("%s: number %d, %v", kind, n, err)
				}
			}
			if err := l.Reset(Facts{Seed: 7, Users: 8, At: 9}); err != nil {
				t.Fatal(err)
			}
			if f, _ := l.Facts(); f != (Facts{1, 7, 8, 9}) || l.Generation() != 1 {
				t.Errorf("%s: %+v", kind, f)
			}
			if n, err := l.Append(record("second")); n != 1 || err != nil {
				t.Errorf("%s: after the reset number %d, %v", kind, n, err)
			}
			if all := read(t, l); len(all) != 1 || all[0] != "second" {
				t.Errorf("%s: %q", kind, all)
			}
			if name == "" {
				continue
			}
			again, _ := newLog(t, kind, name)
			if n, err := again.Append(record("third")); n != 2 || err != nil {
				t.Errorf("%s: a log that was there goes on with %d, %v", kind, n, err)
			}
		}
	}
	if _, err := Create("tape", ""); err == nil {
		t.Error("a log of kind tape was made")
	}
}

func TestTornTailIsCut(t *testing.T) {
	l, f := newLog(t, Memory, "")
	l.Append(record("one"))
	tear := func(b string) {
		t.Helper()
		info, err := f.Stat()
		if err == nil {
			_, err = f.WriteAt([]byte(b), info.Size())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tear("half a record")
	if n, err := l.Append(record("two")); n != 2 || err != nil {
		t.Errorf("number %d, %v", n, err)
	}
	if all := read(t, l); fmt.Sprint(all) != "[one two]" {
		t.Errorf("%q", all)
	}
	tear("x")
	if all := read(t, l); len(all) != 2 {
		t.Errorf("%q", all)
	}
	if _, err := l.Append(func(dst []byte, _ uint64) []byte { return append(dst, "short"...) }); err == nil {
		t.Error("a short record was taken")
	}
	if info, err := f.Stat(); err != nil || info.Size() != 3*RecordBytes {
		t.Errorf("%v, %v", info.Size(), err)
	}
}

func TestForeignFiles(t *testing.T) {
	for name, text := range map[string]string{"short": "x", "long": strings.Repeat("not a log\n", 50)} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(File, path); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: error %v", name, err)
		}
		if b, _ := os.ReadFile(path); string(b) != text {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// A writer is another process that appends.
type writer struct {
	*testproc.Child
	told  map[string]int
	count atomic.Int64
	done  chan struct{}
}

func start(t *testing.T, f *os.File, name string) *writer {
	t.Helper()
	cmd := testproc.Self("POSTLOG_WRITER=" + name)
	cmd.ExtraFiles = []*os.File{f}
	w := &writer{Child: testproc.Start(t, cmd), told: map[string]int{}, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.Lines(func(line string) {
			n, who, _ := strings.Cut(line, " ")
			w.told[who], _ = strconv.Atoi(n)
			w.count.Add(1)
		})
	}()
	return w
}

// await waits until the writer has written so many.
func (w *writer) await(t *testing.T, n int64) {
	t.Helper()
	for end := time.Now().Add(time.Minute); w.count.Load() < n; time.Sleep(time.Millisecond) {
		select {
		case <-w.done:
			t.Fatalf("a writer ended after %d records", w.count.Load())
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("a writer has written %d records in a minute", w.count.Load())
		}
	}
}

// TestProcesses: 64 writers in 4 processes, of which one is killed in the
// middle and another replaced by its successor. No number is missing or there
// twice, and every record that somebody was told of is there.
func TestProcesses(t *testing.T) {
	l, f := newLog(t, Memory, "")
	var all []*writer
	for i := range 4 {
		all = append(all, start(t, f, strconv.Itoa(i)))
	}
	for _, w := range all {
		w.await(t, 200)
	}
	all[0].Process.Kill()
	all = append(all, start(t, f, "4")) // serves while its predecessor still does
	all[4].await(t, 100)
	all[1].Close()
	<-all[1].done
	all[4].await(t, all[4].count.Load()+200)
	for _, w := range all {
		w.Close()
		<-w.done
		w.Wait()
	}
	records := read(t, l)
	at := map[string]int{}
	for i, who := range records {
		if at[who] != 0 {
			t.Fatalf("%s is there twice: %d and %d", who, at[who], i+1)
		}
		at[who] = i + 1
	}
	told := 0
	for i, w := range all {
		for who, n := range w.told {
			if at[who] != n {
				t.Fatalf("process %d was told that %s is %d, it is %d", i, who, n, at[who])
			}
		}
		told += len(w.told)
	}
	if extra := len(records) - told; extra < 0 || extra > 16 {
		t.Errorf("%d records, %d told: only the killed process's last ones may differ", len(records), told)
	}
}

func BenchmarkAppend(b *testing.B) {
	f, err := Create(Memory, "")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	l, err := Open(f, false)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	fill := record("benchmark")
	for b.Loop() {
		if _, err := l.Append(fill); err != nil {
			b.Fatal(err)
		}
	}
}
