package load

import "sync/atomic"

// A budget is how many requests of a run are left. Workers take shares of it
// that shrink towards the end, so that they end together and rarely meet.
type budget struct {
	left    atomic.Int64
	workers int64
}

const maxShare = 256

// take returns a share, 0 when nothing is left.
func (b *budget) take() int64 {
	for {
		left := b.left.Load()
		share := min(left, max(1, left/(8*b.workers)), maxShare)
		if share <= 0 {
			return 0
		}
		if b.left.CompareAndSwap(left, left-share) {
			return share
		}
	}
}
