package main

import (
	"fmt"
	"testing"
)

func TestParseSources(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string // first, last and number of addresses; empty for an error
	}{
		{nil, "0"},
		{[]string{"127.0.0.9"}, "127.0.0.9 127.0.0.9 1"},
		{[]string{"127.0.1.2/30", "::1"}, "127.0.1.0 ::1 5"},
		{[]string{"127.0.0.0/8"}, "127.0.0.0 127.0.0.255 256"},
		{[]string{"127.0.0.2", "127.0.0.0/30", "127.0.0.2"}, "127.0.0.2 127.0.0.3 4"},
		{[]string{"localhost"}, ""},
		{[]string{"127.0.0.0/33"}, ""},
	} {
		all, err := parseSources(c.names)
		got := fmt.Sprint(len(all))
		if len(all) > 0 {
			got = fmt.Sprint(all[0], all[len(all)-1], len(all))
		}
		if (err != nil) != (c.want == "") || err == nil && got != c.want {
			t.Errorf("%q: %s, %v; want %q", c.names, got, err, c.want)
		}
	}
}
