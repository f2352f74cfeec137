// Package plan makes the plans of a benchmark: one URL, or a WebStone file
// list with a share of it answered by programs.
//
// A [List] is what a file says. A [Plan] is a list resolved against a server,
// with what makes each reply right; it implements bench.Plan.
package plan

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/weighstone/weighstone/bench"
)

// Options say how requests are made of a list. The zero value asks by GET and
// knows nothing about the files.
type Options struct {
	Seed uint64 // of the clients' sequences

	Method string   // empty: GET
	Header []string // further header lines, "Name: value"
	Body   []byte

	// Files says what is known of the file at a path (without query): its
	// size and SHA-256. Nil when nothing is.
	Files func(path string) (size int64, sum [sha256.Size]byte, ok bool)

	// VariableLength says that the replies of a class differ, so that the
	// first one settles nothing about the others. What list and files say
	// stands.
	VariableLength bool

	Mix     Mix    // how many files are replaced by programs; empty: none
	Dynamic string // path of the program, "/api/send" when empty; see [Mix]
}

// Validate says what is wrong with the request that the options make.
func (o *Options) Validate() error {
	if strings.ContainsFunc(o.Method, notToken) {
		return fmt.Errorf("method %q: expected one word, such as POST", o.Method)
	}
	if o.Dynamic != "" {
		if why := badTarget(o.Dynamic); why != "" {
			return fmt.Errorf("dynamic path %q%s", o.Dynamic, why)
		}
	}
	_, _, err := parseFields(o.Header)
	return err
}

// A Plan is a fixed set of requests, drawn by weight. It is made once, then
// only read, and shared by all workers.
type Plan struct {
	asks    []bench.Ask // by class
	classes []bench.Class
	draw    Drawer
	first   []uint16 // of each page, its first class; one more at the end
	seed    uint64
}

// URL makes the plan that asks for one URL over and over. What the files do
// not settle about its replies the first one does, in length alone: a page
// may carry the time.
func URL(raw string, o Options) (*Plan, error) {
	_, target, err := SplitURL(raw)
	if err != nil {
		return nil, err
	}
	list := &List{Name: raw, Format: Lines2, Pages: []Page{{Weight: 1, Files: []File{{Target: target, Size: -1}}}}}
	return newPlan(list, raw, o, bench.LearnLength)
}

// New makes a plan of a list. Its relative paths are resolved against base,
// an http URL. What neither list nor files settle about the replies of a
// class, its first good reply does, in length and content.
func New(list *List, base string, o Options) (*Plan, error) {
	return newPlan(list, base, o, bench.LearnContent)
}

func newPlan(list *List, base string, o Options, learn bench.Learn) (*Plan, error) {
	b, err := newBuilder(list, base, o, learn)
	if err != nil {
		return nil, err
	}
	list = b.list
	p := &Plan{seed: o.Seed}
	weights := make([]uint64, len(list.Pages))
	for i := range list.Pages {
		page := &list.Pages[i]
		weights[i] = page.Weight
		p.first = append(p.first, uint16(len(p.asks)))
		for k, f := range page.Files {
			ask, class, err := b.ask(f)
			if err != nil {
				return nil, err
			}
			if k == 0 {
				class.Weight = float64(page.Weight)
			}
			ask.Class = uint16(len(p.asks))
			p.asks, p.classes = append(p.asks, ask), append(p.classes, class)
		}
	}
	if len(p.asks) == 0 || len(p.asks) >= bench.MaxClasses {
		return nil, fmt.Errorf("file list %s: expected 1 to %d files, found %d", list.Name, bench.MaxClasses-1, len(p.asks))
	}
	p.first = append(p.first, uint16(len(p.asks)))
	p.draw = NewDrawer(weights)
	return p, nil
}

// Classes implements bench.Plan: a class is one file of one page, in the
// order of the list.
func (p *Plan) Classes() []bench.Class { return p.classes }

// Ask returns what is asked for a class.
func (p *Plan) Ask(class int) bench.Ask { return p.asks[class] }

