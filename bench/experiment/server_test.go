package experiment

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench/subject"
)

// role is the first argument of a test binary that is to be a server.
const role = "be-a-server"

// A manner is what a server of a test does with a request.
type manner struct {
	burn    int // steps of work
	wrong   int // one byte is wrong in each so many replies; 0: in none
	garbage int // replies after so many are no HTTP; 0: all are
	silent  int // requests after so many are not answered; 0: all are
}

// serveAs is the server: port, file, and the manner's numbers.
func serveAs(args []string) error {
	body, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	var m manner
	for i, field := range []*int{&m.burn, &m.wrong, &m.garbage, &m.silent} {
		if *field, err = strconv.Atoi(args[2+i]); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp4", "127.0.0.1:"+args[0])
	if err != nil {
		return err
	}
	fmt.Printf("test ready http://%s pid %d\n", l.Addr(), os.Getpid())
	var served atomic.Int64
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go m.talk(c, body, &served)
	}
}

// sink keeps the work from being optimised away.
var sink atomic.Uint64

func (m *manner) talk(c net.Conn, body []byte, served *atomic.Int64) {
	defer c.Close()
	reply := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	spoilt := bytes.Clone(reply)
	spoilt[len(spoilt)-7] ^= 1
	in := make([]byte, 4096)
	for {
		n, err := c.Read(in)
		if err != nil {
			return
		}
		closing := bytes.Contains(bytes.ToLower(in[:n]), []byte("connection: close"))
		x := uint64(n)
		for range m.burn {
			x = x*6364136223846793005 + 1442695040888963407
		}
		sink.Store(x)
		out := reply
		switch k := served.Add(1); {
		case m.silent > 0 && k > int64(m.silent):
			continue
		case m.garbage > 0 && k > int64(m.garbage):
			fmt.Fprintln(os.Stderr, "I am confused")
			out = []byte("garbage\r\n\r\n")
		case m.wrong > 0 && k%int64(m.wrong) == 0:
			out = spoilt
		}
		if _, err := c.Write(out); err != nil || closing {
			return
		}
	}
}

// mannered makes a cell with such a server, under a short load.
func mannered(t *testing.T, l *lab, name string, m manner, duration time.Duration) *cell {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.local(subject.Recipe{Name: name, Path: self, Announces: true, Args: func(port int, _ string) []string {
		return []string{role, strconv.Itoa(port), filepath.Join(l.Fixtures, hundred),
			strconv.Itoa(m.burn), strconv.Itoa(m.wrong), strconv.Itoa(m.garbage), strconv.Itoa(m.silent)}
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := l.cell(s, hundred, "100.html", true, 8, duration)
	c.name = name
	return c
}
