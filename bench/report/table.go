package report

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A table is text in columns that are as wide as they must be.
type table struct {
	right []bool // by column: aligned at its right side
	rows  [][]string
}

// newTable makes a table with its heading; a column whose heading begins with
// ">" is aligned at its right side.
func newTable(heading ...string) *table {
	t := &table{right: make([]bool, len(heading))}
	for i, h := range heading {
		heading[i], t.right[i] = strings.CutPrefix(h, ">")
	}
	t.rows = append(t.rows, heading)
	return t
}

func (t *table) add(row ...string) { t.rows = append(t.rows, row) }

func (t *table) write(b *bytes.Buffer) {
	widths := make([]int, len(t.right))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.right[i] {
				cell = pad + cell
			} else {
				cell += pad
			}
			if i > 0 && widths[i] > 0 {
				line.WriteString("  ")
			}
			line.WriteString(cell)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
