package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/weighstone/weighstone/cgi"
	"github.com/weighstone/weighstone/cgi/fcgi"
	"github.com/weighstone/weighstone/cgi/scgi"
)

var errNoListener = errors.New("standard input is no listening socket")

// serve answers on the connections of standard input, until the program is
// told to end.
func serve(answer program) error {
	if _, err := unix.Getpeername(0); err != unix.ENOTCONN {
		return errNoListener
	}
	l, err := net.FileListener(os.Stdin)
	if err != nil {
		return fmt.Errorf("listen on standard input: %w", err)
	}
	return cgi.ServeConns(l, func(c net.Conn) { serveConn(c, answer) })
}

// serveConn speaks the protocol that the first byte is of.
func serveConn(c net.Conn, answer program) {
	in := bufio.NewReader(c)
	first, err := in.Peek(1)
	if err != nil {
		return
	}
	both := struct {
		io.Reader
		io.Writer
	}{in, c}
	if first[0] == 1 {
		fcgi.ServeConn(both, func(r *fcgi.Request) uint32 {
			if respond(answer, r.Params, r.Body, r.Out) != nil {
				return 1
			}
			return 0
		})
		return
	}
	scgi.ServeConn(both, func(r *scgi.Request) {
		if r.Params["CONTENT_LENGTH"] == "0" {
			delete(r.Params, "CONTENT_LENGTH") // SCGI has a length without a body too; CGI has none
		}
		respond(answer, r.Params, r.Body, r.Out)
	})
}
