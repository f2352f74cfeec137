package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/study"
)

// StudyMarkdown writes the report of a study as Markdown, charts left out.
func StudyMarkdown(w io.Writer, s *study.Study, d *bench.Document) error {
	var b bytes.Buffer
	p := newStudyPage(s, d)
	fmt.Fprintf(&b, "# %s\n\n", markdown(s.Title))
	if d.Study != nil {
		summed(&b, d.Study)
	}
	fmt.Fprintf(&b, "Verdict of the runs: **%s**. %s.\n\n## Conclusions\n\n", d.Verdict, markdown(p.Where))
	conclusionGrid(p.Conclusions).markdown(&b)
	b.WriteString("\nA conclusion holds where the whole 95 % interval of its figure is as wanted, does not hold where none of it is, and can't be judged " +
		"otherwise. The figures:\n\n")
	for _, c := range p.Conclusions {
		fmt.Fprintf(&b, "- %s: %s\n", markdown(c.Text), markdown(c.Figure))
	}
	b.WriteString("\n## What stands for which\n\n")
	standins := grid{Heading: []string{"Published", "Here", "Flags", "Why"}}
	for _, v := range p.Standins {
		standins.Rows = append(standins.Rows, []string{v.Published, v.Variant, v.Flags, v.Why})
	}
	standins.markdown(&b)
	b.WriteString("\n## Tables\n\nMedians of the runs with their 95 % intervals, and in parentheses the published figures. Only their shapes compare: the machines are decades apart.\n")
	for i := range p.Tables {
		fmt.Fprintf(&b, "\n%s\n\n", markdown(p.Tables[i].Title))
		p.Tables[i].markdown(&b)
	}
	if p.Beside != nil {
		fmt.Fprintf(&b, "\n%s\n\n", markdown(p.Beside.Title))
		p.Beside.markdown(&b)
	}
	if len(p.Transcripts) > 0 {
		b.WriteString("\n## Reports as the tools wrote them\n")
		for _, t := range p.Transcripts {
			fmt.Fprintf(&b, "\n%s, %s:\n\n    %s\n", markdown(t.Cell), markdown(t.Tool), strings.ReplaceAll(strings.TrimRight(t.Text, "\n"), "\n", "\n    "))
		}
	}
	fmt.Fprintf(&b, "\n## How\n\n%s\n\nNot repeated: %s\n\nSource: %s.\n", markdown(s.Held), markdown(s.NotRepeated), markdown(s.Cite))
	for _, note := range s.Notes {
		fmt.Fprintf(&b, "\n%s\n", markdown(note))
	}
	list := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		for _, line := range lines {
			fmt.Fprintf(&b, "- %s\n", markdown(line))
		}
	}
	list("Reasons of the verdict", d.Reasons)
	var environment []string
	for _, f := range p.Environment {
		environment = append(environment, f.Name+": "+f.Value)
	}
	list("Environment", environment)
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// Conclusions writes what came of a study in short, as Markdown: its three
// sentences, and the table of its conclusions.
func Conclusions(w io.Writer, d *bench.Document) error {
	var b bytes.Buffer
	if d.Study != nil {
		summed(&b, d.Study)
		var lines []conclusionLine
		for i := range d.Study.Conclusions {
			lines = append(lines, concluded(&d.Study.Conclusions[i]))
		}
		conclusionGrid(lines).markdown(&b)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the conclusions: %w", err)
	}
	return nil
}

// summed writes the three sentences.
func summed(b *bytes.Buffer, s *bench.Study) {
	for _, line := range s.Summary {
		fmt.Fprintf(b, "%s\n\n", markdown(line))
	}
}

func conclusionGrid(lines []conclusionLine) *grid {
	g := &grid{Heading: []string{"The study's conclusion", "Here", "Figure", "Wanted", "Published", "Margin, or why not"}}
	for _, c := range lines {
		g.Rows = append(g.Rows, []string{c.Text, c.Judgement, c.Value, c.Want, c.Published, c.Margin})
	}
	return g
}

// markdown writes a grid as a table.
func (g *grid) markdown(b *bytes.Buffer) {
	row := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + markdown(c) + " |")
		}
		b.WriteString("\n")
	}
	row(g.Heading)
	b.WriteString("|" + strings.Repeat("---|", len(g.Heading)) + "\n")
	for _, r := range g.Rows {
		row(r)
	}
}

// markdown is text as one line of Markdown in which nothing has a meaning.
func markdown(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "*", "\\*", "`", "\\`", "_", "\\_").Replace(text)
}
