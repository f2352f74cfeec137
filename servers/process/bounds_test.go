package process

import (
	"testing"
	"time"
)

func TestBoundsChange(t *testing.T) {
	elastic := bounds{start: 5, min: 2, max: 12, minSpare: 3, maxSpare: 6}
	for _, c := range []struct {
		name             string
		b                bounds
		live, idle, want int
	}{
		{"fixed, one died", fixed(4), 3, 3, 1},
		{"fixed, all idle", fixed(4), 4, 4, 0},
		{"fixed, all busy", fixed(4), 4, 0, 0},
		{"below the least", elastic, 1, 1, 1},
		{"enough spare", elastic, 5, 3, 0},
		{"too few spare", elastic, 5, 1, 2},
		{"none spare", elastic, 5, 0, 3},
		{"near the most", elastic, 11, 0, 1},
		{"at the most", elastic, 12, 0, 0},
		{"as many spare as may be", elastic, 8, 6, 0},
		{"too many spare", elastic, 9, 9, -1},
		{"at the least, all idle", bounds{min: 8, max: 12, minSpare: 3, maxSpare: 6}, 8, 8, 0},
	} {
		if got := c.b.change(c.live, c.idle); got != c.want {
			t.Errorf("%s: %d live, %d idle: %+d, want %+d", c.name, c.live, c.idle, got, c.want)
		}
	}
}

func TestBackoff(t *testing.T) {
	var b backoff
	now := time.Now()
	if b.wait(now) != 0 {
		t.Error("the first worker waits")
	}
	var waits []time.Duration
	for range 9 {
		b.died(now, time.Second)
		waits = append(waits, b.wait(now))
		now = now.Add(b.wait(now))
		if b.wait(now) != 0 {
			t.Error("waiting does not end")
		}
	}
	if waits[0] != firstRest || waits[1] != 2*firstRest || waits[8] != maxRest {
		t.Errorf("waits %v", waits)
	}
	b.died(now, proven)
	if b.wait(now) != 0 {
		t.Error("a worker that has proven itself is not replaced at once")
	}
	b.died(now, 0)
	if b.wait(now) != firstRest {
		t.Errorf("after one that lived, the first death costs %v", b.wait(now))
	}
}
