package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/experiment"
	"github.com/weighstone/weighstone/bench/report"
)

type benchCompareCmd struct {
	Old    string `arg:"" help:"A result as JSON, from --out or -o json."`
	New    string `arg:"" help:"Another, to compare with it."`
	Force  bool   `help:"Compare though kernel, cores or fixtures differ."`
	Output string `short:"o" enum:"text,json,csv,html,gobench,webstone" default:"text" help:"text, json, csv or html."`
}

// Validate refuses the forms that hold runs, of which a comparison has none.
func (c *benchCompareCmd) Validate() error {
	switch c.Output {
	case "gobench":
		return errors.New("-o gobench: a comparison has no runs; have benchstat compare the two results in that form")
	case "webstone":
		return errors.New("-o webstone: its tables are those of one result, not of a comparison")
	}
	return nil
}

// Run compares what two results say of the same cells.
func (c *benchCompareCmd) Run(s *streams) error {
	old, err := readDocument(c.Old)
	if err != nil {
		return err
	}
	now, err := readDocument(c.New)
	if err != nil {
		return err
	}
	doc, err := experiment.Compare(old, now, c.Force)
	if err != nil {
		return fmt.Errorf("compare %s with %s: %w", c.Old, c.New, err)
	}
	doc.Command = s.args
	if err := report.Write(s.out, c.Output, doc); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	if doc.Verdict.Failed() {
		return errSilent
	}
	return nil
}

// readDocument reads a result that was written as JSON.
func readDocument(path string) (*bench.Document, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	var d bench.Document
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, fmt.Errorf("read the result %s: expected one document as JSON: %w", path, err)
	}
	if d.Schema != bench.Schema {
		return nil, fmt.Errorf("read the result %s: expected the schema %q, but got %q", path, bench.Schema, d.Schema)
	}
	return &d, nil
}
