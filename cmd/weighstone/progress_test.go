package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench/load"
)

// TestLoadProgress: a terminal has a line that changes; elsewhere a line comes
// now and then, and a short run has none.
func TestLoadProgress(t *testing.T) {
	tell := func(terminal bool, seconds int, step func(*load.Progress)) string {
		var b bytes.Buffer
		p := &loadProgress{w: &b, terminal: terminal}
		p.begin(&load.Config{Duration: time.Duration(seconds) * time.Second}, 1)
		for s := 1; s <= seconds; s++ {
			now := load.Progress{Elapsed: time.Duration(s) * time.Second, Good: uint64(s * s * 100), Faulty: 7, Left: time.Duration(seconds-s) * time.Second}
			if step != nil {
				step(&now)
			}
			p.show(now)
		}
		p.clear()
		return b.String()
	}
	if s := tell(true, 3, nil); s != "about 3s\n\r\x1b[K2s left, 100/s: 100 good, 7 bad in 1 s\r\x1b[K1s left, 300/s: 400 good, 7 bad in 2 s\r\x1b[K500/s: 900 good, 7 bad in 3 s\r\x1b[K" {
		t.Errorf("terminal: %q", s)
	}
	if s := tell(false, 9, nil); s != "" {
		t.Errorf("a short run elsewhere: %q", s)
	}
	if s := tell(false, 25, nil); s != "about 25s\n15s left, 1000/s: 10000 good, 7 bad in 10 s\n5s left, 3000/s: 40000 good, 7 bad in 20 s\n" {
		t.Errorf("elsewhere: %q", s)
	}
	if s := tell(true, 1, func(p *load.Progress) { p.Step, p.Steps = 2, 4 }); !strings.Contains(s, "step 2 of 4, 100/s: 100 good") {
		t.Errorf("a ladder: %q", s)
	}
}
