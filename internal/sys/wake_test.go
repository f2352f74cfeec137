package sys

import "testing"

// TestSleeper: a sleep ends with the rouse that came before it or comes while
// it goes on, and takes one.
func TestSleeper(t *testing.T) {
	var ping, pong Sleeper
	const rounds = 10000
	go func() {
		for range rounds {
			ping.Sleep()
			pong.Rouse()
		}
	}()
	for range rounds {
		ping.Rouse()
		pong.Sleep()
	}
	if ping.woken.Load() != 0 || pong.woken.Load() != 0 {
		t.Error("a rouse is left over")
	}
}
