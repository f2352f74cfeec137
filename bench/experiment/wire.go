package experiment

import (
	"context"
	"fmt"

	"github.com/weighstone/weighstone/bench/subject"
)

// wrongAdvice ends the error of a server that answers something else.
const wrongAdvice = "\nto do: ask both with \"curl -i\" and see which is wrong; a real server can be left out by naming the others with --subject"

// A wireKey is what is asked of servers that must send the same.
type wireKey struct {
	content           string
	keepalive, http10 bool
}

// wires are what servers sent for it.
type wires struct {
	ours   *subject.Wire // nil while none of ours was asked
	theirs []theirWire
}

// A theirWire is what a real server sent.
type theirWire struct {
	name string
	wire subject.Wire
}

// isReal says whether a subject is not one of ours.
func isReal(s subject.Subject) bool {
	local, started := s.(*subject.Local)
	return !started || local.Real()
}

// proveWire looks whether a real server sends, for a proof of a cell and by the
// cell's kind of connection, what ours does: the same status, bytes and
// framing, the connection kept alike. Ours are not compared with one another,
// since a variant that always closes is there to be compared.
func (l *lab) proveWire(ctx context.Context, c *cell, base string, p proof) error {
	if !l.real || isFloor(c.subject) { // which has one reply for everything
		return nil
	}
	key := wireKey{p.content, c.load.keepalive, c.load.http10}
	_, file := l.manifest.Find(p.content)
	limited, cancel := context.WithTimeout(ctx, 2*l.patience)
	defer cancel()
	w, err := subject.Look(limited, base, subject.Request{Path: p.path, Keepalive: key.keepalive, HTTP10: key.http10, Program: !file})
	if err != nil {
		return fmt.Errorf("%s: %w%s", c.name, err, said(c.subject))
	}
	all := l.wires[key]
	if all == nil {
		all = &wires{}
		l.wires[key] = all
	}
	switch {
	case isReal(c.subject):
		all.theirs = append(all.theirs, theirWire{c.name, w})
	case all.ours == nil && w.Kept == key.keepalive:
		all.ours = &w
	}
	return all.same()
}

// same compares what has come so far.
func (w *wires) same() error {
	if w.ours == nil {
		return nil
	}
	for _, t := range w.theirs {
		if err := t.wire.Same(*w.ours); err != nil {
			return fmt.Errorf("%s does not answer as ours do: %w%s", t.name, err, wrongAdvice)
		}
	}
	return nil
}
