// Package accesslog writes the common or the combined log format of NCSA httpd,
// a line for each answered request.
package accesslog

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/weighstone/weighstone"
)

// Options say what a log is like.
type Options struct {
	// Name is of the file, which is made if there is none; "-" means stderr.
	Name string

	// Combined adds Referer and User-Agent to each line.
	Combined bool

	// Buffer is how many bytes of lines wait to be written together: when a
	// line does not fit, the worker that has it writes out what is there. 0
	// means 64 KiB, at 80 bytes a line one write in 800 requests; negative
	// none, a write for each line.
	Buffer int
}

const bufferSize = 64 << 10

// flushEvery is how old a line can get before it is written.
const flushEvery = time.Second

// atomic is how many bytes a pipe takes in one piece (PIPE_BUF, pipe(7)).
const atomic = 4096

// A Log collects lines and writes them out each second, when its buffer is
// full and at the end, always whole lines with one call to a file opened for
// appending: so two processes can share a file and no line is torn. Standard
// error may be a pipe, which tears what is longer than PIPE_BUF: it gets whole
// lines by calls of no more, and lines of no more ([appendLine]). It
// implements [weighstone.AccessLog] and lives until [Log.Close].
type Log struct {
	name     string // empty when out is not ours to reopen
	combined bool
	room     int // bytes of lines that may wait
	limit    int // bytes of a line and of a write; 0 for any
	log      *slog.Logger
	now      func() time.Time

	mu      sync.Mutex
	out     io.Writer
	buf     []byte
	pending int    // lines in buf
	lost    uint64 // lines that could not be written
	failing bool   // the last write failed, and that has been said
	stamp   stamp

	stop chan struct{}
	done chan struct{}
}

// Open appends to the file of the options, or to stderr. What goes wrong later
// is told to log.
func Open(o Options, stderr io.Writer, log *slog.Logger) (*Log, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	room := max(o.Buffer, 0)
	if o.Buffer == 0 {
		room = bufferSize
	}
	l := &Log{combined: o.Combined, room: room, log: log, now: time.Now, out: stderr, buf: make([]byte, 0, room), stop: make(chan struct{}), done: make(chan struct{})}
	if o.Name == "-" {
		l.limit = atomic
	} else {
		f, err := openFile(o.Name)
		if err != nil {
			return nil, fmt.Errorf("open access log: %w", err)
		}
		l.name, l.out = o.Name, f
	}
	go l.flushInTime()
	return l, nil
}

func openFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
}

// Exchange adds the line for x. It allocates nothing once the buffer exists.
func (l *Log) Exchange(x *weighstone.Exchange, status int, sent int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	start := len(l.buf)
	l.buf = appendLine(l.buf, &x.In, l.stamp.at(l.now()), status, sent, l.combined, l.limit)
	l.pending++
	switch {
	case len(l.buf) <= l.room:
		return
	case l.room == 0:
		l.flush()
		return
	case start == 0:
		return
	}
	// The new line stays behind, so that the buffer seldom grows.
	l.pending--
	l.write(l.buf[:start])
	l.buf = append(l.buf[:0], l.buf[start:]...)
	l.pending = 1
}

// flush writes out what is there; l.mu is held.
func (l *Log) flush() {
	if len(l.buf) > 0 {
		l.write(l.buf)
		l.buf = l.buf[:0]
		l.pending = 0
	}
}

// write passes b, the pending lines, on; l.mu is held. Lines that can't be
// written are counted: a full disk must not stop the server.
func (l *Log) write(b []byte) {
	err := l.pass(b)
	switch {
	case err != nil:
		l.lost += uint64(l.pending)
		if !l.failing {
			l.log.Error("the access log loses lines", "error", err)
		}
		l.failing = true
	case l.failing:
		l.log.Info("the access log can be written again", "lines_lost", l.lost)
		l.failing = false
	}
}

// pass writes whole lines, no more than l.limit bytes at a time.
func (l *Log) pass(b []byte) error {
	for l.limit > 0 && len(b) > l.limit {
		n := bytes.LastIndexByte(b[:l.limit], '\n') + 1
		if _, err := l.out.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	_, err := l.out.Write(b)
	return err
}

func (l *Log) flushInTime() {
	defer close(l.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.Flush()
		case <-l.stop:
			return
		}
	}
}

// Flush writes out what is there, for a process that is about to be another
// program.
func (l *Log) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
}

// Reopen writes out what is there and opens the file by its name again, for
// whoever has renamed it. When that fails the old file stays in use.
func (l *Log) Reopen() error {
	if l.name == "" {
		return nil
	}
	// Under the lock, so that no line goes to the old file once the new one is
	// there to be seen.
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := openFile(l.name)
	if err != nil {
		return fmt.Errorf("reopen access log: %w", err)
	}
	l.flush()
	old := l.out
	l.out = f
	if err := old.(*os.File).Close(); err != nil {
		return fmt.Errorf("close the old access log: %w", err)
	}
	return nil
}

// Close writes out what is there and closes the file. No exchange may be
// recorded afterwards. The error says how many lines were lost, if any.
func (l *Log) Close() error {
	close(l.stop)
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	if f, ok := l.out.(*os.File); ok && l.name != "" {
		if err := f.Close(); err != nil {
			return fmt.Errorf("close access log: %w", err)
		}
	}
	if l.lost > 0 {
		return fmt.Errorf("the access log has lost %d lines", l.lost)
	}
	return nil
}
