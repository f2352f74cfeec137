package cgi

import (
	"bytes"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
	"github.com/weighstone/weighstone/handlers/gateway"
)

// An environ spells variables as the environment of a process.
type environ struct {
	text []byte
	ends []int
}

// Field adds NAME=value. A NUL, which no environment can hold, drops it.
func (e *environ) Field(name, value []byte) {
	if bytes.IndexByte(value, 0) >= 0 {
		return
	}
	e.text = append(e.text, name...)
	e.text = append(e.text, '=')
	e.text = append(e.text, value...)
	e.ends = append(e.ends, len(e.text))
}

// variables returns the environment of prog for x, whose body has length
// bytes.
func (h *Handler) variables(x *weighstone.Exchange, prog *gateway.Program, length int64) []string {
	e := environ{text: make([]byte, 0, 2<<10), ends: make([]int, 0, 48)}
	cgi.Variables(x, cgi.Script{
		Interface: cgi.Interface,
		Name:      prog.Name,
		File:      prog.File,
		Info:      prog.Info,
		Root:      h.opts.Root,
		Length:    length,
	}, &e)
	env := make([]string, 0, len(h.env)+len(e.ends))
	env = append(env, h.env...)
	text, start := string(e.text), 0
	for _, end := range e.ends {
		env = append(env, text[start:end])
		start = end
	}
	return env
}
