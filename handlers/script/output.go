package script

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/weighstone/weighstone"
)

const (
	// maxMemory is how much output is held in memory, in bytes; more goes to
	// an unlinked file.
	maxMemory = 1 << 20
	// MaxOutput bounds the output of one exchange, in bytes.
	MaxOutput = 256 << 20
)

// ErrOutput says that a program wrote more than it may.
var ErrOutput = errors.New("more output than 256 MiB")

// An Output collects what a program writes. The zero value is ready; Reset
// makes it so again, keeping its buffer.
type Output struct {
	mem  []byte
	file *os.File
	size int64
}

// Size is how many bytes were written.
func (o *Output) Size() int64 { return o.size }

// Head returns the first bytes written, at most 1 MiB of them.
func (o *Output) Head() []byte { return o.mem }

// Write adds p.
func (o *Output) Write(p []byte) (int, error) {
	if err := o.room(len(p)); err != nil {
		return 0, err
	}
	if o.file != nil {
		return o.file.Write(p)
	}
	o.mem = append(o.mem, p...)
	return len(p), nil
}

// WriteString is Write for a string.
func (o *Output) WriteString(s string) (int, error) {
	if err := o.room(len(s)); err != nil {
		return 0, err
	}
	if o.file != nil {
		return o.file.WriteString(s)
	}
	o.mem = append(o.mem, s...)
	return len(s), nil
}

// room prepares for n more bytes.
func (o *Output) room(n int) error {
	if o.size += int64(n); o.size > MaxOutput {
		return ErrOutput
	}
	if o.file != nil || len(o.mem)+n <= maxMemory {
		return nil
	}
	f, err := os.CreateTemp("", "weighstone-output-")
	if err != nil {
		return fmt.Errorf("spool output: %w", err)
	}
	o.file = f
	if err := os.Remove(f.Name()); err != nil {
		return fmt.Errorf("spool output: %w", err)
	}
	if _, err := f.Write(o.mem); err != nil {
		return fmt.Errorf("spool output: %w", err)
	}
	return nil
}

// Send answers x with the output from offset on, as a body of that type. The
// output is empty afterwards.
func (o *Output) Send(x *weighstone.Exchange, contentType string, offset int64) {
	if o.file != nil {
		x.Out.Type = contentType
		x.SendFile(o.file, offset, o.size-offset)
		o.file = nil
		o.Reset()
		return
	}
	x.Scratch, o.mem = o.mem, x.Scratch // so that nothing is copied
	if offset > 0 {
		x.Scratch = append(x.Scratch[:0], x.Scratch[offset:]...)
	}
	x.SendScratch(contentType)
	o.Reset()
}

// keptMemory is how large a buffer is kept for later exchanges, in bytes.
const keptMemory = 256 << 10

// Reset drops the output.
func (o *Output) Reset() {
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
	if cap(o.mem) > keptMemory {
		o.mem = nil
	}
	o.mem, o.size = o.mem[:0], 0
}

var _ io.StringWriter = (*Output)(nil)
