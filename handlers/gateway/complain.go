package gateway

import "bytes"

// MaxComplaint bounds what of a run's standard error goes to the log, in
// bytes.
const MaxComplaint = 64 << 10

// Complaints are what a program says on standard error, on its way to the
// log, a line a record. The zero value with Host and Script set is ready; one
// goroutine at a time uses it.
type Complaints struct {
	Host   *Host
	Script string // in the log

	line  []byte // begun and not ended
	taken int
}

// Take logs the lines that b ends.
func (c *Complaints) Take(b []byte) {
	if len(b) == 0 || c.taken > MaxComplaint {
		return
	}
	if c.taken += len(b); c.taken > MaxComplaint {
		c.Flush()
		c.Host.Log.Warn(c.Host.Kind+" standard error goes on, no more is logged", "script", c.Script, "bytes", MaxComplaint)
		return
	}
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			c.line = append(c.line, b...)
			return
		}
		c.line = append(c.line, b[:i]...)
		c.Flush()
		b = b[i+1:]
	}
}

// Renew lets as much be logged again as at the beginning.
func (c *Complaints) Renew() { c.taken = 0 }

// Flush logs the line begun.
func (c *Complaints) Flush() {
	if line := bytes.TrimRight(c.line, "\r"); len(line) > 0 {
		c.Host.Log.Warn(c.Host.Kind+" standard error", "script", c.Script, "line", string(line))
	}
	c.line = c.line[:0]
}
