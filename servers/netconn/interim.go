package netconn

import "bytes"

// interim is what a library writes to a client that waits for a 100.
var interim = []byte("HTTP/1.1 100 Continue\r\n\r\n")

// DropInterim says that the library is about to write a 100 that the client has
// not asked for. It is taken out of what is written next.
func (c *Conn) DropInterim() { c.dropping = true }

// writeDropping writes b without the 100 at its end. The library buffers what
// it writes, and what it had before may be in front; a full buffer may even cut
// the 100 in two, and what looks like its beginning is kept until that is sure.
func (c *Conn) writeDropping(b []byte) (int, error) {
	kept := interim[:c.kept]
	before, whole := bytes.CutSuffix(b, interim)
	switch {
	case whole:
		c.dropping, c.kept = false, 0
		if len(kept) > 0 {
			if _, err := c.write(kept); err != nil {
				return 0, err
			}
		}
	case len(kept) > 0 && bytes.Equal(b, interim[len(kept):]):
		c.dropping, c.kept = false, 0
		return len(b), nil
	default:
		c.kept = min(len(interim)-1, len(b))
		for !bytes.HasSuffix(b, interim[:c.kept]) {
			c.kept--
		}
		before = b[:len(b)-c.kept]
	}
	if len(before) > 0 {
		if n, err := c.write(before); err != nil {
			return n, err
		}
	}
	return len(b), nil
}
