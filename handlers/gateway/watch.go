package gateway

import (
	"sync/atomic"
	"time"
)

// A Watch is what breaks off a program that takes its time.
type Watch struct {
	Limit    time.Time
	Gone     <-chan struct{} // closed when the client has left; nil when that can't be known
	Detached <-chan struct{} // closed when Gone has no meaning any more
	Progress *atomic.Uint64  // counts what came of the program
	Kill     func(cause error)
}

// Until watches until ended is closed, and brings the end about by Kill when
// the time limit is reached, or when the client is gone and the program
// silent.
func (w Watch) Until(ended <-chan struct{}) {
	limit := time.NewTimer(time.Until(w.Limit))
	defer limit.Stop()
	quiet := time.NewTimer(time.Hour)
	defer quiet.Stop()
	gone, detached, seen := w.Gone, w.Detached, uint64(0)
	for {
		select {
		case <-ended:
			return
		case <-limit.C:
			w.Kill(ErrLimit)
		case <-detached: // the channel of the client may come to mean another exchange
			detached, gone = nil, nil
			quiet.Stop()
		case <-gone:
			gone = nil
			seen = w.Progress.Load()
			quiet.Reset(Leave)
		case <-quiet.C:
			if now := w.Progress.Load(); now != seen {
				seen = now
				quiet.Reset(Leave)
			} else {
				w.Kill(ErrGone)
			}
		}
	}
}
