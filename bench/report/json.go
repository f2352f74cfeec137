package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/weighstone/weighstone/bench"
)

// JSON writes the document as indented JSON.
func JSON(w io.Writer, d *bench.Document) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("write the result as JSON: %w", err)
	}
	return nil
}
