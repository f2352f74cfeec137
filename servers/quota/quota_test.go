package quota

import (
	"bytes"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestQuota(t *testing.T) {
	var out bytes.Buffer
	q := New(2, slog.New(slog.NewTextHandler(&out, nil)))
	now := time.Unix(1e9, 0)
	q.now = func() time.Time { return now }
	a, mapped, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("::ffff:192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	want := func(addr netip.Addr, within bool) {
		t.Helper()
		if q.Take(addr) != within {
			t.Errorf("a connection of %v within the bound: %v, want %v", addr, !within, within)
		}
	}
	want(a, true)
	want(mapped, true)
	want(a, false)
	want(mapped, false)
	want(b, true)
	q.Give(mapped)
	want(a, true)
	want(a, false)
	if n := strings.Count(out.String(), "\n"); n != 1 || !strings.Contains(out.String(), "refused=1") {
		t.Errorf("%d lines in a second, want 1 about the first: %s", n, out.String())
	}
	now = now.Add(time.Second)
	want(a, false)
	if !strings.Contains(out.String(), "refused=3") {
		t.Errorf("what was refused meanwhile is not told: %s", out.String())
	}
	q.Give(a)
	q.Give(a)
	q.Give(b)
	if len(q.conns) != 0 {
		t.Errorf("%d addresses are remembered without connections", len(q.conns))
	}
	if none := New(0, nil); !none.Take(a) {
		t.Error("no bound refuses")
	} else {
		none.Give(a)
	}
}
