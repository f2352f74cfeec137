package load

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench/plan"
)

func descriptors(t *testing.T) int {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(d)
}

// TestDescriptorsAreClosed ends runs in every way and counts descriptors.
func TestDescriptorsAreClosed(t *testing.T) {
	url := handler(t, func(w http.ResponseWriter, r *http.Request) {})
	p, err := plan.URL(url, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(c Config, limit time.Duration) {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		c.URL, c.Plan, c.Clients = url, p, 8
		Run(ctx, c) // with an error or without
	}
	run(Config{Requests: 100}, time.Minute) // what the runtime opens once is open now
	// The other ends are the server's, in this process too: it notices a
	// little later that they are closed.
	base := descriptors(t)
	run(Config{Requests: 100, Keepalive: true, Idle: 50}, time.Minute)
	run(Config{Requests: 100, CloseFirst: true}, time.Minute)
	run(Config{Duration: time.Hour, Keepalive: true, Idle: 50}, 50*time.Millisecond)
	run(Config{Requests: 100, Idle: 50}, 0)
	run(Config{Requests: 100, CPUs: []int{1000}}, time.Minute)
	for wait := time.Millisecond; descriptors(t) > base; wait *= 2 {
		if wait > 5*time.Second {
			t.Fatalf("%d descriptors, %d before", descriptors(t), base)
		}
		time.Sleep(wait)
	}
}
