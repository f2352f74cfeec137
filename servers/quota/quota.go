// Package quota bounds how many connections one client address has.
package quota

import (
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// A Quota counts the connections of each client address of one server. A nil
// one bounds nothing. Its methods may be called by many goroutines.
type Quota struct {
	max int
	log *slog.Logger
	now func() time.Time

	mu      sync.Mutex
	conns   map[netip.Addr]int
	refused int       // since it was last logged
	said    time.Time // when it was last logged
}

// New makes a quota of so many connections for an address; nil for 0. What is
// refused is told to log, once a second at most.
func New(most int, log *slog.Logger) *Quota {
	if most <= 0 {
		return nil
	}
	return &Quota{max: most, log: log, now: time.Now, conns: map[netip.Addr]int{}}
}

// Take counts a connection from addr, which Give takes back, and says whether
// it is within the bound. If not, it is not counted and is to be closed.
func (q *Quota) Take(addr netip.Addr) bool {
	if q == nil {
		return true
	}
	addr = addr.Unmap()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.conns[addr] < q.max {
		q.conns[addr]++
		return true
	}
	q.refused++
	if now := q.now(); now.Sub(q.said) >= time.Second {
		q.log.Warn("connections refused: their address has as many as it may", "last", addr, "bound", q.max, "refused", q.refused)
		q.said, q.refused = now, 0
	}
	return false
}

// Give says that a connection from addr that was within the bound has ended.
func (q *Quota) Give(addr netip.Addr) {
	if q == nil {
		return
	}
	addr = addr.Unmap()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.conns[addr]--; q.conns[addr] <= 0 {
		delete(q.conns, addr)
	}
}
