package study

import "slices"

// A Table is one of the study's own. It has a row for each number of clients
// of one server, or, where Servers are given, a row for each of those with so
// many Clients.
type Table struct {
	Number  string // as the study counts: "1A"
	Title   string
	Server  string
	Columns []Column

	Servers []string
	Clients int

	// Points, where there are any, are the rows: each a server with a number of
	// clients; Load is the columns'.
	Points []Point
}

// Has says whether one of the rows is a server's.
func (t *Table) Has(server string) bool {
	return slices.ContainsFunc(t.Points, func(p Point) bool { return p.Server == server })
}

// A Column is one metric under one load.
type Column struct {
	Label  string
	Load   string
	Metric Metric
	Digits int // after the point
}

// Shows says whether the table has a place for a figure.
func (t *Table) Shows(p Point, m Metric) bool {
	has := t.Server == p.Server
	for _, s := range t.Servers {
		has = has || s == p.Server && t.Clients == p.Clients
	}
	for _, at := range t.Points {
		has = has || at.Server == p.Server && at.Clients == p.Clients
	}
	for _, c := range t.Columns {
		if has && c.Load == p.Load && c.Metric == m {
			return true
		}
	}
	return false
}

// A Chart is one of the study's figures, redrawn: the measured and the
// published series on one picture, each as a multiple of its own first point,
// since absolute rates are never compared across decades.
type Chart struct {
	Title  string
	Metric Metric
	Series []Series
}

// A Series is a server under a load at all numbers of clients.
type Series struct{ Server, Load string }
