package cgi

import (
	"fmt"
	"io"
)

// A stream is the body of a reply while its program runs. The engine reads it
// to the announced length or io.EOF; any other error says that what came so
// far is not the whole.
type stream struct {
	run   *run
	rest  []byte // read together with the header
	left  int64  // of the announced length; negative when none was
	whole bool
}

// Read returns output as soon as there is some.
func (s *stream) Read(p []byte) (int, error) {
	if s.left == 0 || s.whole {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	if s.left > 0 && int64(len(p)) > s.left {
		p = p[:s.left]
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	var err error
	if n == 0 {
		n, err = s.run.read(p)
	}
	if s.left > 0 {
		s.left -= int64(n)
	}
	if err == nil {
		return n, nil
	}
	if err == io.EOF {
		err = s.finish()
	}
	if err != io.EOF {
		err = fmt.Errorf("CGI reply: %w", err)
		s.run.h.opts.Log.Error("CGI reply breaks off", "script", s.run.script, "err", err)
	}
	return n, err
}

// finish judges output that is at its end.
func (s *stream) finish() error {
	if err := s.run.end(); err != nil {
		return err
	}
	if s.left > 0 {
		return errShort
	}
	s.whole = true
	return io.EOF
}

// Close ends the program, unless all of the reply was read: then it may
// finish.
func (s *stream) Close() error {
	r := s.run
	if s.left != 0 && !s.whole {
		r.kill(errClosed)
	}
	if r.feed != nil {
		r.feed.stop()
		<-r.feed.done
	}
	if s.left == 0 {
		r.retire()
		return nil
	}
	r.free()
	return nil
}
