package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/experiment"
	"github.com/weighstone/weighstone/bench/load"
	"github.com/weighstone/weighstone/bench/report"
	"github.com/weighstone/weighstone/fixtures"
)

// write writes results in the format asked for.
func (c *loadCmd) write(s *streams, results []*load.Result) error {
	var err error
	switch c.Output {
	case "text":
		err = load.WriteText(s.out, results...)
	case "ab":
		err = report.AB(s.out, report.Indexing(c.ABCompat), results...)
		// ab's form has no place for what the figures are worth.
		for _, r := range results {
			if v, reasons := r.Verdict(); v != bench.Valid {
				fmt.Fprintf(s.err, "weighstone: %s: %s\n", v, strings.Join(reasons, "; "))
			}
		}
	default:
		environment := experiment.Environment(fixtures.Expected().Digest)
		err = report.Write(s.out, c.Output, load.Document(s.args, environment, results...))
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// documents writes one document after another.
type documents struct {
	w      io.Writer
	format string
	kept   []*bench.Document
	any    bool
}

// add writes a document, or keeps it if its format allows but one.
func (o *documents) add(d *bench.Document) error {
	if o.format == "html" || o.format == "csv" {
		o.kept = append(o.kept, d)
		return nil
	}
	if o.any && o.format != "json" {
		fmt.Fprintln(o.w)
	}
	o.any = true
	return o.write(d)
}

// end writes what was kept, as one document.
func (o *documents) end() error {
	if len(o.kept) == 0 {
		return nil
	}
	return o.write(experiment.Merge(o.kept...))
}

func (o *documents) write(d *bench.Document) error {
	if err := report.Write(o.w, o.format, d); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
