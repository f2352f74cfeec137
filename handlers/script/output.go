package script

import (
	"bytes"
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
	err  error
}

// Size is how many bytes were written.
func (o *Output) Size() int64 { return o.size }

// Err is why something could not be written; nil if all was.
func (o *Output) Err() error { return o.err }

// Reader returns a reader of all that was written, which ends the writing.
func (o *Output) Reader() (io.Reader, error) {
	if o.file == nil {
		return bytes.NewReader(o.mem), nil
	}
	if _, err := o.file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("spool output: %w", err)
	}
	return o.file, nil
}

// Write adds p.
func (o *Output) Write(p []byte) (int, error) {
	if o.room(len(p)); o.err != nil {
		return 0, o.err
	}
	if o.file == nil {
		o.mem = append(o.mem, p...)
		return len(p), nil
	}
	var n int
	n, o.err = o.file.Write(p)
	return n, o.err
}

// WriteString is Write for a string.
func (o *Output) WriteString(s string) (int, error) {
	if o.room(len(s)); o.err != nil {
		return 0, o.err
	}
	if o.file == nil {
		o.mem = append(o.mem, s...)
		return len(s), nil
	}
	var n int
	n, o.err = o.file.WriteString(s)
	return n, o.err
}

// room prepares for n more bytes, or sets o.err.
func (o *Output) room(n int) {
	if o.size += int64(n); o.size > MaxOutput && o.err == nil {
		o.err = ErrOutput
	}
	if o.err == nil && o.file == nil && len(o.mem)+n > maxMemory {
		o.err = o.spool()
	}
}

// spool moves what was written to an unlinked file.
func (o *Output) spool() error {
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

// Send answers x with the output as a body of that type. The output is empty
// afterwards.
func (o *Output) Send(x *weighstone.Exchange, contentType string) {
	if o.file != nil {
		x.Out.Type = contentType
		x.SendFile(o.file, 0, o.size)
		o.file = nil
		o.Reset()
		return
	}
	x.Scratch, o.mem = o.mem, x.Scratch // so that nothing is copied
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
	o.mem, o.size, o.err = o.mem[:0], 0, nil
}
