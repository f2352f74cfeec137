package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/weighstone/weighstone/bench"
)

// document puts together what has been measured; failed is why it ended
// early, nil if it did not.
func (s *session) document(failed error) *bench.Document {
	doc := &bench.Document{
		Schema: bench.Schema, Command: s.lab.Command, Environment: s.environment,
		Cells: []bench.Cell{}, Comparisons: []bench.Comparison{}, Verdict: bench.Valid, Reasons: []string{},
	}
	for name, value := range s.lab.facts {
		doc.Environment.Facts[name] = value
	}
	doc.Name = s.experiment.Name
	if len(s.lab.unequal) > 0 {
		doc.Unequal = s.lab.unequal
	}
	doc.Design = &bench.Design{Repetitions: s.design.runs, Quick: s.lab.Quick, Seed: s.lab.Seed, Order: order}
	doc.Noise, doc.Ceilings = s.design.noise(), s.design.ceilings()
	judgeNoise(doc)
	verdicts := map[*cell]bench.Verdict{}
	for _, c := range s.design.cells() {
		out := c.document(s.design.runs)
		verdicts[c] = out.Verdict
		doc.Cells = append(doc.Cells, out)
		doc.Verdict = doc.Verdict.Worse(out.Verdict)
		// When the whole ended early, that many cells lack runs says nothing new.
		if out.Verdict != bench.Valid && (failed == nil || out.Verdict != bench.Incomplete) {
			doc.Reasons = append(doc.Reasons, fmt.Sprintf("%s is %s: %s", c.name, out.Verdict, strings.Join(out.Reasons, "; ")))
		}
	}
	for i := range s.design.compare {
		c := &s.design.compare[i]
		result := c.evaluate(verdicts[c.a], verdicts[c.b], spreadOf(doc.Noise, c.metric))
		doc.Comparisons = append(doc.Comparisons, result)
		if c.same && result.Lo != nil && result.Hi != nil && (*result.Lo > 1 || *result.Hi < 1) {
			doc.Verdict = doc.Verdict.Worse(bench.Noisy)
			doc.Reasons = append(doc.Reasons, fmt.Sprintf("%s differs in %s by a factor of %.2f to %.2f", c.name, c.metric, *result.Lo, *result.Hi))
		}
	}
	if failed != nil {
		doc.Verdict = doc.Verdict.Worse(bench.Incomplete)
		total := s.design.timed()
		doc.Reasons = append([]string{fmt.Sprintf("ended after %d of %d runs: %v", s.position, total, failed)}, doc.Reasons...)
	}
	doc.Reasons = append(doc.Reasons, s.design.remarks...)
	doc.Rankings = s.design.rankings()
	doc.Headline = s.design.headline(doc)
	if st, ok := s.experiment.Study(&s.lab.Options); ok {
		doc.Study = st.Judge(doc)
		for _, c := range s.design.cells() {
			doc.Study.Transcripts = append(doc.Study.Transcripts, c.transcripts...)
		}
		doc.Headline = append(doc.Study.Summary[:len(doc.Study.Summary):len(doc.Study.Summary)], doc.Headline...)
	}
	return doc
}

// order is how the runs of a document follow each other.
const order = "each round has all cells, those that are compared right after each other; shuffled by the seed, " +
	"and turned round every second time (A B, then B A); every server is started afresh in each round"

// document returns the cell as documents have it.
func (c *cell) document(want int) bench.Cell {
	out := bench.Cell{Handler: c.handler, Name: c.name, Variant: c.variant(), Runs: c.plain(), Load: c.load.offered(), Syscalls: c.syscalls, Knobs: c.knobs}
	out.Metrics = summarise(out.Runs)
	out.Server, out.WarmupS = summariseServer(out.Runs), warmups(out.Runs)
	j := c.judge(&out.Metrics, want)
	out.Verdict, out.Reasons = j.verdict, append([]string{}, j.reasons...)
	return out
}

func (c *cell) variant() string {
	if c.program != nil {
		return c.program.name
	}
	return c.subject.Name()
}

// writable makes the directory of the results and says why none could be
// written there.
func writable(dir string) error {
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, ".writable-*"); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// Save writes a document as DIR/NAME.json; it appears whole or not at all.
func Save(doc *bench.Document, dir, name string) error {
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	temp, err := os.CreateTemp(dir, "."+name+"-*")
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	defer os.Remove(temp.Name()) // gone after a successful rename
	_, err = temp.Write(append(b, '\n'))
	if err = errors.Join(err, temp.Chmod(0o644), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), filepath.Join(dir, name+".json"))
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
