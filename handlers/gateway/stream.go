package gateway

import (
	"fmt"
	"io"
)

// A stream is the body of a reply while its program runs. The engine reads it
// to the announced length or io.EOF; any other error says that what came so
// far is not the whole.
type stream struct {
	reply *Reply
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
		n, err = s.reply.out.Read(p)
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
		h := s.reply.host
		err = fmt.Errorf("%s reply: %w", h.Kind, err)
		h.complain(" reply breaks off", err, "script", s.reply.script, "err", err)
	}
	return n, err
}

// finish judges output that is at its end.
func (s *stream) finish() error {
	if err := s.reply.out.End(); err != nil {
		return err
	}
	if s.left > 0 {
		return ErrShort
	}
	s.whole = true
	if s.reply.feed == nil { // now, or the next request might find the program busy
		s.reply.free()
	}
	return io.EOF
}

// Close ends the program, unless all of the reply was read: then it may
// finish.
func (s *stream) Close() error {
	r := s.reply
	if r.buf == nil { // freed at the end
		return nil
	}
	if s.left != 0 && !s.whole {
		r.out.Kill(ErrClosed)
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
