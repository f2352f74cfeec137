package servertest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/weighstone/weighstone/servers/servertest"
)

// askerRole is that of a child that sends requests: so what it allocates is
// not the server's. Its arguments are an address, a path, whether each request
// has a connection of its own, and a path that answers with what the serving
// process has allocated, or nothing. That is asked for in the same way, so that
// it is the right process where each connection has its own.
const askerRole = "asker"

// What the asker does: requests on connections that are warm.
const (
	askerConns  = 8
	warmRounds  = 250
	askedRounds = 1250
	asked       = askedRounds * askerConns // 10,000
)

// asker warms its connections, and then, told so, asks.
func asker() int {
	ask := askKept
	if os.Args[3] == "true" {
		ask = askOnce
	}
	if err := ask(os.Args[1], os.Args[2], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "asker:", err)
		return 1
	}
	return 0
}

// askOnce asks on one connection after another.
func askOnce(addr, path, heap string) error {
	in := bufio.NewReaderSize(nil, 64<<10)
	ask := func(request []byte) ([]byte, error) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		if _, err := c.Write(request); err != nil {
			return nil, err
		}
		in.Reset(c)
		return bodyOf(in)
	}
	request := []byte(servertest.Get(path))
	return rounds(heap, ask, func() error {
		for range askerConns {
			if _, err := ask(request); err != nil {
				return err
			}
		}
		return nil
	})
}

// askKept asks on several connections by turns.
func askKept(addr, path, heap string) error {
	var conns []net.Conn
	var readers []*bufio.Reader
	for range askerConns {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		conns, readers = append(conns, c), append(readers, bufio.NewReaderSize(c, 64<<10))
	}
	first := func(request []byte) ([]byte, error) {
		if _, err := conns[0].Write(request); err != nil {
			return nil, err
		}
		return bodyOf(readers[0])
	}
	request := []byte(servertest.Get(path))
	return rounds(heap, first, func() error {
		for _, c := range conns {
			if _, err := c.Write(request); err != nil {
				return err
			}
		}
		for _, in := range readers {
			if _, err := bodyOf(in); err != nil {
				return err
			}
		}
		return nil
	})
}

// rounds does the rounds that warm a server, and then, told so, those that are
// measured. After each it says what ask has got from the path of the heap.
func rounds(heap string, ask func(request []byte) ([]byte, error), round func() error) error {
	commands := bufio.NewReader(os.Stdin)
	for _, n := range []int{warmRounds, askedRounds} {
		for range n {
			if err := round(); err != nil {
				return err
			}
		}
		var allocated []byte
		for range 2 { // the first look makes the metrics themselves
			if heap == "" {
				break
			}
			var err error
			if allocated, err = ask([]byte(servertest.Get(heap))); err != nil {
				return err
			}
		}
		fmt.Printf("%s\n", allocated)
		if _, err := commands.ReadString('\n'); err != nil {
			return err
		}
	}
	return nil
}

// bodyOf reads a reply with status 200 and a length. The body is valid until the
// next read, and absent if it is larger than the reader's buffer.
func bodyOf(in *bufio.Reader) (body []byte, err error) {
	length := -1
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		line = bytes.TrimSuffix(line, []byte("\r\n"))
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
			return nil, fmt.Errorf("status line %q", line)
		}
		if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(v)); err != nil {
				return nil, err
			}
		}
		if len(line) == 0 {
			break
		}
	}
	if length < 0 {
		return nil, fmt.Errorf("no Content-Length")
	}
	if length <= in.Size() {
		if body, err = in.Peek(length); err != nil {
			return nil, err
		}
	}
	_, err = in.Discard(length)
	return body, err
}
