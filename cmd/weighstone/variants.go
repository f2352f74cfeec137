package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/weighstone/weighstone/servers"
)

type variantsCmd struct {
	Name string `arg:"" optional:"" help:"Only this one."`
	JSON bool   `name:"json" help:"As JSON."`
}

// Run lists the variants.
func (c *variantsCmd) Run(s *streams) error {
	all := servers.All()
	if c.Name != "" {
		v, err := servers.Find(c.Name)
		if err != nil {
			return usageError{err}
		}
		if !c.JSON {
			return describe(s.out, &v)
		}
		return writeJSON(s.out, rowOf(v))
	}
	if c.JSON {
		var rows []variantRow
		for _, v := range all {
			rows = append(rows, rowOf(v))
		}
		return writeJSON(s.out, rows)
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tFAMILY\tDISPATCH\tCONCURRENT\tKEEP-ALIVE\tAS IN")
	for _, v := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", v.Name, v.Family, v.Dispatch, v.Concurrent, yes(v.Keepalive), strings.Join(v.Historical, ", "))
	}
	return w.Flush()
}

// A variantRow is a variant as JSON.
type variantRow struct {
	servers.Variant
	Refused string `json:"refused,omitempty"` // why this machine can't run it
}

func rowOf(v servers.Variant) variantRow {
	row := variantRow{Variant: v}
	if err := v.Runs(); err != nil {
		row.Refused = err.Error()
	}
	return row
}

// describe tells all there is about one variant.
func describe(out io.Writer, v *servers.Variant) error {
	concurrent := string(v.Concurrent)
	if v.MaxConns > 0 {
		concurrent = fmt.Sprintf("%d at most: %s", v.MaxConns, v.Bound)
	}
	runs := "yes"
	if err := v.Runs(); err != nil {
		runs = "no: " + err.Error()
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"name", v.Name},
		{"family", string(v.Family)},
		{"accept", v.Accept},
		{"dispatch", v.Dispatch},
		{"concurrency", v.Concurrency},
		{"concurrent", concurrent},
		{"keepalive", yes(v.Keepalive)},
		{"historical", strings.Join(v.Historical, ", ")},
		{"runs here", runs},
		{"knobs", strings.Join(v.Knobs, "\n\t")},
	} {
		fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
	}
	return w.Flush()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// writeJSON writes v indented, with a line end.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
