package process

// bounds are how many workers there are to be.
type bounds struct {
	start              int // at the beginning
	min, max           int
	minSpare, maxSpare int // how many of them idle; 0 for no matter
}

// fixed is always n workers.
func fixed(n int) bounds { return bounds{start: n, min: n, max: n} }

// elastic says whether the number changes with the load.
func (b *bounds) elastic() bool { return b.min != b.max }

// change returns by how many workers to grow, or below zero to shrink, when so
// many live and so many of these are idle. Growing makes up what is missing
// at once; shrinking goes one at a time, as Apache did it, so that a pause in
// the load does not end what it will need again.
func (b *bounds) change(live, idle int) int {
	switch {
	case live < b.min:
		return b.min - live
	case idle < b.minSpare:
		return min(b.minSpare-idle, b.max-live)
	case b.maxSpare > 0 && idle > b.maxSpare && live > b.min:
		return -1
	}
	return 0
}
