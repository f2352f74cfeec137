package load

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/internal/http1"
	"github.com/weighstone/weighstone/internal/sys"
	"golang.org/x/sys/unix"
)

// idle are connections that are held open and do nothing, so that their cost
// to the server shows. Each had one reply, so that it is a kept connection and
// not one whose first request is late. During the run nobody looks at them but
// once a second.
type idle struct {
	epfd int
	fds  map[int]bool // those that are open
	all  int
	lost int // closed by the server since

	request []byte
	ask     bench.Ask
	buf     []byte
}

// idleAtOnce is how many are opened at a time: below any accept queue.
const idleAtOnce = 64

// perSource is how many connections come from one source address: what
// net.ipv4.ip_local_port_range gives by default, less some for others.
const perSource = 20000

// openIdle opens the idle connections of a run. What it returns is closed by
// the caller, also beside an error.
func openIdle(ctx context.Context, r *run) (*idle, error) {
	d := &idle{epfd: -1, all: r.config.Idle}
	if d.all == 0 {
		return d, nil
	}
	var errno unix.Errno
	if d.epfd, errno = sys.EpollCreate(); errno != 0 {
		return d, fmt.Errorf("load: create epoll: %w", errno)
	}
	d.fds = make(map[int]bool, d.all)
	d.buf = make([]byte, readSize)
	r.config.Plan.Script(0).Next(&d.ask)
	keep := r.config
	keep.HTTP10 = false
	d.request = newRenderer(&keep, r.host).request(nil, &d.ask, false)
	dial := newDialer(r.server, r.idleSources(), false)
	for len(d.fds) < d.all {
		if err := ctx.Err(); err != nil {
			return d, fmt.Errorf("load: open idle connections: %w", err)
		}
		if err := d.openSome(dial, min(idleAtOnce, d.all-len(d.fds)), r.config.Timeout); err != nil {
			return d, fmt.Errorf("load: %d of %d idle connections opened: %w", len(d.fds), d.all, err)
		}
	}
	return d, nil
}

// idleSources are the local addresses of the idle connections.
func (r *run) idleSources() []netip.Addr {
	c := &r.config
	if len(c.Sources) > 0 || !r.server.Addr().Is4() || !r.server.Addr().IsLoopback() {
		return c.Sources
	}
	var sources []netip.Addr
	for i := 0; i*perSource < c.Idle && c.Idle > perSource; i++ {
		sources = append(sources, netip.AddrFrom4([4]byte{127, 0, 1, byte(1 + i)}))
	}
	return sources
}

// opening is an idle connection whose reply has not come in full.
type opening struct {
	fd     int
	got    []byte
	left   int64
	chunks http1.Chunks
	inBody bool
}

// openSome opens n connections and waits for their replies.
func (d *idle) openSome(dial *dialer, n int, timeout time.Duration) error {
	pending := make(map[int]*opening, n)
	defer func() {
		for fd := range pending {
			sys.Close(fd)
		}
	}()
	for range n {
		fd, errno := dial.dial()
		if fd < 0 {
			return errno
		}
		pending[fd] = &opening{fd: fd}
		if e := sys.EpollCtl(d.epfd, unix.EPOLL_CTL_ADD, fd, interest); e != 0 {
			return e
		}
	}
	sent := make(map[int]bool, n)
	var events [maxEvents]unix.EpollEvent
	for deadline := time.Now().Add(timeout); len(pending) > 0; {
		if time.Now().After(deadline) {
			return fmt.Errorf("no reply within %v", timeout)
		}
		k, errno := sys.EpollWait(d.epfd, events[:], 100*time.Millisecond, 0)
		if errno != 0 {
			return errno
		}
		for _, e := range events[:k] {
			fd := int(e.Fd)
			o := pending[fd]
			if o == nil {
				d.lose(fd)
				continue
			}
			if !sent[fd] {
				sent[fd] = true
				if err := d.ask1(fd); err != nil {
					return err
				}
			}
			done, err := d.answer(o)
			if err != nil {
				return err
			}
			if done {
				delete(pending, fd)
				d.fds[fd] = true
			}
		}
	}
	return nil
}

// ask1 sends the one request.
func (d *idle) ask1(fd int) error {
	if errno := sys.SocketError(fd); errno != 0 {
		return errno
	}
	if n, errno := sys.Send(fd, d.request); errno != 0 {
		return errno
	} else if n < len(d.request) {
		return fmt.Errorf("a request of %d bytes does not fit into the socket", len(d.request))
	}
	return nil
}

// answer reads what has come of the reply and says whether it is complete.
func (d *idle) answer(o *opening) (done bool, err error) {
	for {
		n, errno := sys.Read(o.fd, d.buf)
		switch {
		case errno == unix.EAGAIN:
			return false, nil
		case errno != 0:
			return false, errno
		case n == 0:
			return false, fmt.Errorf("the server closed the connection")
		}
		if done, err := o.take(d.buf[:n], d.ask.Head()); done || err != nil {
			return done, err
		}
	}
}

// take consumes bytes of the reply.
func (o *opening) take(b []byte, head bool) (done bool, err error) {
	if !o.inBody {
		var r http1.Response
		o.got = append(o.got, b...)
		n, err := r.Parse(o.got, head, &http1.Limits{})
		if n == 0 || err != nil {
			return false, err
		}
		if !r.KeepAlive {
			return false, fmt.Errorf("the server does not keep connections (status %d)", r.Status)
		}
		o.inBody, o.left, b = true, r.Length, o.got[n:]
	}
	if o.left != http1.Chunked {
		o.left -= int64(len(b))
		return o.left <= 0, nil
	}
	for len(b) > 0 && !done {
		var n int
		if _, n, done, err = o.chunks.Next(b); err != nil {
			return false, err
		}
		b = b[n:]
	}
	return done, nil
}

// look counts the connections that the server has closed meanwhile.
func (d *idle) look() {
	if d.epfd < 0 {
		return
	}
	var events [maxEvents]unix.EpollEvent
	for {
		n, errno := sys.EpollWait(d.epfd, events[:], 0, 0)
		if n == 0 || errno != 0 {
			return
		}
		for _, e := range events[:n] {
			d.lose(int(e.Fd))
		}
	}
}

// lose drops a connection of which the server said anything more: only that
// it ends.
func (d *idle) lose(fd int) {
	if n, errno := sys.Read(fd, d.buf); n > 0 || errno == unix.EAGAIN || !d.fds[fd] {
		return
	}
	sys.Close(fd)
	delete(d.fds, fd)
	d.lost++
}

func (d *idle) opened() int { return len(d.fds) + d.lost }

func (d *idle) close() {
	for fd := range d.fds {
		sys.Close(fd)
	}
	if d.epfd >= 0 {
		sys.Close(d.epfd)
	}
}
