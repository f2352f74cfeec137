package experiment

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/pace"
	"github.com/weighstone/weighstone/internal/testproc"
)

// once runs a design without controls but those it has.
func once(t *testing.T, o Options, of func(l *lab) *design) (*bench.Document, error) {
	t.Helper()
	e := Experiment{Name: "gate", bare: true, design: func(l *lab) (*design, error) { return of(l), nil }}
	return e.run(context.Background(), o)
}

// TestThrottledClientIsClientBound takes most of its core away from the client
// and asks for more than the rest is good for.
func TestThrottledClientIsClientBound(t *testing.T) {
	const asked, hogs = 8_000, 5
	doc, err := once(t, options(t), func(l *lab) *design {
		for range hogs {
			testproc.StartHog(t, testproc.Self(hogOn+"="+strconv.Itoa(l.clientCPUs[0])))
		}
		c := mannered(t, l, "a", manner{}, 500*time.Millisecond)
		c.load.clients, c.load.warmup = 1000, 0 // one is always free: what is late is so by the client
		c.load.arrival = pace.Arrival{Kind: pace.Constant, Rate: asked}
		return &design{units: [][]*cell{{c}}, runs: 2}
	})
	if err != nil {
		t.Fatal(err)
	}
	out := &doc.Cells[0]
	t.Logf("%s: %s", out.Verdict, strings.Join(out.Reasons, "; "))
	if reasons := strings.Join(out.Reasons, "; "); out.Verdict != bench.ClientBound || !strings.Contains(reasons, "schedule lag: the client sent") {
		t.Errorf("%s: %s", out.Verdict, reasons)
	}
}

// TestTooFewConnectionsAreClientBound: one connection can't carry what is asked.
func TestTooFewConnectionsAreClientBound(t *testing.T) {
	const asked = 200_000
	doc, err := once(t, options(t), func(l *lab) *design {
		c := mannered(t, l, "a", manner{}, 250*time.Millisecond)
		c.load.clients, c.load.warmup = 1, 0
		c.load.arrival = pace.Arrival{Kind: pace.Constant, Rate: asked}
		return &design{units: [][]*cell{{c}}, runs: 2}
	})
	if err != nil {
		t.Fatal(err)
	}
	if reasons := strings.Join(doc.Cells[0].Reasons, "; "); !strings.Contains(reasons, "never sent") || doc.Cells[0].Verdict.Worse(bench.ClientBound) != doc.Cells[0].Verdict {
		t.Errorf("%s: %s", doc.Cells[0].Verdict, reasons)
	}
	if r := doc.Cells[0].Load.Rate; r == nil || *r != asked || doc.Cells[0].Load.Arrival != "constant" {
		t.Errorf("the load is %+v", doc.Cells[0].Load)
	}
}

func TestOneWrongByteInTenThousand(t *testing.T) {
	// On a loaded machine a run may not come to the ten thousandth request.
	var doc *bench.Document
	for trial := range 5 {
		var err error
		doc, err = once(t, options(t), func(l *lab) *design {
			c := mannered(t, l, "a", manner{wrong: 10_000}, time.Duration(trial+1)*1500*time.Millisecond)
			return &design{units: [][]*cell{{c}}, runs: 3}
		})
		if err != nil {
			t.Fatal(err)
		}
		if requests(doc) > 20_000 {
			break
		}
	}
	n := doc.Cells[0].Metrics.Errors[bench.FaultContent]
	if doc.Verdict != bench.RepliesWrong || n == 0 || !strings.Contains(strings.Join(doc.Reasons, " "), "content") {
		t.Errorf("%s, %d wrong of %d, %q", doc.Verdict, n, requests(doc), doc.Reasons)
	}
	if f := doc.Cells[0].Runs; f[0].Client.FirstError == "" && f[1].Client.FirstError == "" && f[2].Client.FirstError == "" {
		t.Error("the first wrong reply was not kept")
	}
}

// requests counts the good replies of all runs.
func requests(d *bench.Document) (n uint64) {
	for _, r := range d.Cells[0].Runs {
		n += r.Requests
	}
	return n
}

func TestServerAnswersGarbage(t *testing.T) {
	doc, err := once(t, options(t), func(l *lab) *design {
		return &design{units: [][]*cell{{mannered(t, l, "a", manner{garbage: 3}, 100*time.Millisecond)}}, runs: 6}
	})
	for _, want := range []string{"not one good reply", "malformed", "garbage", "I am confused"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if doc == nil || !doc.Verdict.Failed() || len(doc.Cells[0].Runs) != 1 {
		t.Errorf("document: %+v", doc)
	}
}

func TestServerStopsAnswering(t *testing.T) {
	doc, err := once(t, options(t), func(l *lab) *design {
		l.patience = 200 * time.Millisecond
		return &design{units: [][]*cell{{mannered(t, l, "a", manner{silent: 3}, 100*time.Millisecond)}}, runs: 6}
	})
	if err == nil || !strings.Contains(err.Error(), "no reply came") || doc == nil || !doc.Verdict.Failed() {
		t.Errorf("error: %v, document: %+v", err, doc)
	}
}

func TestSameRate(t *testing.T) {
	doc, err := once(t, options(t), func(l *lab) *design {
		a := mannered(t, l, "a", manner{burn: 1000}, 100*time.Millisecond)
		b := mannered(t, l, "b", manner{burn: 200_000}, 100*time.Millisecond)
		d := &design{units: [][]*cell{{a, b}}, runs: 2, compare: []comparison{{name: "b to a", a: b, b: a, metric: claimCPU}}}
		d.sameRate([]*cell{a, b}, 0)
		return d
	})
	if err != nil {
		t.Fatal(err)
	}
	x, y := doc.Cells[2], doc.Cells[3]
	if x.Load.Rate == nil || y.Load.Rate == nil || *x.Load.Rate != *y.Load.Rate || x.Load.Arrival != "poisson" || *x.Load.Rate < 1 {
		t.Fatalf("loads %+v and %+v", x.Load, y.Load)
	}
	c := doc.Comparisons
	if len(c) != 2 || c[0].At != atSaturation || c[1].At != atSameRate || c[1].Ratio == nil || *c[1].Ratio < 1.3 {
		t.Errorf("comparisons: %+v", c)
	}
	if text := strings.Join(doc.Headline, "\n"); !strings.Contains(text, "loopback") || !strings.Contains(text, "same offered rate") {
		t.Errorf("headline: %s", text)
	}
}
