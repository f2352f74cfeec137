// Package wat assembles WebAssembly modules from a part of their text format:
// functions, one memory, globals, data and imports of functions, with folded
// instructions on 32-bit integers. So the sample programs can be read where
// they lie, and need no compiler that a fresh machine does not have. What it
// takes, other assemblers take too.
package wat

import (
	"fmt"
	"strconv"
	"strings"
)

// A node is an expression of the text: a list in brackets, or a word or
// string.
type node struct {
	list []node // nil for a word
	word string // with its quotes, if it is a string
	line int
}

// op is the first word of a list, empty if there is none.
func (n *node) op() string {
	if len(n.list) == 0 {
		return ""
	}
	return n.list[0].word
}

// read reads all expressions of a text.
func read(text string) ([]node, error) {
	r := reader{text: text, line: 1}
	var all []node
	for {
		n, ok, err := r.next()
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", r.line, err)
		}
		if !ok {
			return all, nil
		}
		all = append(all, n)
	}
}

// A reader is what of a text is still to be read.
type reader struct {
	text string
	line int
}

// next reads one expression; ok is false at the end of the text.
func (r *reader) next() (n node, ok bool, err error) {
	r.skip()
	if r.text == "" {
		return n, false, nil
	}
	n.line = r.line
	switch r.text[0] {
	case ')':
		return n, false, fmt.Errorf("a bracket too many")
	case '"':
		n.word, err = r.quoted()
		return n, true, err
	case '(':
		r.text = r.text[1:]
		n.list = []node{}
		for {
			if r.skip(); strings.HasPrefix(r.text, ")") {
				r.text = r.text[1:]
				return n, true, nil
			}
			inner, ok, err := r.next()
			if err != nil {
				return n, false, err
			}
			if !ok {
				return n, false, fmt.Errorf("a bracket of line %d is not closed", n.line)
			}
			n.list = append(n.list, inner)
		}
	}
	end := strings.IndexAny(r.text, " \t\r\n();\"")
	if end < 0 {
		end = len(r.text)
	}
	if end == 0 {
		return n, false, fmt.Errorf("unexpected %q", r.text[:1])
	}
	n.word, r.text = r.text[:end], r.text[end:]
	return n, true, nil
}

// skip drops white space, and comments from two semicolons to the line's end.
func (r *reader) skip() {
	for r.text != "" {
		switch {
		case r.text[0] == '\n':
			r.line++
		case strings.HasPrefix(r.text, ";;"):
			end := strings.IndexByte(r.text, '\n')
			if end < 0 {
				end = len(r.text)
			}
			r.text = r.text[end:]
			continue
		case strings.IndexByte(" \t\r", r.text[0]) < 0:
			return
		}
		r.text = r.text[1:]
	}
}

// quoted reads a string.
func (r *reader) quoted() (string, error) {
	for i := 1; i < len(r.text); i++ {
		switch r.text[i] {
		case '\\':
			i++
		case '\n':
			return "", fmt.Errorf("a string is not closed")
		case '"':
			s := r.text[:i+1]
			r.text = r.text[i+1:]
			return s, nil
		}
	}
	return "", fmt.Errorf("a string is not closed")
}

// unquote returns what a string stands for.
func unquote(n node) (string, error) {
	if len(n.word) < 2 || n.word[0] != '"' {
		return "", fmt.Errorf("line %d: expected a string", n.line)
	}
	var b strings.Builder
	s := n.word[1 : len(n.word)-1]
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte(`nrt"\'`, s[i]); at >= 0 {
			b.WriteByte("\n\r\t\"\\'"[at])
			continue
		}
		if i+1 >= len(s) {
			return "", fmt.Errorf("line %d: unknown escape in %s", n.line, n.word)
		}
		code, err := strconv.ParseUint(s[i:i+2], 16, 8)
		if err != nil {
			return "", fmt.Errorf("line %d: unknown escape in %s", n.line, n.word)
		}
		b.WriteByte(byte(code))
		i++
	}
	return b.String(), nil
}

// number reads an integer of 32 bits, signed or not.
func number(n node) (int32, error) {
	v, err := strconv.ParseInt(n.word, 0, 64)
	if err != nil || v < -1<<31 || v >= 1<<32 {
		return 0, fmt.Errorf("line %d: expected a number of 32 bits, got %q", n.line, n.word)
	}
	return int32(v), nil
}
