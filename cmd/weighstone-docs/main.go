// Weighstone-docs keeps the pages of the variants and studies true: the system
// calls of one request and the measured figures in docs/variants and the example
// runs in docs/studies come from captures and results that are committed beside
// them, never by hand.
//
//	weighstone-docs capture VARIANT...  trace one request on each, into docs/calls
//	weighstone-docs take RESULT.json    keep what the pages need of a result, in docs/results
//	weighstone-docs write               fill the pages from both
//	weighstone-docs check               say which pages are not as write would make them
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/alecthomas/kong"

	"github.com/weighstone/weighstone/servers"
)

// The directories, below the one with the docs.
const (
	pagesDir   = "variants"
	callsDir   = "calls"
	resultsDir = "results"
	studiesDir = "studies"
)

type cli struct {
	Docs string `default:"docs" help:"Where the documents are."`

	Capture captureCmd `cmd:"" help:"Trace one request on each variant."`
	Take    takeCmd    `cmd:"" help:"Keep what the pages need of a result."`
	Write   writeCmd   `cmd:"" help:"Fill the pages."`
	Check   checkCmd   `cmd:"" help:"Say which pages are not as write would make them."`
}

type writeCmd struct{}

// Run fills all pages.
func (writeCmd) Run(c *cli) error {
	return eachPage(c.Docs, func(p *page) error {
		if p.old == p.new {
			return nil
		}
		fmt.Fprintln(os.Stderr, "writing", p.path)
		return os.WriteFile(p.path, []byte(p.new), 0o644)
	})
}

type checkCmd struct{}

// Run compares all pages.
func (checkCmd) Run(c *cli) error {
	var stale []error
	err := eachPage(c.Docs, func(p *page) error {
		if p.old != p.new {
			stale = append(stale, fmt.Errorf("%s is stale: make docs", p.path))
		}
		return nil
	})
	return errors.Join(append(stale, err)...)
}

type takeCmd struct {
	Result []string `arg:"" help:"Documents as bench writes them."`
}

// Run keeps the results.
func (t takeCmd) Run(c *cli) error {
	for _, path := range t.Result {
		if err := take(path, filepath.Join(c.Docs, resultsDir)); err != nil {
			return err
		}
	}
	return nil
}

type captureCmd struct {
	Variants []string `arg:"" help:"The variants to trace."`
	Program  string   `default:"bin/weighstone" help:"The program."`
}

// Run traces each variant.
func (t captureCmd) Run(c *cli, ctx context.Context) error {
	for _, v := range t.Variants {
		row, err := servers.Find(v)
		if err != nil {
			return err
		}
		text, err := capture(ctx, t.Program, v, row.Keepalive)
		if err != nil {
			return fmt.Errorf("trace %s: %w", v, err)
		}
		dir := filepath.Join(c.Docs, callsDir)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, v+".txt"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c := new(cli)
	k := kong.Parse(c, kong.Name("weighstone-docs"), kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(c))
	k.FatalIfErrorf(k.Run())
}
