package subject

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// A Framing is how a reply says where it ends (RFC 9112 section 6.3).
type Framing string

// The framings.
const (
	ByLength Framing = "length"  // Content-Length
	ByChunks Framing = "chunked" // Transfer-Encoding
	ByClose  Framing = "close"   // the connection ends
)

// A Wire is a reply as it came over its connection.
type Wire struct {
	Request Request
	URL     string
	Status  int
	Size    int64 // of the body in bytes
	SHA256  [sha256.Size]byte
	Framing Framing
	// Kept says that the same connection answered a second request alike.
	Kept bool
}

// A Request is what [Look] asks for.
type Request struct {
	Path string
	// Keepalive asks to keep the connection; else to close it.
	Keepalive bool
	HTTP10    bool
	// Program says that the path is answered by a program. How such a reply
	// is framed is up to the server and to how fast the program is: one that
	// passes on what comes sends chunks, one that waits knows the length.
	Program bool
}

// closePatience is how long a server that was asked to close may take.
const closePatience = 5 * time.Second

// Look asks a server once, or twice on a connection that is to be kept, and
// returns what came. It shares nothing with the load generator but the bytes of
// the request.
func Look(ctx context.Context, base string, r Request) (Wire, error) {
	host := strings.TrimPrefix(base, "http://")
	url := base + r.Path
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return Wire{}, fmt.Errorf("look at %s: %w", url, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	in := bufio.NewReader(conn)
	first, err := ask(conn, in, host, r)
	if err != nil {
		return Wire{}, fmt.Errorf("look at %s: %w", url, err)
	}
	first.URL, first.Request = url, r
	if first.Framing == ByClose {
		return first, nil
	}
	if !r.Keepalive {
		conn.SetReadDeadline(time.Now().Add(closePatience))
		if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
			return first, fmt.Errorf("look at %s: the connection that was to be closed after the reply was not: %w", url, orMore(err))
		}
		return first, nil
	}
	second, err := ask(conn, in, host, r)
	if err == nil {
		second.URL, second.Request, second.Kept, first.Kept = url, r, true, true
		if err := second.Same(first); err != nil {
			return first, fmt.Errorf("the second reply on a connection differs from the first: %w", err)
		}
	} else if ctx.Err() != nil {
		return first, fmt.Errorf("look at %s: %w", url, err)
	}
	return first, nil
}

// orMore is what was wrong when there is no error.
func orMore(err error) error {
	if err == nil {
		return errors.New("more bytes came")
	}
	return err
}

// ask sends a request as the load generator does and reads its reply.
func ask(conn net.Conn, in *bufio.Reader, host string, r Request) (w Wire, err error) {
	version, connection := "HTTP/1.1", "Connection: close\r\n"
	if r.Keepalive {
		connection = ""
	}
	if r.HTTP10 {
		version, connection = "HTTP/1.0", ""
		if r.Keepalive {
			connection = "Connection: keep-alive\r\n"
		}
	}
	if _, err := fmt.Fprintf(conn, "GET %s %s\r\n%sHost: %s\r\n\r\n", r.Path, version, connection, host); err != nil {
		return w, err
	}
	resp, err := http.ReadResponse(in, &http.Request{Method: http.MethodGet})
	if err != nil {
		return w, err
	}
	defer resp.Body.Close()
	w.Status, w.Framing = resp.StatusCode, ByLength
	if len(resp.TransferEncoding) > 0 {
		w.Framing = ByChunks
	} else if resp.ContentLength < 0 {
		w.Framing = ByClose
	}
	sum := sha256.New()
	w.Size, err = io.Copy(sum, io.LimitReader(resp.Body, maxReply))
	sum.Sum(w.SHA256[:0])
	return w, err
}

// ErrWrongBytes says that two servers that are to answer alike do not.
var ErrWrongBytes = errors.New("wrong bytes")

// Same says in what w differs from ours, a reply that is known to be right;
// nil if in nothing: status, bytes, framing, and whether the connection is kept.
// Of a program's reply the bytes must be the same, and the connection kept alike.
func (w Wire) Same(ours Wire) error {
	switch {
	case w.Status != ours.Status:
		return fmt.Errorf("%w: %s has status %d, but %s has %d", ErrWrongBytes, w.URL, w.Status, ours.URL, ours.Status)
	case w.Size != ours.Size || w.SHA256 != ours.SHA256:
		return fmt.Errorf("%w: %s has %d bytes with SHA-256 %x, but %s has %d with %x",
			ErrWrongBytes, w.URL, w.Size, w.SHA256, ours.URL, ours.Size, ours.SHA256)
	case w.Framing != ours.Framing && !w.Request.Program:
		return fmt.Errorf("%w: %s is framed by %s, but %s by %s", ErrFraming, w.URL, w.Framing, ours.URL, ours.Framing)
	case w.Kept != ours.Kept:
		return fmt.Errorf("%w: %s kept its connection is %t, but for %s %t", ErrFraming, w.URL, w.Kept, ours.URL, ours.Kept)
	}
	return nil
}

// ErrFraming says that two servers send the same bytes in another way.
var ErrFraming = errors.New("other framing")
