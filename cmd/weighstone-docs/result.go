package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weighstone/weighstone/bench"
)

// take copies a result without its single runs, which the pages do not show.
func take(path, dir string) error {
	d, err := read(path)
	if err != nil {
		return err
	}
	if d.Name == "" {
		return fmt.Errorf("%s is no result of bench", path)
	}
	for i := range d.Cells {
		d.Cells[i].Runs = nil
	}
	text, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	kept, err := placeless(string(text))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	name := filepath.Base(path)
	if d.Study != nil { // they are all called result.json
		name = d.Name + ".json"
	}
	return os.WriteFile(filepath.Join(dir, name), []byte(kept+"\n"), 0o644)
}

func read(path string) (*bench.Document, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := new(bench.Document)
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if d.Schema != bench.Schema {
		return nil, fmt.Errorf("read %s: the schema is %q, not %q", path, d.Schema, bench.Schema)
	}
	return d, nil
}

// readAll reads the kept results, in the order of their names.
func readAll(dir string) ([]*bench.Document, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []*bench.Document
	for _, path := range paths {
		d, err := read(path)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}
