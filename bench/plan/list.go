package plan

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/weighstone/weighstone/bench"
)

// A Format is one of the two kinds of WebStone file list.
type Format uint8

// The formats.
const (
	Pages1 Format = 1 + iota // WebStone 1.x: pages of files
	Lines2                   // WebStone 2.x: one URL a line
)

// String names the format as documents do.
func (f Format) String() string {
	if f == Pages1 {
		return "webstone 1.x pages"
	}
	return "webstone 2.x list"
}

// A List is a file list as it was written. It is plain data.
type List struct {
	Name   string // of the file, for messages
	Format Format
	Pages  []Page // in a list of 2.x, each of one file
}

// A Page is drawn by its weight; then its files are fetched in turn.
type Page struct {
	Weight uint64 // relative to the sum of all; at least 1
	Files  []File
}

// A File is one request target of a list.
type File struct {
	Target string // a path, relative or absolute, or a URL
	Size   int64  // of the body in bytes, -1 when the list does not say
	Line   int    // where it stands, from 1
}

// What a list can hold. The bounds of 1.x are the original's.
const (
	maxPages       = 100
	maxFilesOfPage = 50
	maxLines2      = bench.MaxClasses - 1
	maxLineLength  = 8 << 10
	maxWeight      = 1 << 32
)

// A SyntaxError says where a list is wrong and what was expected there.
type SyntaxError struct {
	File string
	Line int // from 1
	Got  string
	Want string
}

// Error is "file:line: found this, expected that".
func (e *SyntaxError) Error() string {
	got := "the end of the list"
	switch {
	case e.Got == "":
	case strings.TrimSpace(e.Got) == "":
		got = "a blank line"
	case len(e.Got) > 60:
		got = strconv.Quote(e.Got[:60]) + "..."
	default:
		got = strconv.Quote(e.Got)
	}
	return fmt.Sprintf("%s:%d: found %s, expected %s", e.File, e.Line, got, e.Want)
}

// Open reads the list in a file.
func Open(name string) (*List, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open file list: %w", err)
	}
	defer f.Close()
	return Parse(name, f)
}

// Parse reads a list of either format: it is of 1.x when its first line that
// is no comment holds one integer and nothing else. The name is for messages.
// Errors are a [*SyntaxError] or those of reading.
func Parse(name string, r io.Reader) (*List, error) {
	s := newScanner(name, r)
	first, ok := s.next()
	if !ok {
		return nil, s.fail("", "a number of pages (1.x) or \"path weight #bytes\" (2.x)")
	}
	if s.blank(first) {
		return nil, s.fail(first, "a number of pages (1.x) or \"path weight #bytes\" (2.x); blank lines are not allowed")
	}
	if _, err := strconv.ParseInt(strings.TrimSpace(first), 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return parsePages(s, first)
	}
	return parseLines(s, first)
}

// A scanner yields the lines of a list without the comments.
type scanner struct {
	name  string
	lines *bufio.Scanner
	line  int
}

func newScanner(name string, r io.Reader) *scanner {
	s := &scanner{name: name, lines: bufio.NewScanner(r)}
	s.lines.Buffer(make([]byte, 0, 1024), maxLineLength)
	return s
}

// next returns the next line that is no comment, and false at the end.
func (s *scanner) next() (string, bool) {
	for s.lines.Scan() {
		s.line++
		if b := bytes.TrimSuffix(s.lines.Bytes(), []byte("\r")); !bytes.HasPrefix(b, []byte("#")) {
			if len(b) == 0 {
				return " ", true // a blank line, told from the end of the list
			}
			return string(b), true
		}
	}
	return "", false
}

func (s *scanner) blank(line string) bool { return strings.TrimSpace(line) == "" }

// fail makes the error for a line, or for the end of the list or what stopped
// the reading.
func (s *scanner) fail(got, want string) error {
	if err := s.lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return &SyntaxError{s.name, s.line + 1, "a longer line", fmt.Sprintf("at most %d bytes a line", maxLineLength)}
	} else if err != nil {
		return fmt.Errorf("read file list %s: %w", s.name, err)
	}
	line := s.line
	if got == "" {
		line++
	}
	return &SyntaxError{s.name, line, got, want}
}
