package tests

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/experiment"
	"github.com/weighstone/weighstone/bench/subject"
)

// TestPeers makes the table of real servers at a tiny size: each sends what ours
// does, and each row is there.
func TestPeers(t *testing.T) {
	names := []string{"nginx", "lighttpd"}
	needPeers(t, names...)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	doc, err := experiment.Run(ctx, "peers", experiment.Options{
		Tiny: true, Binary: built.program, Fixtures: built.fixtures, FloorDir: t.TempDir(), Seed: 1,
		Variants: []string{"epoll"}, Peers: names,
	})
	if err != nil {
		t.Fatal(err)
	}
	if doc.Verdict == bench.RepliesWrong {
		t.Fatalf("%s: %q", doc.Verdict, doc.Reasons)
	}
	rows := map[string][]string{}
	for _, c := range doc.Cells {
		rows[c.Handler] = append(rows[c.Handler], c.Variant)
	}
	for handler, n := range map[string]int{"100.html": 2, "silicon-surf": 1, "cgi-bin/hello": 1, "fcgi-bin/constant": 1} {
		for _, name := range append(names, "epoll") {
			found := 0
			for _, v := range rows[handler] {
				if v == name {
					found++
				}
			}
			if found != n {
				t.Errorf("%s has %d cells of %s, want %d", handler, found, name, n)
			}
		}
	}
	for _, name := range names {
		if len(doc.Unequal[name]) == 0 || !strings.ContainsAny(doc.Environment.Facts[name+".version"], "0123456789") {
			t.Errorf("%s: not equal %q, facts %q", name, doc.Unequal[name], doc.Environment.Facts[name+".version"])
		}
	}
	if !slices.ContainsFunc(doc.Unequal["nginx"], func(s string) bool { return strings.Contains(s, "fcgiwrap") }) {
		t.Errorf("that nginx has no CGI is not said: %q", doc.Unequal["nginx"])
	}
}

// needPeers skips a test where a real server is not installed.
func needPeers(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		peer, err := subject.FindPeer(name)
		if err == nil {
			_, err = peer.Here()
		}
		if err != nil && (os.Getenv("CI") == "true" || !errors.Is(err, subject.ErrMissing)) {
			t.Fatal(err)
		} else if err != nil {
			t.Skip(err)
		}
	}
}

// TestGatewayBeside makes the comparison of gateways at a tiny size: both servers
// ask the same programs on kept connections, whose CPU time is not theirs.
func TestGatewayBeside(t *testing.T) {
	needPeers(t, "nginx")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	doc, err := experiment.Run(ctx, "fcgi-gateway", experiment.Options{
		Tiny: true, Binary: built.program, Fixtures: built.fixtures, FloorDir: t.TempDir(), Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range doc.Cells {
		if c.Verdict == bench.RepliesWrong || len(c.Runs) != 1 || c.Runs[0].ServerCPUMicros == nil || *c.Runs[0].ServerCPUMicros <= 0 {
			t.Errorf("%s: %s %q, runs %+v", c.Name, c.Verdict, c.Reasons, c.Runs)
		}
	}
	var compared []string
	for _, c := range doc.Comparisons {
		compared = append(compared, c.Name)
	}
	for _, want := range []string{"epoll to nginx, 8 active", "epoll to nginx, 32 active"} {
		if !slices.Contains(compared, want) {
			t.Errorf("%q is not compared: %q", want, compared)
		}
	}
	if !strings.Contains(doc.Environment.Facts["nginx.application.constant"], "64 x ") {
		t.Errorf("facts: %q", doc.Environment.Facts)
	}
}
