// Package published holds figures of published comparisons of web servers, to
// be shown beside measured ones. README.md, which [About] returns, says where
// each comes from and what must be known to read it.
//
// What compares across decades is the side of 1 on which a ratio lies, and
// little else: a reader is shown the sizes, and nothing judges them.
package published

import (
	"embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

//go:embed *.csv README.md
var files embed.FS

// About returns the text that explains the figures, as Markdown.
func About() string {
	b, err := files.ReadFile("README.md")
	if err != nil {
		panic(fmt.Sprintf("published: %v", err)) // it is embedded
	}
	return string(b)
}

// Names returns the tables there are, without ".csv", in alphabetical order.
func Names() []string {
	found, err := fs.Glob(files, "*.csv")
	if err != nil {
		panic(fmt.Sprintf("published: %v", err))
	}
	for i := range found {
		found[i] = strings.TrimSuffix(found[i], ".csv")
	}
	slices.Sort(found)
	return found
}

// A Row is one line of a table: its values by column.
type Row map[string]string

// Number returns the figure in a column, and whether there is one.
func (r Row) Number(column string) (float64, bool) {
	v, err := strconv.ParseFloat(r[column], 64)
	return v, err == nil
}

// Table returns the rows of a table in the order of the study.
func Table(name string) ([]Row, error) {
	f, err := files.Open(name + ".csv")
	if err != nil {
		return nil, fmt.Errorf("no published table %q: there are %s", name, strings.Join(Names(), ", "))
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read published table %s: %w", name, err)
	}
	rows := make([]Row, 0, len(lines)-1)
	for _, line := range lines[1:] {
		row := Row{}
		for i, column := range lines[0] {
			row[column] = line[i]
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// mustTable is Table for the names in this package's own code.
func mustTable(name string) []Row {
	rows, err := Table(name)
	if err != nil {
		panic(err)
	}
	return rows
}
