package report

import (
	"fmt"
	"io"

	"github.com/weighstone/weighstone/bench"
)

// Write writes the document in the format of a name: text, json, csv, html,
// gobench or webstone.
func Write(w io.Writer, format string, d *bench.Document) error {
	switch format {
	case "text":
		return Text(w, d)
	case "json":
		return JSON(w, d)
	case "csv":
		return CSV(w, d)
	case "html":
		return HTML(w, d)
	case "gobench":
		return GoBench(w, d)
	case "webstone":
		return WebStone(w, d)
	}
	return fmt.Errorf("no format %q for reports", format)
}
