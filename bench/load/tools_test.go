package load

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench/pace"
)

// TestOtherToolsBeside prints what wrk and hey say of a server that answers
// nothing for 200 ms of each second, beside an open loop. By theory one
// in ten independent users waits 100 ms or more, one in a hundred 190 ms. Both tools wait for a reply before
// they ask again; hey does so at a rate.
func TestOtherToolsBeside(t *testing.T) {
	start := time.Now()
	reply := ok("hi")
	s := serveScript(t, func(n int64, c *net.TCPConn, _ string) bool {
		stallOnTheWire(int(n), time.Since(start))
		io.WriteString(c, reply)
		return true
	})
	for _, tool := range []struct {
		name, pattern string
		args          []string
	}{
		{"wrk", `%d%%\s+([\d.]+[mu]?s)`, []string{"-t1", "-c8", "-d2s", "--latency", s.url}},
		{"hey", `%d%% in ([\d.]+ secs)`, []string{"-z", "2s", "-c", "8", "-q", "150", s.url}},
	} {
		path, err := exec.LookPath(tool.name)
		if err != nil {
			t.Logf("%s is not installed", tool.name)
			continue
		}
		out, err := exec.Command(path, tool.args...).Output()
		if err != nil {
			t.Errorf("%s: %v", tool.name, err)
			continue
		}
		said := map[int]string{}
		for _, percent := range []int{90, 99} {
			if m := regexp.MustCompile(fmt.Sprintf(tool.pattern, percent)).FindSubmatch(out); m != nil {
				said[percent] = string(m[1])
			}
		}
		t.Logf("%s %v: p90 %s, p99 %s", tool.name, tool.args[:len(tool.args)-1], said[90], said[99])
	}
	r := runs(t, s.url, Config{Duration: 2 * time.Second, Clients: 64, Keepalive: true, Arrival: pace.Arrival{Kind: pace.Constant, Rate: 1200}})
	p90, _ := r.Tally.Latency.Quantile(.9)
	p99, _ := r.Tally.Latency.Quantile(.99)
	t.Logf("weighstone, 1,200 a second, from when due: p90 %v, p99 %v; by theory 100ms, 190ms", p90, p99)
}
