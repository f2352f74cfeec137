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
// not the server's. Its arguments are an address, a path, and whether each
// request has a connection of its own.
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
	if err := ask(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "asker:", err)
		return 1
	}
	return 0
}

// askOnce asks on one connection after another.
func askOnce(addr, path string) error {
	request := []byte(servertest.Get(path))
	in := bufio.NewReaderSize(nil, 64<<10)
	return rounds(func() error {
		for range askerConns {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				return err
			}
			if _, err := c.Write(request); err != nil {
				return err
			}
			in.Reset(c)
			if err := skipReply(in); err != nil {
				return err
			}
			c.Close()
		}
		return nil
	})
}

// askKept asks on several connections by turns.
func askKept(addr, path string) error {
	request := []byte(servertest.Get(path))
	var conns []net.Conn
	var readers []*bufio.Reader
	for range askerConns {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		conns, readers = append(conns, c), append(readers, bufio.NewReaderSize(c, 64<<10))
	}
	return rounds(func() error {
		for _, c := range conns {
			if _, err := c.Write(request); err != nil {
				return err
			}
		}
		for _, in := range readers {
			if err := skipReply(in); err != nil {
				return err
			}
		}
		return nil
	})
}

// rounds does the rounds that warm a server, and then, told so, those that are
// measured.
func rounds(round func() error) error {
	commands := bufio.NewReader(os.Stdin)
	for _, n := range []int{warmRounds, askedRounds} {
		for range n {
			if err := round(); err != nil {
				return err
			}
		}
		fmt.Println("done")
		if _, err := commands.ReadString('\n'); err != nil {
			return err
		}
	}
	return nil
}

// skipReply reads a reply with status 200 and a length.
func skipReply(in *bufio.Reader) error {
	length := -1
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimSuffix(line, []byte("\r\n"))
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
			return fmt.Errorf("status line %q", line)
		}
		if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(v)); err != nil {
				return err
			}
		}
		if len(line) == 0 {
			break
		}
	}
	if length < 0 {
		return fmt.Errorf("no Content-Length")
	}
	_, err := in.Discard(length)
	return err
}
