package weighstone

import "sync/atomic"

// A ConnState is where a connection stands. It is in exactly one.
type ConnState uint8

// The states of a connection, with the character that draws each.
const (
	StateIdle    ConnState = iota // '.' kept alive, no byte of a next request
	StateHead                     // 'r' accepted or reading a head
	StateBody                     // 'b' reading a body
	StateHandler                  // 'h' with a handler that may wait
	StateWrite                    // 'w' writing a reply that the socket did not take at once
	StateLinger                   // 'l' closed by us, reading the rest
	NumStates    = iota
)

// String names the state as /server-status does.
func (s ConnState) String() string {
	return [...]string{"idle", "head", "body", "handler", "write", "linger"}[s]
}

// Mark is the character that draws a connection in this state.
func (s ConnState) Mark() byte { return ".rbhwl"[s] }

// A Slot is where one worker counts: atomics alone, so that it can lie in
// memory shared between processes, padded so that two workers never share a
// cache line. A slot has one worker in a loop, many goroutines elsewhere.
type Slot struct {
	Conns     [NumStates]atomic.Int64 // connections now, by state
	Accepted  atomic.Uint64           // connections ever
	Refused   atomic.Uint64           // connections closed at accept: their address had its number
	Requests  atomic.Uint64           // requests answered, whatever the answer
	Cached    atomic.Uint64           // of these, those answered from a cache of replies
	Fetched   atomic.Uint64           // reads that helpers made of files, since the bytes were not in memory
	Responses [6]atomic.Uint64        // by hundreds of the status: [2] is 2xx
	BytesSent atomic.Uint64           // head and body, in bytes
	Waits     atomic.Uint64           // returns of a loop's wait; 0 where there is no loop
	Events    atomic.Uint64           // what those waits reported
	_         [64]byte
}

// Move counts a connection from one state to another.
func (s *Slot) Move(from, to ConnState) {
	if from != to {
		s.Conns[from].Add(-1)
		s.Conns[to].Add(1)
	}
}

// Answered counts a reply of this status, and the bytes that it took so far.
func (s *Slot) Answered(status int, bytes int64) {
	s.Requests.Add(1)
	if class := status / 100; class < len(s.Responses) {
		s.Responses[class].Add(1)
	}
	if bytes != 0 {
		s.BytesSent.Add(uint64(bytes))
	}
}

// Waited counts a return of a loop's wait that reported so many events.
func (s *Slot) Waited(events int) {
	s.Waits.Add(1)
	s.Events.Add(uint64(events))
}

// Sent counts n bytes written to clients, in engines that learn of them apart.
func (s *Slot) Sent(n int) { s.BytesSent.Add(uint64(n)) }

// Stats are a server's counters at one moment.
type Stats struct {
	Conns     [NumStates]int64
	Accepted  uint64
	Refused   uint64
	Requests  uint64
	Cached    uint64
	Fetched   uint64
	Responses [6]uint64 // by hundreds of the status
	BytesSent uint64
	Waits     uint64 // of the loops, 0 without one
	Events    uint64
	Workers   int
}

// Sum adds up the counters of slots.
func Sum(slots []*Slot) Stats {
	st := Stats{Workers: len(slots)}
	for _, s := range slots {
		for i := range s.Conns {
			st.Conns[i] += s.Conns[i].Load()
		}
		st.Accepted += s.Accepted.Load()
		st.Refused += s.Refused.Load()
		st.Requests += s.Requests.Load()
		st.Cached += s.Cached.Load()
		st.Fetched += s.Fetched.Load()
		for i := range s.Responses {
			st.Responses[i] += s.Responses[i].Load()
		}
		st.BytesSent += s.BytesSent.Load()
		st.Waits += s.Waits.Load()
		st.Events += s.Events.Load()
	}
	return st
}
