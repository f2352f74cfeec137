package study

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weighstone/weighstone/bench"
)

// Judge says of each of the study's conclusions whether it holds in a
// document, and sums up in three sentences.
func (s *Study) Judge(doc *bench.Document) *bench.Study {
	out := &bench.Study{Name: s.Name, Conclusions: []bench.Conclusion{}}
	for i := range s.Claims {
		out.Conclusions = append(out.Conclusions, s.judge(&s.Claims[i], measured{s, doc}))
	}
	out.Summary = []string{s.claimed(), s.measured(doc), verdict(out.Conclusions)}
	return out
}

func (s *Study) judge(c *Claim, from source) bench.Conclusion {
	out := bench.Conclusion{Text: c.Text, Figure: c.Figure.Words(s), Want: c.Want.String()}
	if p := c.Figure.value(tables{s}); p.Unknown == "" {
		out.Published = bench.Number(p.Median)
	}
	v := c.Figure.value(from)
	out.N = v.N
	if v.N > 0 {
		out.Value, out.Lo, out.Hi = bench.Number(v.Median), bench.Number(v.Lo), bench.Number(v.Hi)
	}
	if v.Unknown != "" {
		out.Lo, out.Hi, out.Reason = nil, nil, v.Unknown
		return out
	}
	out.Holds, out.Margin, out.Reason = c.Want.judge(v)
	return out
}

// judge compares a value with its range. Only where the whole interval lies
// inside, or the whole outside, is anything said; and where the question is on
// which side of 1 a ratio lies, one that is nearer to 1 than the same server
// twice says nothing.
func (r Range) judge(v Value) (holds *bool, margin, reason string) {
	inside := v.Lo >= r.Lo && v.Hi <= r.top()
	outside := v.Hi < r.Lo || v.Lo > r.top()
	if !inside && !outside {
		reason = "the interval holds both"
		if v.Open != "" {
			reason = v.Open
		}
		return nil, "", reason
	}
	sided := r.Lo == 1 || r.Hi == 1
	if sided && v.Median == 1 && v.Noise == 1 {
		return nil, "", "both are the same"
	}
	if sided && math.Max(v.Median, 1/v.Median) <= v.Noise {
		return nil, "", fmt.Sprintf("the same server twice differs by a factor of up to %.3g", v.Noise)
	}
	return &inside, r.margin(v, inside), ""
}

// margin says how far the nearer end of the interval is from the bound that
// would change the judgement.
func (r Range) margin(v Value, inside bool) string {
	type distance struct{ end, bound float64 }
	var all []distance
	switch {
	case inside:
		if r.Lo > 0 {
			all = append(all, distance{v.Lo, r.Lo})
		}
		if r.Hi > 0 {
			all = append(all, distance{v.Hi, r.Hi})
		}
	case v.Hi < r.Lo:
		all = append(all, distance{v.Hi, r.Lo})
	default:
		all = append(all, distance{v.Lo, r.Hi})
	}
	nearest, text := math.Inf(1), ""
	for _, d := range all {
		apart := math.Inf(1)
		if d.end > 0 {
			apart = math.Max(d.end/d.bound, d.bound/d.end)
		}
		if text == "" || apart < nearest {
			nearest, text = apart, fmt.Sprintf("the nearer end of the interval is %s, the bound %s: a factor of %s", number(d.end), number(d.bound), number(apart))
			if math.IsInf(apart, 1) {
				text = fmt.Sprintf("the nearer end of the interval is %s, the bound %s", number(d.end), number(d.bound))
			}
		}
	}
	return text
}

// number is v with three digits, or whole.
func number(v float64) string {
	if v >= 1000 && !math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func (s *Study) claimed() string { return "The study claimed: " + sentence(s.Claimed) }

// measured says in a sentence what was measured.
func (s *Study) measured(doc *bench.Document) string {
	var stand, variants []string
	places := map[string][]string{} // of the study's servers, by what stands for them
	for i := range s.Servers {
		if v := &s.Servers[i]; v.Published != "" && v.Variant != "" && v.Changes == "" && s.ran(doc, v.Key) {
			if places[v.Variant] == nil {
				variants = append(variants, v.Variant)
			}
			places[v.Variant] = append(places[v.Variant], v.Published)
		} else if v.Peer != "" && s.ran(doc, v.Key) {
			stand = append(stand, v.Label())
		}
	}
	for i, v := range variants {
		variants[i] = fmt.Sprintf("%s (in place of %s)", v, list(places[v]))
	}
	stand = append(variants, stand...)
	runs := 0
	if doc.Design != nil {
		runs = doc.Design.Repetitions
	}
	text := fmt.Sprintf("Measured here were %s, at %d loads, %d runs each", list(stand), len(doc.Cells), runs)
	if e := &doc.Environment; e.Cores > 0 {
		text += fmt.Sprintf(", on %d cores of %s over %s", e.Cores, orSome(e.CPU, "a processor"), orSome(e.Facts["network"], "a network"))
	}
	if doc.Verdict != bench.Valid {
		text += fmt.Sprintf(" (the result is %s)", doc.Verdict)
	}
	return text + "."
}

// ran says whether any point of a server was run.
func (s *Study) ran(doc *bench.Document, server string) bool {
	for _, u := range s.Full {
		for _, p := range u {
			if p.Server == server && s.Find(doc, p) != nil {
				return true
			}
		}
	}
	return false
}

// told is how many conclusions of a kind the third sentence names: more, and
// nobody reads it. All stand in the table below it.
const told = 3

// verdict says in a sentence what holds, and by what margin. Why the others
// can't be judged is too much for a sentence.
func verdict(all []bench.Conclusion) string {
	var holds, fails []string
	open := 0
	for i := range all {
		c := &all[i]
		switch {
		case c.Holds == nil:
			open++
		case *c.Holds:
			holds = append(holds, short(c))
		default:
			fails = append(fails, short(c))
		}
	}
	text := fmt.Sprintf("Of its %d conclusions %d %s here", len(all), len(holds), agree(len(holds), "holds", "hold"))
	part := func(of []string) string {
		switch more := len(of) - told; {
		case len(of) == 0:
			return ""
		case more > 0:
			of = append(of[:told:told], fmt.Sprintf("and %d more", more))
		}
		return " (" + strings.Join(of, "; ") + ")"
	}
	return text + part(holds) + fmt.Sprintf(", %d %s not", len(fails), agree(len(fails), "does", "do")) + part(fails) + fmt.Sprintf(", and %d can't be judged.", open)
}

// agree is a verb for one or for several.
func agree(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// short is a conclusion with its figure; the interval is for the table.
func short(c *bench.Conclusion) string {
	text := strings.TrimSuffix(c.Text, ".")
	if c.Value == nil {
		return text
	}
	return text + ": " + number(*c.Value)
}

// Interval is a conclusion's figure with its interval as text.
func Interval(c *bench.Conclusion) string {
	switch {
	case c.Value == nil:
		return "-"
	case c.Hi == nil && (c.Lo == nil || *c.Lo == 0):
		return number(*c.Value)
	case c.Hi == nil:
		return number(*c.Value) + ", at least " + number(*c.Lo)
	case c.Lo == nil || *c.Lo == 0 && *c.Value > 0:
		return number(*c.Value) + ", at most " + number(*c.Hi)
	}
	return fmt.Sprintf("%s [%s, %s]", number(*c.Value), number(*c.Lo), number(*c.Hi))
}

func orSome(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// list joins words as a sentence does.
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return "nothing"
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}
