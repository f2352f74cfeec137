package status

import (
	"fmt"
	"time"

	"github.com/weighstone/weighstone"
)

// A Worker is one loop, pool or process of a server in the picture.
type Worker struct {
	PID   int
	Conns [weighstone.NumStates]int64 // connections now, by state
}

// across is how many connections the picture has on a line.
const across = 64

// appendPicture appends r as text: a character for each connection, as
// mathopd's and Apache's status pages draw them.
func appendPicture(dst []byte, r Report, now time.Time) []byte {
	up := time.Duration(0)
	if !r.Started.IsZero() {
		up = now.Sub(r.Started)
	}
	dst = fmt.Appendf(dst, "weighstone %s, pid %d, up %.1f s, restarts: %d\n", r.Variant, r.PID, up.Seconds(), r.Restarts)
	dst = fmt.Appendf(dst, "accepted: %d, requests: %d, bytes sent: %d\n", r.Stats.Accepted, r.Stats.Requests, r.Stats.BytesSent)
	for state := range weighstone.ConnState(weighstone.NumStates) {
		dst = fmt.Appendf(dst, "%c %s  ", state.Mark(), state)
	}
	dst = append(dst[:len(dst)-2], '\n')
	for i, w := range r.Workers() {
		dst = fmt.Appendf(dst, "\nworker %d, pid %d\n", i+1, w.PID)
		dst = appendMarks(dst, w.Conns)
	}
	return dst
}

// appendMarks appends a character for each connection. A gauge may be seen
// below zero for a moment, between the two steps of a move.
func appendMarks(dst []byte, conns [weighstone.NumStates]int64) []byte {
	n := 0
	for state, count := range conns {
		for range count {
			dst = append(dst, weighstone.ConnState(state).Mark())
			if n++; n%across == 0 {
				dst = append(dst, '\n')
			}
		}
	}
	if n%across != 0 {
		dst = append(dst, '\n')
	}
	return dst
}
