package report

import (
	"bytes"
	"fmt"
	"html/template"
	"io"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/study"
)

// An Entry is a study in an index: what came of it, or why nothing did.
type Entry struct {
	Study    study.Study
	Document *bench.Document // nil if it was not run
	Why      string          // it was not run
}

const indexSource = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Published comparisons, repeated</title>
<style>{{.Style}}</style>
</head>
<body>
<header><h1>Published comparisons, repeated</h1></header>
<main>
{{range .Entries}}<section>
<h2>{{.Study.Name}}: {{.Study.Title}}</h2>
{{if .Document}}{{with .Document.Study}}{{range .Summary}}<p class="summary">{{.}}</p>
{{end}}{{end}}<p>Verdict of the runs: {{.Document.Verdict}}. <a href="{{.Study.Name}}/report.html">The report</a>, <a href="{{.Study.Name}}/report.md">as Markdown</a>, <a href="{{.Study.Name}}/result.json">the result as JSON</a>.</p>
{{else}}<p>Not run: {{.Why}}.</p>
{{end}}</section>
{{end}}</main>
</body>
</html>
`

// Index writes the page that leads to the reports of several studies, each in
// a directory of its name beside.
func Index(w io.Writer, entries []Entry) error {
	t, err := template.New("index").Parse(indexSource)
	var b bytes.Buffer
	if err == nil {
		err = t.Execute(&b, struct {
			Style   template.CSS
			Entries []Entry
		}{template.CSS(pageStyle), entries})
	}
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write the index: %w", err)
	}
	return nil
}
