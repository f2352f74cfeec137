package scgi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/weighstone/weighstone/cgi"
)

// A Request is one request as an application sees it, valid until the Handler
// returns.
type Request struct {
	Params map[string]string
	Body   io.Reader // of CONTENT_LENGTH bytes, if the gateway sends as many
	Out    io.Writer // a header as of CGI, a blank line and a body
}

// A Handler answers a request.
type Handler func(*Request)

// Serve answers what comes on the connections of l, each in a goroutine,
// until accepting fails, as it does when l is closed. It returns that error
// when all connections have ended.
func Serve(l net.Listener, h Handler) error {
	return cgi.ServeConns(l, func(c net.Conn) { ServeConn(c, h) })
}

// ServeConn answers the request on a connection, which it does not close.
func ServeConn(c io.ReadWriter, h Handler) error {
	in := bufio.NewReaderSize(c, 16<<10)
	headers, err := readHeaders(in)
	if err != nil {
		return err
	}
	length, err := strconv.ParseInt(headers["CONTENT_LENGTH"], 10, 64)
	if err != nil || length < 0 {
		return fmt.Errorf("SCGI request: CONTENT_LENGTH is %q", headers["CONTENT_LENGTH"])
	}
	out := bufio.NewWriterSize(c, 32<<10)
	h(&Request{Params: headers, Body: io.LimitReader(in, length), Out: out})
	if err := out.Flush(); err != nil {
		return fmt.Errorf("serve SCGI: %w", err)
	}
	return nil
}

// readHeaders reads the netstring that a request begins with.
func readHeaders(in *bufio.Reader) (map[string]string, error) {
	var b []byte
	for {
		text, n, err := ParseNetstring(b)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			return ParseHeaders(text)
		}
		// A netstring ends in a comma, so reading up to one never reads into
		// the body.
		part, err := in.ReadSlice(',')
		b = append(b, part...)
		if err != nil && err != bufio.ErrBufferFull {
			return nil, fmt.Errorf("serve SCGI: %w", err)
		}
	}
}
