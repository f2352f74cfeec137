package bench

import "time"

// A Sample is one exchange as the client saw it: plain data, filled by the
// worker that carried it, counted by a tally, then used again.
//
// Its times run from Due, the moment the request should have left, so that a
// generator or a connection that was late cannot flatter a slow server. In a
// closed loop Started is next to nothing.
type Sample struct {
	Due       time.Duration // since the start of the run
	Ready     time.Duration // since Due: when a connection's turn had come for it; zero if it was waiting for the request
	Started   time.Duration // since Due: when the client got to it
	Connected time.Duration // since Due; zero on a connection that was used before
	Sent      time.Duration // since Due: the request's last byte went to the kernel
	First     time.Duration // since Due: the reply's first byte came; zero if none did
	Last      time.Duration // since Due: the reply's last byte came, or the fault was seen
	BytesIn   int64         // head and body as read, framing included
	Body      int64         // the body alone, without framing
	Status    uint16        // zero when no head was complete
	Class     uint16        // an index into the plan's [Class] list
	Fault     Fault
}

// Ended is when the exchange was over, since the start of the run.
func (s *Sample) Ended() time.Duration { return s.Due + s.Last }

// Service is the time from the start of the work to the last byte: what a
// closed-loop tool calls latency.
func (s *Sample) Service() time.Duration { return s.Last - s.Started }

// Lag is how much later than it could the client began: its own fault.
func (s *Sample) Lag() time.Duration { return s.Started - s.Ready }
