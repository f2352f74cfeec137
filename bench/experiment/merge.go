package experiment

import "github.com/weighstone/weighstone/bench"

// Merge makes one document of several from the same machine and command, with
// the environment of the first and the facts of all. There must be at least
// one.
func Merge(docs ...*bench.Document) *bench.Document {
	all := *docs[0]
	facts := map[string]string{}
	all.Cells, all.Comparisons, all.Reasons, all.Verdict = []bench.Cell{}, []bench.Comparison{}, []string{}, bench.Valid
	for _, d := range docs {
		for name, value := range d.Environment.Facts {
			facts[name] = value
		}
		all.Cells = append(all.Cells, d.Cells...)
		all.Comparisons = append(all.Comparisons, d.Comparisons...)
		all.Reasons = append(all.Reasons, d.Reasons...)
		all.Verdict = all.Verdict.Worse(d.Verdict)
	}
	all.Environment.Facts = facts
	return &all
}
