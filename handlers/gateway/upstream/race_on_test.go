//go:build race

package upstream

// underRace says whether the race detector is at work.
const underRace = true
