package experiment

import (
	"slices"

	"github.com/weighstone/weighstone/bench"
)

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
	for i, d := range docs {
		if i == 0 {
			continue // they are in the copy
		}
		all.Name += " " + d.Name
		all.Headline = slices.Concat(all.Headline, d.Headline)
		all.Noise = slices.Concat(all.Noise, d.Noise)
		all.Ceilings = slices.Concat(all.Ceilings, d.Ceilings)
		all.Rankings = slices.Concat(all.Rankings, d.Rankings)
	}
	all.Environment.Facts = facts
	return &all
}
