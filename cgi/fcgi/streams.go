package fcgi

import (
	"fmt"
	"io"
)

// input is the body of the request at work.
type input serving

// Read reads STDIN.
func (i *input) Read(p []byte) (int, error) {
	s := (*serving)(i)
	for s.left == 0 {
		if s.aborted {
			return 0, ErrAborted
		}
		if s.ended {
			return 0, io.EOF
		}
		if err := s.skip(s.padding); err != nil {
			return 0, err
		}
		s.padding = 0
		h, err := s.record()
		if err != nil {
			return 0, unexpected(err)
		}
		switch h.Type {
		case TypeStdin:
			s.left, s.padding, s.ended = h.Length, h.Padding, h.Length == 0
		case TypeAbort:
			s.padding, s.aborted = h.Length+h.Padding, true
		default:
			return 0, fmt.Errorf("%v within STDIN", h.Type)
		}
	}
	n, err := s.in.Read(p[:min(len(p), s.left)])
	s.left -= n
	return n, unexpected(err)
}

// output is a stream of the request at work. STDOUT is gathered, so that a
// short reply and its end leave in one write; STDERR is not.
type output struct {
	w     io.Writer
	t     Type
	id    uint16
	begun []byte // gathered
	err   error
}

// gatherAt is how many bytes of output are worth a write.
const gatherAt = 32 << 10

// Write writes to the stream.
func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	if o.t == TypeStderr || len(o.begun)+len(p) > gatherAt {
		records := AppendStream(nil, o.t, o.id, o.begun)
		records = AppendStream(records, o.t, o.id, p)
		o.begun = o.begun[:0]
		_, o.err = o.w.Write(records)
		return len(p), o.err
	}
	o.begun = append(o.begun, p...)
	return len(p), nil
}

// end sends what is gathered, the end of STDOUT and END_REQUEST.
func (o *output) end(status uint32) error {
	if o.err != nil {
		return o.err
	}
	last := AppendStream(nil, o.t, o.id, o.begun)
	last = AppendRecord(last, o.t, o.id, nil)
	_, err := o.w.Write(appendEnd(last, o.id, status, statusComplete))
	return err
}
