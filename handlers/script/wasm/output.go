package wasm

import (
	"io"
	"time"

	"github.com/weighstone/weighstone/handlers/gateway"
	"github.com/weighstone/weighstone/handlers/script"
)

// finished is the output of a module that has ended, for the gateway that
// makes a reply of it: nothing is left to wait for or to kill.
type finished struct {
	script.Output
	reader io.Reader
	status int
}

var _ gateway.Output = (*finished)(nil)

// begin makes the output ready to be read.
func (f *finished) begin() (err error) {
	f.reader, err = f.Reader()
	return err
}

// Read reads output.
func (f *finished) Read(p []byte) (int, error) { return f.reader.Read(p) }

// PauseAt does nothing: the output never pauses.
func (f *finished) PauseAt(time.Time) {}

// Watch does nothing.
func (f *finished) Watch() {}

// End says that the output is whole.
func (f *finished) End() error { return nil }

// Status returns the module's exit status.
func (f *finished) Status() int { return f.status }

// Kill does nothing.
func (f *finished) Kill(error) {}

// Detach does nothing.
func (f *finished) Detach() {}

// Free closes the file of a long output.
func (f *finished) Free() { f.Reset() }
