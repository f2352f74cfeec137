package tests

import (
	"regexp"
	"slices"
	"testing"
)

// enters are the calls into a ring. One that another thread's call interrupts is
// on two lines, of which the first is counted.
var enters = regexp.MustCompile(`(?m)^\d+ +io_uring_enter\(`)

// TestUringCalls: by completions, 10,000 requests on one connection take two
// enters each, one that submits the reply and fetches its completion and one
// that waits, and no call on the socket that moves bytes. The Go runtime's
// signals end some waits early.
func TestUringCalls(t *testing.T) {
	need(t, "strace")
	if !slices.Contains(variants(t), "uring") {
		t.Skip("uring can't run here: the tests of all variants say why")
	}
	const requests = 10000
	log := traceLog(t, traced+",io_uring_enter", func(addr string) { askMany(t, addr, requests) }, "uring")
	calls := map[string]int{}
	for _, m := range onConnection.FindAllSubmatch(log, -1) {
		calls[string(m[1])]++
	}
	entered := len(enters.FindAll(log, -1))
	t.Logf("%v, %d enters", calls, entered)
	if reads, writes := transfers(calls); reads+writes > 0 {
		t.Errorf("%d reads and %d writes on sockets, want none: %v", reads, writes, calls)
	}
	if entered < requests || entered > 2*requests+requests/10 {
		t.Errorf("%d enters for %d requests", entered, requests)
	}
}
