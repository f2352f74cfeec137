package load

import "time"

// A schedule holds the requests that are not to be begun yet, the next one
// first: a binary heap. One worker owns it.
type schedule []appointment

// An appointment is a request that a client begins at a time.
type appointment struct {
	at     time.Duration // when to begin, since the start of the run
	due    time.Duration // when it should have begun, from which its sample counts; or [pumpOnly], [sip]
	client int32
	life   uint32 // of a sip: the connection's
}

func (s *schedule) push(a appointment) {
	h := append(*s, a)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].at <= h[i].at {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	*s = h
}

// pop takes the next appointment; there must be one.
func (s *schedule) pop() appointment {
	h := *s
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			break
		}
		if down+1 < last && h[down+1].at < h[down].at {
			down++
		}
		if h[i].at <= h[down].at {
			break
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
	*s = h
	return top
}
