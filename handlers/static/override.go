package static

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"syscall"

	"github.com/weighstone/weighstone"
)

// maxOverride is how much of an override file is read, in bytes.
const maxOverride = 64 << 10

var errDirectives = errors.New("an override file has directives, which this server does not carry out")

// passes looks for override files along the path of x, in every root, and says
// whether there is none that would ask for something. Else x is answered.
func (h *Handler) passes(x *weighstone.Exchange) bool {
	path := x.In.Path
	for i, c := range path {
		if c != '/' || i+1 < len(path) && path[i+1] == '.' { // what is below is not served
			continue
		}
		name := string(path[1:i+1]) + h.override
		if i == 0 {
			name = h.override
		}
		for _, root := range h.roots {
			if err := h.harmless(root, name); err != nil {
				h.fail(x, http.StatusInternalServerError, err)
				return false
			}
		}
	}
	return true
}

// harmless looks whether name has nothing but comments, or is not there.
func (h *Handler) harmless(root *os.Root, name string) error {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	switch verdict := verdictOn(err); {
	case verdict == absent, verdict == http.StatusNotFound:
		return nil
	case err != nil:
		return fmt.Errorf("look for override files: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxOverride+1))
	switch {
	case err != nil:
		return fmt.Errorf("read override file: %w", err)
	case len(text) > maxOverride:
		return fmt.Errorf("read override file %s: it has more than %d bytes", name, maxOverride)
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return fmt.Errorf("%w: %s", errDirectives, name)
		}
	}
	return nil
}
