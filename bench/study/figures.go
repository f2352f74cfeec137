package study

import (
	"strconv"

	"github.com/weighstone/weighstone/bench/published"
)

// Figures are a study's published ones, by point.
type Figures map[Point]map[Metric]float64

// At returns a figure and whether there is one. The capacity is the rate for
// each part of the processor that the study says was used; where it says
// nothing, all of it was.
func (f Figures) At(p Point, m Metric) (float64, bool) {
	if m != Capacity {
		v, ok := f[p][m]
		return v, ok
	}
	rate, ok := f[p][Connections]
	if !ok {
		rate, ok = f[p][Requests]
	}
	if cpu, known := f[p][CPU]; ok && known && cpu > 0 {
		rate /= cpu / 100
	}
	return rate, ok
}

func (f Figures) set(p Point, m Metric, v float64) {
	if f[p] == nil {
		f[p] = map[Metric]float64{}
	}
	f[p][m] = v
}

// table reads one of the embedded tables; they are part of the program.
func table(name string) []published.Row {
	rows, err := published.Table(name)
	if err != nil {
		panic(err)
	}
	return rows
}

// clientsOf is a row's number of clients.
func clientsOf(r published.Row, column string) int {
	n, err := strconv.Atoi(r[column])
	if err != nil {
		panic("study: a published table has no number of clients: " + err.Error())
	}
	return n
}