// DynamicShare is the expected share of requests that programs answer, from 0
// to 1.
func (p *Plan) DynamicShare() float64 {
	var all, dynamic float64
	for i := range len(p.first) - 1 {
		page := p.classes[p.first[i]:p.first[i+1]]
		for _, c := range page {
			all += page[0].Weight
			if c.Dynamic {
				dynamic += page[0].Weight
			}
		}
	}
	return dynamic / all
}

// Script implements bench.Plan.
func (p *Plan) Script(client int) bench.Script {
	return &script{plan: p, rand: rand.New(rand.NewPCG(p.seed, uint64(client)))}
}

// A script draws pages and asks for the files of each in turn.
type script struct {
	plan      *Plan
	rand      *rand.Rand
	next, end uint16 // classes left of the page
}

// Next implements bench.Script.
func (s *script) Next(ask *bench.Ask) {
	if s.next == s.end {
		page := s.plan.draw.Draw(s.rand)
		s.next, s.end = s.plan.first[page], s.plan.first[page+1]
	}
	*ask = s.plan.asks[s.next]
	s.next++
}

// A builder makes the request of a file.
type builder struct {
	list           *List
	host, basePath string
	fields         []byte
	hostField      string
	o              Options
	learn          bench.Learn
	replaced       sizes
}

func newBuilder(list *List, base string, o Options, learn bench.Learn) (*builder, error) {
	host, path, err := SplitURL(base)
	if err != nil {
		return nil, err
	}
	path, _, _ = strings.Cut(path, "?")
	if o.Dynamic == "" {
		o.Dynamic = "/api/send"
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.VariableLength {
		learn = bench.LearnNothing
	}
	b := &builder{list: list, host: host, basePath: path, o: o, learn: learn}
	if b.fields, b.hostField, err = parseFields(o.Header); err != nil {
		return nil, err
	}
	b.replaced, err = o.Mix.replaced(b)
	return b, err
}

// ask makes the request and the class of f.
func (b *builder) ask(f File) (bench.Ask, bench.Class, error) {
	target, size, sum, err := b.facts(f)
	if err != nil {
		return bench.Ask{}, bench.Class{}, err
	}
	ask := bench.Ask{
		Method: b.o.Method, Host: b.hostField, Fields: b.fields, Body: b.o.Body,
		Expect: bench.Expect{Length: size, Sum: sum, Learn: b.learn},
	}
	dynamic := b.replaced.has(size)
	if dynamic {
		target = fmt.Sprintf("%s?size=%d", b.o.Dynamic, size)
		if why := badTarget(target); why != "" {
			return bench.Ask{}, bench.Class{}, fmt.Errorf("dynamic path %q%s", b.o.Dynamic, why)
		}
		ask.Expect.Sum = nil
	}
	ask.Target = []byte(target)
	if b.o.Method != "" && b.o.Method != "GET" && b.o.Method != "HEAD" {
		ask.Expect = bench.Expect{Length: -1, Learn: b.learn} // not the file's own reply
	}
	return ask, bench.Class{Name: target, Dynamic: dynamic}, nil
}

// facts returns the request target of f, and the size, or -1, and SHA-256, or
// nil, of what is there.
func (b *builder) facts(f File) (target string, size int64, sum *[sha256.Size]byte, err error) {
	target, err = resolve(f.Target, b.host, b.basePath)
	if err != nil {
		return "", 0, nil, fmt.Errorf("%s:%d: %w", b.list.Name, f.Line, err)
	}
	size = f.Size
	if b.o.Files == nil {
		return target, size, nil, nil
	}
	path, _, _ := strings.Cut(target, "?")
	n, s, ok := b.o.Files(path)
	if !ok {
		return target, size, nil, nil
	}
	if size >= 0 && size != n {
		return "", 0, nil, fmt.Errorf("%s:%d: %s has %d bytes, expected %d as the list says", b.list.Name, f.Line, path, n, size)
	}
	return target, n, &s, nil
}
