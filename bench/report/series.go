package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weighstone/weighstone/bench"
)

// A series is one subject under one kind of load, at one or several numbers
// of clients, ascending. Its cells are the document's.
type series struct {
	subject string
	load    string // handler and load in words, without the clients
	cells   []*bench.Cell
}

func (s *series) label() string { return s.subject + ", " + s.load }

// allSeries sorts a document's cells into series, in the order of their first
// cells.
func allSeries(cells []bench.Cell) []*series {
	type key struct{ subject, load string }
	var all []*series
	known := map[key]*series{}
	for i := range cells {
		c := &cells[i]
		k := key{c.Variant, loadWords(c)}
		s := known[k]
		if s == nil {
			s = &series{subject: k.subject, load: k.load}
			known[k], all = s, append(all, s)
		}
		s.cells = append(s.cells, c)
	}
	for _, s := range all {
		slices.SortStableFunc(s.cells, func(a, b *bench.Cell) int { return cmp.Compare(a.Load.Clients, b.Load.Clients) })
	}
	return all
}

// ladder says whether the series has several numbers of clients.
func (s *series) ladder() bool {
	return s.cells[0].Load.Clients != s.cells[len(s.cells)-1].Load.Clients
}

// at is the cell with so many clients, nil if there is none.
func (s *series) at(clients int) *bench.Cell {
	for _, c := range s.cells {
		if c.Load.Clients == clients {
			return c
		}
	}
	return nil
}

// ladders are the series that have several numbers of clients.
func ladders(all []*series) (found []*series) {
	for _, s := range all {
		if s.ladder() {
			found = append(found, s)
		}
	}
	return found
}

// loadWords is what a cell was asked, its number of clients aside.
func loadWords(c *bench.Cell) string {
	var parts []string
	if c.Handler != "" {
		parts = append(parts, c.Handler)
	}
	l := &c.Load
	if l.Plan != nil {
		parts = append(parts, *l.Plan)
	}
	if l.Keepalive {
		parts = append(parts, "kept")
	}
	if l.Rate != nil {
		parts = append(parts, fmt.Sprintf("%s at %s/s", l.Arrival, significant(*l.Rate)))
	}
	if l.Idle > 0 {
		parts = append(parts, fmt.Sprintf("%d idle", l.Idle))
	}
	if len(parts) == 0 {
		return "one connection a request"
	}
	return strings.Join(parts, ", ")
}
