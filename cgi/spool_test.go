package cgi_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/weighstone/weighstone/cgi"
)

func TestReadBody(t *testing.T) {
	const limit = 100
	for _, n := range []int{0, 1, limit - 1, limit, limit + 1, 10 * limit, 1 << 20} {
		want := bytes.Repeat([]byte("ab\n"), n/3+1)[:n]
		for about, r := range map[string]io.Reader{
			"whole": bytes.NewReader(want), "byte by byte": iotest.OneByteReader(bytes.NewReader(want)), "end with data": iotest.DataErrReader(bytes.NewReader(want)),
		} {
			s, err := cgi.ReadBody(make([]byte, 0, 4*limit), r, limit)
			if err != nil {
				t.Fatal(err)
			}
			got := s.Mem
			if s.File != nil {
				if got, err = io.ReadAll(s.File); err != nil {
					t.Fatal(err)
				}
			}
			if (s.File != nil) != (n > limit) || s.Length != int64(n) || !bytes.Equal(got, want) {
				t.Errorf("%d bytes %s: in a file: %v, length %d, same: %v", n, about, s.File != nil, s.Length, bytes.Equal(got, want))
			}
			s.Close()
		}
	}
}

func TestReadBodyLeavesNoName(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := cgi.ReadBody(nil, strings.NewReader("more than nothing"), 3)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if entries, err := os.ReadDir(os.TempDir()); err != nil || len(entries) > 0 {
		t.Errorf("%v, error %v; want no entry", entries, err)
	}
}

type statusError int

func (e statusError) Error() string { return "engine says no" }
func (e statusError) Status() int   { return int(e) }

func TestBodyStatus(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{statusError(413), 413},
		{&http.MaxBytesError{Limit: 1}, 413},
		{os.ErrDeadlineExceeded, 408},
		{errors.New("malformed chunk"), 400},
		{io.ErrUnexpectedEOF, 400},
	} {
		for _, size := range []int64{10, 1000} {
			body := io.MultiReader(io.LimitReader(zeros{}, size), iotest.ErrReader(c.err))
			_, err := cgi.ReadBody(nil, body, 100)
			if got := cgi.BodyStatus(err); got != c.want || !errors.Is(err, c.err) {
				t.Errorf("%v after %d bytes: status %d for %v, want %d", c.err, size, got, err, c.want)
			}
		}
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	_, err := cgi.ReadBody(nil, io.LimitReader(zeros{}, 1000), 100)
	if got := cgi.BodyStatus(err); got != 500 {
		t.Errorf("no room for a spool: status %d for %v, want 500", got, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
