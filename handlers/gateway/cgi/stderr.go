package cgi

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// maxComplaint bounds what of a run's standard error goes to the log, in
// bytes.
const maxComplaint = 64 << 10

// complaints are the standard error of one run on its way to the log, a line
// a record.
type complaints struct {
	line  []byte // begun and not ended
	taken int
}

// drain logs what is in the pipe now, and closes it.
func (c *complaints) drain(r *run) {
	fd := r.p.Stderr
	if fd < 0 {
		return
	}
	buf := make([]byte, 512)
	for {
		n, err := unix.Read(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 {
			break
		}
		c.take(r, buf[:n])
	}
	c.flush(r)
	r.p.CloseStderr()
}

// copy logs until f is at its end or closed, or its deadline reached.
func (c *complaints) copy(r *run, f *os.File) {
	buf := make([]byte, 4<<10)
	for {
		n, err := f.Read(buf)
		c.take(r, buf[:n])
		if err != nil && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	c.flush(r)
}

// take logs the lines that b ends.
func (c *complaints) take(r *run, b []byte) {
	if len(b) == 0 || c.taken > maxComplaint {
		return
	}
	if c.taken += len(b); c.taken > maxComplaint {
		c.flush(r)
		r.h.opts.Log.Warn("CGI standard error goes on, no more is logged", "script", r.script, "bytes", maxComplaint)
		return
	}
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			c.line = append(c.line, b...)
			return
		}
		c.line = append(c.line, b[:i]...)
		c.flush(r)
		b = b[i+1:]
	}
}

// flush logs the line begun.
func (c *complaints) flush(r *run) {
	if line := bytes.TrimRight(c.line, "\r"); len(line) > 0 {
		r.h.opts.Log.Warn("CGI standard error", "script", r.script, "line", string(line))
	}
	c.line = c.line[:0]
}
