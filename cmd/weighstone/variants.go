package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"

	"github.com/weighstone/weighstone/cmd/internal/site"
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
	if err := w.Flush(); err != nil {
		return err
	}
	for _, missing := range unavailable() {
		fmt.Fprintf(s.out, "unavailable here: %s\n", missing)
	}
	return nil
}

// unavailable says in a sentence each which routes no variant can answer here,
// and what brings what they need.
func unavailable() []string {
	var all []string
	quiet := slog.New(slog.DiscardHandler)
	here := site.Config{Programs: builtin("cgi", quiet), Apps: new(appFlags).apps(quiet)}
	if path, err := beside(site.HelperName); err == nil {
		here.Helper = path
	}
	if err := here.Apps.Interpreters.Find(); err != nil {
		all = append(all, err.Error())
	}
	for _, lack := range here.Lacks() {
		all = append(all, lack.Why)
	}
	return all
}

// A variantRow is a variant as JSON.
type variantRow struct {
	servers.Variant
	Refused     string   `json:"refused,omitempty"`     // why this machine can't run it
	Unavailable []string `json:"unavailable,omitempty"` // routes that lack what they need here
}

func rowOf(v servers.Variant) variantRow {
	row := variantRow{Variant: v, Unavailable: unavailable()}
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
		{"unavailable", strings.Join(unavailable(), "\n\t")},
		{"knobs", strings.Join(v.Knobs, "\n\t")},
	} {
		if row[0] != "unavailable" || row[1] != "" {
			fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
		}
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
