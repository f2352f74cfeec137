package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/weighstone/weighstone/bench"
)

// csvHeading names the columns of [CSV].
var csvHeading = []string{
	"record", "subject", "against", "handler", "plan", "clients", "idle", "keepalive", "arrival", "rate_asked",
	"run", "metric", "value", "lo", "hi", "n", "p", "published", "agrees", "claimed", "how", "at", "verdict", "note",
}

// CSV writes the document as one table with a value a line. Its first column
// says what of: "metric" is the median of a cell's runs with its interval,
// "errors" the number of a cell's errors of a cause, "run" the figure of one
// run, "comparison" the ratio of subject to against. What is not known has no
// line, what does not apply an empty field.
func CSV(w io.Writer, d *bench.Document) error {
	c := csv.NewWriter(w)
	c.Write(csvHeading) // errors stay until Error is asked
	for i := range d.Cells {
		csvCell(c, &d.Cells[i])
	}
	for i := range d.Comparisons {
		csvComparison(c, &d.Comparisons[i])
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("write the result as CSV: %w", err)
	}
	return nil
}

// A csvLine is a line by column.
type csvLine map[string]string

func (l csvLine) write(c *csv.Writer) {
	fields := make([]string, len(csvHeading))
	for i, name := range csvHeading {
		fields[i] = l[name]
	}
	c.Write(fields)
}

// number sets a column if there is a number.
func (l csvLine) number(column string, v *float64) {
	delete(l, column)
	if v != nil {
		l[column] = strconv.FormatFloat(*v, 'g', -1, 64)
	}
}

func csvCell(c *csv.Writer, cell *bench.Cell) {
	l := csvLine{
		"record": "metric", "subject": cell.Variant, "handler": cell.Handler,
		"clients": strconv.Itoa(cell.Load.Clients), "idle": strconv.Itoa(cell.Load.Idle),
		"keepalive": strconv.FormatBool(cell.Load.Keepalive), "arrival": cell.Load.Arrival,
		"verdict": string(cell.Verdict), "note": strings.Join(cell.Reasons, "; "),
	}
	if cell.Load.Plan != nil {
		l["plan"] = *cell.Load.Plan
	}
	l.number("rate_asked", cell.Load.Rate)
	for _, f := range append(figures(&cell.Metrics), serverFigures(cell.Server)...) {
		if f.value == nil || f.value.Median == nil {
			continue
		}
		l["metric"], l["n"] = f.name, strconv.Itoa(f.value.N)
		l.number("value", f.value.Median)
		l.number("lo", f.value.Lo)
		l.number("hi", f.value.Hi)
		l.write(c)
	}
	for _, column := range []string{"n", "lo", "hi"} {
		delete(l, column)
	}
	l["record"] = "errors"
	for i := bench.FaultRefused; i < bench.NumFaults; i++ {
		l["metric"], l["value"] = i.String(), strconv.FormatUint(cell.Metrics.Errors[i], 10)
		l.write(c)
	}
	l["record"] = "run"
	for i := range cell.Runs {
		r := &cell.Runs[i]
		l["run"], l["note"] = strconv.Itoa(r.Position), r.Discarded+r.Error
		for _, f := range append(figures(&r.Figures), serverFigures(r.Server)...) {
			if f.value != nil {
				l["metric"] = f.name
				l.number("value", f.value)
				l.write(c)
			}
		}
	}
}

func csvComparison(c *csv.Writer, r *bench.Comparison) {
	l := csvLine{"record": "comparison", "subject": r.A, "against": r.B, "metric": r.Metric, "note": r.Name}
	if r.Note != "" {
		l["note"] += "; " + r.Note
	}
	if r.Source != "" {
		l["note"] += "; published: " + r.Source
	}
	l.number("value", r.Ratio)
	l.number("lo", r.Lo)
	l.number("hi", r.Hi)
	l.number("p", r.P)
	l.number("published", r.Published)
	if r.Agrees != nil {
		l["agrees"] = strconv.FormatBool(*r.Agrees)
	}
	if r.Claimed != nil {
		l["claimed"] = strconv.FormatBool(*r.Claimed)
	}
	l["how"], l["at"] = r.How, r.At
	l.write(c)
}
