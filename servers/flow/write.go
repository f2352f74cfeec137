package flow

import (
	"errors"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/wire"
)

// sendfileStep bounds one sendfile, in bytes: what it sends is counted when it
// returns.
const sendfileStep = 512 << 10

var errShrunk = errors.New("send file: it has shrunk meanwhile")

// flush writes f.out and f.rest, waiting for the client where it must, and says
// whether all is gone; else the connection is of no use any more.
func (f *Flow) flush() bool {
	err := f.write()
	f.rest.Close()
	f.rest = wire.Rest{}
	f.out = f.out[:0]
	return err == nil
}

func (f *Flow) write() error {
	out, page := f.out, f.rest.Page
	if len(out) == 0 {
		return nil
	}
	n, err := sendNow(f.conn.FD(), out, page, f.rest.File != nil)
	f.slot.Sent(n)
	if err != nil {
		return err
	}
	if n < len(out)+len(page) || f.rest.File != nil {
		f.enter(weighstone.StateWrite)
	}
	if n < len(out) {
		if err := f.push(out[n:]); err != nil {
			return err
		}
		n = len(out)
	}
	if page = page[n-len(out):]; len(page) > 0 {
		return f.push(page)
	}
	if f.rest.File != nil {
		return f.sendFile()
	}
	return nil
}

// push writes all of p.
func (f *Flow) push(p []byte) error {
	n, err := f.conn.Write(p)
	f.slot.Sent(n)
	return err
}

func (f *Flow) sendFile() error {
	for r := &f.rest; r.Length > 0; {
		n, err := f.conn.SendFile(r.File, &r.Offset, int(min(r.Length, sendfileStep)))
		f.slot.Sent(n)
		r.Length -= int64(n)
		switch {
		case err != nil:
			return err
		case n == 0:
			return errShrunk
		}
	}
	return nil
}

// linger closes our side and reads what the client still sends, to its end.
func (f *Flow) linger() {
	sys.HalfClose(f.conn.FD())
	f.enter(weighstone.StateLinger)
	for end := time.Now().Add(lingerLimit); ; {
		// By whole seconds, so that the limit is not stated anew for each read.
		limit := time.Until(end).Round(time.Second)
		if limit <= 0 {
			return
		}
		if n, err := f.conn.ReadWithin(f.in, limit); err != nil || n == 0 {
			return
		}
	}
}
