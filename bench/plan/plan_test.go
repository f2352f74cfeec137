package plan

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/weighstone/weighstone/bench"
	"pgregory.net/rapid"
)

const base = "http://127.0.0.1:8080/"

func open(t testing.TB, name string) *List {
	t.Helper()
	list, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func parse(t testing.TB, text string) *List {
	t.Helper()
	list, err := Parse("list", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestURL(t *testing.T) {
	for raw, want := range map[string]string{
		"http://127.0.0.1:8080":             "/",
		"http://127.0.0.1:8080/":            "/",
		"http://127.0.0.1:8080?q=1":         "/?q=1",
		"http://127.0.0.1:8080/a%2fb/../c?": "/a%2fb/../c?",
		"http://[::1]:80/x":                 "/x",
	} {
		p, err := URL(raw, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var ask bench.Ask
		p.Script(0).Next(&ask)
		if string(ask.Target) != want || ask.Expect.Length != -1 || ask.Expect.Learn != bench.LearnLength {
			t.Errorf("%s: %+v, want target %s", raw, ask, want)
		}
	}
	for _, raw := range []string{"", "127.0.0.1:80", "https://h/", "http://", "http:///x", "http://h/#x", "http://h/ x", "http://u@h/", "http://h:x/"} {
		if _, err := URL(raw, Options{}); err == nil {
			t.Errorf("%q was accepted", raw)
		}
	}
}

func TestRequestOptions(t *testing.T) {
	p, err := URL(base+"x", Options{Method: "POST", Header: []string{"X-A: b", "host:  example.com "}, Body: []byte("hi")})
	if err != nil {
		t.Fatal(err)
	}
	ask := p.Ask(0)
	if ask.Method != "POST" || string(ask.Fields) != "X-A: b\r\n" || ask.Host != "example.com" || string(ask.Body) != "hi" {
		t.Errorf("%+v", ask)
	}
	for _, h := range []string{"X", ": x", "a b: c", "X: a\r\nY: b", "Connection: close", "content-length: 3"} {
		if _, err := URL(base, Options{Header: []string{h}}); err == nil {
			t.Errorf("header %q was accepted", h)
		}
	}
	if _, err := URL(base, Options{Method: "GE T"}); err == nil {
		t.Error("a method with a space was accepted")
	}
}

func TestTargetsAreResolved(t *testing.T) {
	p, err := New(parse(t, "/a\nb?x\nhttp://127.0.0.1:8080/c/d\n"), base+"dir/index.html?q", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"/a", "/dir/b?x", "/c/d"} {
		if got := string(p.Ask(i).Target); got != want {
			t.Errorf("target %s, want %s", got, want)
		}
	}
	if _, err := New(parse(t, "/a\nhttp://other/c\n"), base, Options{}); err == nil || !strings.Contains(err.Error(), "list:2:") {
		t.Errorf("error %v, want one about another host in line 2", err)
	}
}

func TestFilesSettleExpectations(t *testing.T) {
	sum := sha256.Sum256([]byte("x"))
	files := func(path string) (int64, [32]byte, bool) { return 500, sum, path == "/a" }
	p, err := New(parse(t, "/a?v=1 1\n/b 1 #7\n/c\n"), base, Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	if e := p.Ask(0).Expect; e.Length != 500 || e.Sum == nil || *e.Sum != sum {
		t.Errorf("/a: %+v", e)
	}
	if e := p.Ask(1).Expect; e.Length != 7 || e.Sum != nil || e.Learn != bench.LearnContent {
		t.Errorf("/b: %+v", e)
	}
	if e := p.Ask(2).Expect; e.Length != -1 {
		t.Errorf("/c: %+v", e)
	}
	if _, err := New(parse(t, "/a 1 #501\n"), base, Options{Files: files}); err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("error %v, want one about 500 bytes", err)
	}
}

// TestMixShares holds the shares against those of the 1996 study and the 2.0
// documentation.
func TestMixShares(t *testing.T) {
	for _, c := range []struct {
		list  string
		mix   Mix
		share float64
	}{
		{"filelist.ss", "", 0}, {"filelist.ss", Static, 0}, {"filelist.ss", Light, 50. / 200},
		{"filelist.ss", Medium, 84. / 200}, {"filelist.ss", Heavy, 1},
		{"filelist.standard", Static, 0}, {"filelist.standard", Light, .14},
		{"filelist.standard", Medium, .49}, {"filelist.standard", Heavy, 1},
	} {
		p, err := New(open(t, "testdata/"+c.list), base, Options{Mix: c.mix, Dynamic: "/cgi-bin/send"})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.DynamicShare(); math.Abs(got-c.share) > 1e-12 {
			t.Errorf("%s %s: share %v, want %v", c.list, c.mix, got, c.share)
		}
	}
}

func TestMixAsksForTheSizeItReplaces(t *testing.T) {
	p, err := New(open(t, "testdata/filelist.ss"), base, Options{Mix: Medium, Dynamic: "/cgi-bin/send"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, c := range p.Classes() {
		if c.Dynamic {
			ask := p.Ask(i)
			got = append(got, fmt.Sprintf("%s %d", ask.Target, ask.Expect.Length))
		}
	}
	want := "/cgi-bin/send?size=1024 1024, /cgi-bin/send?size=5120 5120, /cgi-bin/send?size=4096 4096, " +
		"/cgi-bin/send?size=6144 6144, /cgi-bin/send?size=11264 11264"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}

func TestMixRefuses(t *testing.T) {
	for _, c := range []struct {
		text, want string
		mix        Mix
	}{
		{"/a\n", "size of /a", Heavy},
		{"/a 1 #5\n", "Silicon Surf and the standard set only", Light},
		{"/a 1 #5\n", `mix "lite"`, "lite"},
	} {
		if _, err := New(parse(t, c.text), base, Options{Mix: c.mix}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one about %s", err, c.want)
		}
	}
}

// TestScript checks that clients are reproducible and differ, that pages come
// whole and in order, and that the shares drawn are those of the list: by
// Pearson's statistic under the 99.9 % point for 7 degrees of freedom, 24.32.
func TestScript(t *testing.T) {
	p, err := New(open(t, "testdata/filelist.ss"), base, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	sequence := func(client int) []uint16 {
		s, ask, out := p.Script(client), bench.Ask{}, []uint16(nil)
		for range 100000 {
			s.Next(&ask)
			out = append(out, ask.Class)
		}
		return out
	}
	a, again, b := sequence(0), sequence(0), sequence(1)
	if fmt.Sprint(a) != fmt.Sprint(again) || fmt.Sprint(a) == fmt.Sprint(b) {
		t.Error("clients must be reproducible and different")
	}
	counts := make([]float64, len(p.Classes()))
	draws := 0.
	for i, class := range a {
		counts[class]++
		if p.Classes()[class].Weight > 0 {
			draws++
		} else if a[i-1] != class-1 {
			t.Fatalf("class %d after %d", class, a[i-1])
		}
	}
	chi := 0.
	for i, c := range p.Classes() {
		if c.Weight > 0 {
			want := c.Weight / 100 * draws
			chi += (counts[i] - want) * (counts[i] - want) / want
		}
	}
	if chi > 24.32 {
		t.Errorf("chi-squared %.1f on 7 degrees of freedom: %v", chi, counts)
	}
}

func TestNextAllocatesNothing(t *testing.T) {
	p, err := New(open(t, "testdata/filelist.ss"), base, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, ask := p.Script(0), bench.Ask{}
	if n := testing.AllocsPerRun(1000, func() { s.Next(&ask) }); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}

// TestDrawerIsExact checks that the columns of the alias table add up to the
// weights, for any weights.
func TestDrawerIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Uint64Range(1, maxWeight), 1, 200).Draw(t, "weights")
		d := NewDrawer(weights)
		got := make([]uint64, len(weights))
		for i, keep := range d.keep {
			if keep > d.total {
				t.Fatalf("column %d keeps %d of %d", i, keep, d.total)
			}
			got[i] += keep
			got[d.alias[i]] += d.total - keep
		}
		for i, w := range weights {
			if got[i] != w*uint64(len(weights)) {
				t.Fatalf("weight %d of %d: share %d/%d", i, w, got[i], len(weights))
			}
		}
	})
}
