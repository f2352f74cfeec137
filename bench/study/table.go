package study

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
