package cgi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/weighstone/weighstone"
)

// A Spool is a request body that has been read to its end: in memory if it is
// short, else in a file without a name. Its owner closes it, or passes the
// file on and does not.
type Spool struct {
	Mem    []byte   // the whole body, unless File holds it
	File   *os.File // at offset 0; nil for a body in memory
	Length int64    // in bytes
}

// ReadBody reads body to its end, the first limit bytes into mem, which it
// grows as needed; a longer body goes to an unlinked temporary file. A failed
// read of body is told apart from a failed spool by [BodyStatus]. ReadBody
// bounds nothing: the engine's reader enforces the largest body.
func ReadBody(mem []byte, body io.Reader, limit int) (Spool, error) {
	mem = mem[:0]
	for len(mem) <= limit {
		if len(mem) == cap(mem) {
			mem = append(mem, 0)[:len(mem)]
		}
		n, err := body.Read(mem[len(mem):cap(mem)])
		mem = mem[:len(mem)+n]
		if err == io.EOF {
			if len(mem) > limit {
				break // the buffer had room for more than may stay
			}
			return Spool{Mem: mem, Length: int64(len(mem))}, nil
		}
		if err != nil {
			return Spool{}, &bodyError{err}
		}
	}
	return spoolToFile(mem, body)
}

// spoolToFile writes head and the rest of body to an unlinked file.
func spoolToFile(head []byte, body io.Reader) (Spool, error) {
	f, err := os.CreateTemp("", "weighstone-body-")
	if err != nil {
		return Spool{}, fmt.Errorf("spool body: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return Spool{}, fmt.Errorf("spool body: %w", err)
	}
	n, err := io.Copy(f, io.MultiReader(bytes.NewReader(head), &bodyReader{body}))
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return Spool{}, fmt.Errorf("spool body: %w", err)
	}
	return Spool{File: f, Length: n}, nil
}

// SpoolBody reads the body of x to its end, as [ReadBody] does, into x.Scratch
// if it is short. One that ends before its announced length is an error.
func SpoolBody(x *weighstone.Exchange, limit int) (Spool, error) {
	if !x.In.HasBody() || x.In.Body == nil {
		return Spool{}, nil
	}
	s, err := ReadBody(x.Scratch, x.In.Body, limit)
	if err == nil && x.In.Length >= 0 && s.Length < x.In.Length {
		s.Close()
		err = ErrShortBody
	}
	if err != nil {
		return Spool{}, err
	}
	return s, nil
}

// Reader returns a reader of the whole body.
func (s *Spool) Reader() io.Reader {
	if s.File != nil {
		return s.File
	}
	return bytes.NewReader(s.Mem)
}

// Close frees what the spool holds.
func (s *Spool) Close() error {
	if s.File == nil {
		return nil
	}
	return s.File.Close()
}

// A bodyError is a failed read of a request body: the client's fault.
type bodyError struct{ err error }

// Error names the operation; the readers of the engines may have done so.
func (e *bodyError) Error() string {
	const operation = "read request body: "
	return operation + strings.TrimPrefix(e.err.Error(), operation)
}

func (e *bodyError) Unwrap() error { return e.err }

// ErrShortBody is a request body that ended before its announced length.
var ErrShortBody error = &bodyError{io.ErrUnexpectedEOF}

// bodyReader marks the errors of a request body.
type bodyReader struct{ r io.Reader }

func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && err != io.EOF {
		err = &bodyError{err}
	}
	return n, err
}

// OfBody says whether err, or what it wraps, is a failed read of a request body.
func OfBody(err error) bool { return errors.As(err, new(*bodyError)) }

// BodyError marks err, other than nil, as a failed read of a request body, for
// [BodyStatus].
func BodyError(err error) error {
	if err == nil {
		return nil
	}
	return &bodyError{err}
}

// BodyStatus returns the status that answers an error of [ReadBody]: what the
// engine's error says if it has a method Status() int, 413 for too large, 408
// for too late, 400 for any other fault of the body, and 500 when the spool
// failed.
func BodyStatus(err error) int {
	var body *bodyError
	if !errors.As(err, &body) {
		return http.StatusInternalServerError
	}
	var known interface{ Status() int }
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &known):
		return known.Status()
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}
