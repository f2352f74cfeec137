package gateway

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
)

// A Host is what the exchanges of a gateway have in common.
type Host struct {
	Kind string // of the gateway, in the log: "CGI"
	Log  *slog.Logger
	// Site returns the site that answers local redirects, usually the one
	// that holds the gateway; nil answers them with 500.
	Site func() *weighstone.Site

	buffers sync.Pool // *[]byte
}

// NewHost makes a Host. A nil log discards.
func NewHost(kind string, log *slog.Logger, site func() *weighstone.Site) *Host {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Host{Kind: kind, Log: log, Site: site, buffers: sync.Pool{New: func() any {
		b := make([]byte, 0, 4<<10)
		return &b
	}}}
}

// complain logs what became of a reply. What the client has brought about
// itself, by a body that breaks off or by leaving, is no fault of a program's,
// and anybody could fill the log with it.
func (h *Host) complain(what string, err error, args ...any) {
	level := slog.LevelError
	if cgi.OfBody(err) || errors.Is(err, ErrGone) {
		level = slog.LevelDebug
	}
	h.Log.Log(context.Background(), level, h.Kind+what, args...)
}

const (
	// Prompt is for how long output waits for more, so that a small reply
	// leaves whole, with its length; and how long a program runs before
	// goroutines watch over it.
	Prompt = 100 * time.Millisecond
	// Leave is for how long a program may be silent once its client is gone.
	// A client that has only closed its sending side still gets a reply made
	// in that time.
	Leave = 2 * time.Second
	// MaxMemory is how many bytes of a chunked body, and of a reply's body,
	// are held in memory.
	MaxMemory = 64 << 10
)

// Never is the deadline of a read that waits.
var Never time.Time

// Why a program's output can end before its end.
var (
	ErrPause  = errors.New("output pauses") // it may go on
	ErrLimit  = errors.New("time limit reached")
	ErrGone   = errors.New("client gone")
	ErrClosed = errors.New("reply not wanted any more")
	ErrShort  = errors.New("output is shorter than its Content-Length")
	ErrBroken = errors.New("program broke off") // wrapped by how
	ErrBusy   = errors.New("program has no room for the request")
	ErrLater  = errors.New("output would have to be waited for") // says an Output that must not wait
	ErrStuck  = errors.New("output needs somebody who can wait") // likewise
)

// An Output is what a program at work says. The goroutine of the exchange
// calls the methods, one at a time, but for Kill.
type Output interface {
	// Read reads output. Errors are io.EOF at the end of output that may be
	// whole, ErrPause at the time set by PauseAt, or why it broke off.
	Read(p []byte) (int, error)
	// PauseAt sets when Read gives up for the moment, Never for not at all.
	PauseAt(t time.Time)
	// Watch is called, once at most, when the program takes longer than a
	// moment: from then on its limits are watched.
	Watch()
	// End judges output that is at its end: it returns nil if it is whole.
	End() error
	// Status returns the program's exit status, as far as it is known.
	Status() int
	// Kill breaks the program off because of cause. Any goroutine may call
	// it, and more than once.
	Kill(cause error)
	// Detach says that the exchange waits for the program no more. It may be
	// called more than once.
	Detach()
	// Free gives back what is held, after the last Read.
	Free()
}
