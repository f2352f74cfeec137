package process

import (
	"bufio"
	"io"
	"net"
	"os"
	"testing"

	"github.com/weighstone/weighstone"
)

func TestPreforkBounds(t *testing.T) {
	for _, c := range []struct {
		name string
		o    weighstone.Options
		want bounds
	}{
		{"nothing said", weighstone.Options{}, bounds{start: 5, min: 1, max: 256, minSpare: 5, maxSpare: 10}},
		{"more at the start than spare", weighstone.Options{Workers: 300}, bounds{start: 300, min: 1, max: 300, minSpare: 5, maxSpare: 10}},
		{"few connections", weighstone.Options{Limits: weighstone.Limits{MaxConns: 4}}, bounds{start: 4, min: 1, max: 4, minSpare: 5, maxSpare: 10}},
		{"Netscape's", weighstone.Options{Workers: 16, Knobs: weighstone.Knobs{MinWorkers: 16, MaxWorkers: 32}}, bounds{start: 16, min: 16, max: 32, minSpare: 5, maxSpare: 10}},
		{"many spare", weighstone.Options{Knobs: weighstone.Knobs{MinSpare: 20}}, bounds{start: 5, min: 1, max: 256, minSpare: 20, maxSpare: 20}},
		{"few spare", weighstone.Options{Knobs: weighstone.Knobs{MaxSpare: 2}}, bounds{start: 5, min: 1, max: 256, minSpare: 2, maxSpare: 2}},
		{"the least above the start", weighstone.Options{Workers: 2, Knobs: weighstone.Knobs{MinWorkers: 8}}, bounds{start: 8, min: 8, max: 256, minSpare: 5, maxSpare: 10}},
	} {
		if got := preforkBounds(&c.o); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestPreforkFollowsLoad: busy processes are joined by spare ones up to the
// largest number, where connections wait in the queue; idle ones end when the
// load does, down to what may be spare.
func TestPreforkFollowsLoad(t *testing.T) {
	const most = 9
	r := beginAs(t, NewPrefork, goodRole, weighstone.Options{
		Workers: 2, Knobs: weighstone.Knobs{MinSpare: 2, MaxSpare: 3, MaxWorkers: most},
	})
	alive := func() int { return len(childrenOf(os.Getpid())) }
	if n := alive(); n != 2 {
		t.Errorf("%d processes at the start, want 2", n)
	}
	var conns []net.Conn
	connect := func() *bufio.Reader {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		return bufio.NewReader(c)
	}
	for range 4 {
		if _, err := connect().ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "two spare beside four busy", func() bool { return alive() == 6 })
	for range most - 4 {
		if _, err := connect().ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "as many as there may be", func() bool { return alive() == most })
	waiting := connect()
	conns[0].Close()
	if line, err := waiting.ReadString('\n'); err != nil {
		t.Errorf("what waited gets %q, %v", line, err)
	}
	if n := alive(); n != most {
		t.Errorf("%d processes, at most %d wanted", n, most)
	}
	for _, c := range conns {
		c.Close()
	}
	until(t, "three spare", func() bool { return alive() == 3 })
}
