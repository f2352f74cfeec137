package specweb

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/textproto"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/load"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
)

func newPlan(clients, dirs int, seed uint64) *Plan {
	return NewPlan(Draw{
		Seed: seed, Dirs: dirs, Clients: clients, Content: rules.NewSet(1),
		Tables: rules.NewTables(seed, 100, time.Now().Unix()), LineRate: 400_000,
	})
}

// chi2 fails when draws are as far from their probabilities as happens once in a
// thousand times by chance, or rarer; of a fixed seed that is once and for all.
func chi2(t *testing.T, what string, got []int, weights []uint64) {
	t.Helper()
	var n, all float64
	for i, w := range weights {
		n, all = n+float64(got[i]), all+float64(w)
	}
	sum := 0.0
	for i, w := range weights {
		want := n * float64(w) / all
		sum += (float64(got[i]) - want) * (float64(got[i]) - want) / want
	}
	// The 0.999 quantile, by Wilson and Hilferty.
	k := float64(len(weights) - 1)
	c := 1 - 2/(9*k) + 3.0902*math.Sqrt(2/(9*k))
	if limit := k * c * c * c; sum > limit {
		t.Errorf("%s: chi-squared %.1f with %.0f degrees of freedom, allowed %.1f", what, sum, k, limit)
	}
}

// TestDraws: operations, classes, files, directories and connections have the
// exact probabilities of the rules, in 10^6 draws.
func TestDraws(t *testing.T) {
	t.Parallel()
	const draws, dirs = 1_000_000, 50
	p := newPlan(1, dirs, 7)
	s := p.sessions[0]
	ops, classes, files, dir := make([]int, rules.Operations), make([]int, rules.Classes), make([]int, rules.PerClass), make([]int, dirs)
	var ask bench.Ask
	lengths := make([]int, mostKept+1)
	kept, length := 0, 0
	for range draws {
		s.Next(&ask)
		s.posts = s.posts[:0]
		ops[s.op]++
		classes[s.file.Class]++
		files[s.file.Index]++
		dir[s.file.Dir]++
		if length++; ask.Last {
			lengths[length]++
			if length > 1 {
				kept += length
			}
			length = 0
		}
	}
	chi2(t, "operations", ops, rules.OperationWeights())
	chi2(t, "classes", classes, rules.ClassWeights())
	chi2(t, "files", files, rules.FileWeights())
	chi2(t, "directories", dir, rules.DirWeights(dirs))
	chi2(t, "requests a connection", append(lengths[1:2:2], lengths[leastKept:]...),
		append([]uint64{(outOf - keptOf) * 11}, slices.Repeat([]uint64{keptOf}, 11)...))
	if share := float64(kept) / draws; share < 0.695 || share > 0.705 {
		t.Errorf("%.4f of the requests are on kept connections, want 0.70", share)
	}
}

// reply is what a right server sends to what s asked.
func (s *session) reply() (head fields, body []byte) {
	ad := -1
	if s.op == rules.Ad {
		shown := s.plan.tables.Next(s.visitor.User, s.visitor.Last, time.Now().Unix())
		ad = shown.Ad
		head = fields{"Set-Cookie": string(shown.AppendSetCookie(nil))}
	}
	var query []byte
	if s.op != rules.Post {
		query = rules.AppendQuery(nil, s.file)
	}
	if s.op != rules.Static {
		body = rules.AppendPageHead(nil, "some server/1", "10.0.0.1", script(s.op), query)
	}
	r := s.plan.set.Read(s.file, ad)
	body = r.AppendRest(body)
	if s.op != rules.Static {
		body = append(body, rules.PageEnd...)
	}
	return head, body
}

type fields map[string]string

func (f fields) Get(name string) []byte {
	if v, ok := f[textproto.CanonicalMIMEHeaderKey(name)]; ok {
		return []byte(v)
	}
	return nil
}

func (fields) Each(weighstone.FieldSink) {}

// TestReplies: right replies pass, however they come in pieces, and one changed,
// missing or additional byte does not; nor does another user's advertisement.
func TestReplies(t *testing.T) {
	t.Parallel()
	p := newPlan(1, 3, 11)
	s, rng := p.sessions[0], rand.New(rand.NewPCG(1, 1))
	var ask bench.Ask
	feed := func(head fields, body []byte) bool {
		s.Head(200, head)
		for len(body) > 0 {
			n := min(len(body), 1+rng.IntN(1+len(body)))
			s.Body(body[:n])
			body = body[n:]
		}
		right := s.Right()
		s.expect.begin(s)
		return right
	}
	for i := range 1000 {
		s.Next(&ask)
		head, body := s.reply()
		last := s.last
		if !feed(head, body) {
			t.Fatalf("request %d, %s %s: a right reply is taken for a wrong one: %v", i, s.op, s.file.Path(), p.complain.all)
		}
		s.last = last
		spoilt := slices.Clone(body)
		spoilt[rng.IntN(len(spoilt))] ^= 1
		if feed(head, spoilt) && !insideHead(body, spoilt) {
			t.Fatalf("request %d, %s %s: a changed byte passes", i, s.op, s.file.Path())
		}
		if feed(head, body[:rng.IntN(len(body))]) || feed(head, append(slices.Clone(body), 'x')) {
			t.Fatalf("request %d, %s %s: a byte too few or too many passes", i, s.op, s.file.Path())
		}
		if s.op == rules.Ad && (feed(fields{"Set-Cookie": "shown=1.1.1"}, body) || feed(nil, body)) {
			t.Fatalf("request %d: a wrong cookie passes", i)
		}
		s.last = last
	}
}

// insideHead says whether the changed byte is of the software or the client that
// a page names, which may be any.
func insideHead(a, b []byte) bool {
	for i := range a {
		if a[i] != b[i] {
			return i < 200
		}
	}
	return false
}

// simulate has the clients send posts, and returns the log of a server that
// does what fault says to the n-th record.
func simulate(p *Plan, posts int, fault func(n int, r rules.Record, log []byte) []byte) []byte {
	rng := rand.New(rand.NewPCG(p.seed, 99))
	log := make([]byte, 0, (posts+2)*rules.RecordBytes)
	for n := range posts {
		c := rng.IntN(len(p.sessions))
		s := p.sessions[c]
		f, v := rules.File{Dir: rng.IntN(9), Class: rng.IntN(4), Index: rng.IntN(9)}, rules.Visitor{User: rng.IntN(100), Last: rng.IntN(360)}
		r := rules.Record{Number: uint64(len(log)/rules.RecordBytes + 1), ID: postID(c, len(s.posts)), File: f, Visitor: v}
		sent := newPost(f, v)
		sent.begun, sent.ended = tick(2*n+1), tick(2*n+2)
		s.posts = append(s.posts, sent)
		log = fault(n, r, log)
	}
	return log
}

func faithful(_ int, r rules.Record, log []byte) []byte { return r.Append(log) }

// TestSimulatedFaults: one fault in 200,000 is found, and called what it is.
func TestSimulatedFaults(t *testing.T) {
	t.Parallel()
	const every = 200_000
	next := func(log []byte) uint64 { return uint64(len(log)/rules.RecordBytes + 1) }
	var kept rules.Record
	for name, c := range map[string]struct {
		posts int
		fault func(n int, r rules.Record, log []byte) []byte
		want  [5]int // lost, duplicated, reordered, corrupted, foreign
	}{
		"replay": {every, func(n int, r rules.Record, log []byte) []byte {
			log = r.Append(log)
			if n == every-2 {
				r.Number = next(log)
				log = r.Append(log)
			}
			return log
		}, [5]int{0, 1, 0, 0, 0}},
		"drop and duplicate": {every, func(n int, r rules.Record, log []byte) []byte {
			if n == every/2 {
				return log
			}
			log = r.Append(log)
			if n == every/2+1 {
				r.Number = next(log)
				log = r.Append(log)
			}
			return log
		}, [5]int{1, 1, 0, 0, 0}},
		"torn": {every, func(n int, r rules.Record, log []byte) []byte {
			log = r.Append(log)
			if n == 5 {
				copy(log[len(log)-50:], "                    ")
			}
			return log
		}, [5]int{1, 0, 0, 1, 0}},
		"late": {every, func(n int, r rules.Record, log []byte) []byte {
			switch {
			case n == 1000:
				kept = r
				return log
			case n == 1002: // 1001 began when 1000 was answered, and is logged
				kept.Number = next(log)
				log = kept.Append(log)
				r.Number = next(log)
			}
			return r.Append(log)
		}, [5]int{0, 0, 1, 0, 0}},
		"another user": {every, func(n int, r rules.Record, log []byte) []byte {
			if n == 77 {
				r.Visitor.User++
			}
			return r.Append(log)
		}, [5]int{0, 0, 0, 1, 0}},
		"never sent": {every, func(n int, r rules.Record, log []byte) []byte {
			log = r.Append(log)
			if n == every-1 {
				r.ID, r.Number = 1<<62, next(log)
				log = r.Append(log)
			}
			return log
		}, [5]int{0, 0, 0, 0, 1}},
	} {
		p := newPlan(10, 1, 3)
		i := p.Compare(simulate(p, c.posts, c.fault))
		if got := [5]int{i.Lost.N, i.Duplicated.N, i.Reordered.N, i.Corrupted.N, i.Foreign.N}; got != c.want || i.Whole() {
			t.Errorf("%s: lost, duplicated, reordered, corrupted, foreign: %v, want %v; %+v", name, got, c.want, i)
		}
		if n := len(i.Lost.First) + len(i.Duplicated.First) + len(i.Reordered.First) + len(i.Corrupted.First) + len(i.Foreign.First); n == 0 || n > 2 {
			t.Errorf("%s: %d findings are shown", name, n)
		}
	}
}

// TestCleanLogs: of a thousand iterations without a fault none is suspected,
// whatever became of the POSTs without a reply.
func TestCleanLogs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		p := newPlan(20, 1, seed)
		log := simulate(p, 200, faithful)
		s := p.sessions[seed%20]
		s.posts = append(s.posts, newPost(rules.File{}, rules.Visitor{})) // sent, not answered, not logged
		if k := len(s.posts) - 2; k >= 0 {
			s.posts[k].ended = never // not answered, but logged
		}
		if i := p.Compare(log); !i.Whole() || i.Records != 200 || i.Sent != 201 {
			t.Fatalf("seed %d: %+v", seed, i)
		}
	}
}

// shown has a client ask for an advertisement and get what show makes of the one
// that is due; it says whether the client took that for right.
func (s *session) shown(rng *rand.Rand, show func(due rules.Showing) rules.Showing) bool {
	s.op, s.file = rules.Ad, rules.File{Dir: rng.IntN(9), Index: rng.IntN(2)}
	s.visitor = rules.Visitor{User: rng.IntN(s.plan.users), Last: s.last}
	s.expect.begin(s)
	now := show(s.plan.tables.Next(s.visitor.User, s.visitor.Last, time.Now().Unix()))
	s.Head(200, fields{"Set-Cookie": string(now.AppendSetCookie(nil))})
	body := rules.AppendPageHead(nil, "some server/1", "10.0.0.1", script(s.op), rules.AppendQuery(nil, s.file))
	r := s.plan.set.Read(s.file, now.Ad)
	s.Body(append(r.AppendRest(body), rules.PageEnd...))
	return s.Right()
}

// TestSimulatedReplies: of 200,000 replies the one is found that shows a user
// the last advertisement again, or another's; in a thousand iterations without a
// fault none is.
func TestSimulatedReplies(t *testing.T) {
	t.Parallel()
	const every = 200_000
	due := func(s rules.Showing) rules.Showing { return s }
	for _, fault := range []string{"stale-ad", "mix-users"} {
		p := newPlan(1, 9, 3)
		s, rng := p.sessions[0], rand.New(rand.NewPCG(3, 3))
		now := time.Now().Unix()
		wrong := func(right rules.Showing) rules.Showing {
			v := s.visitor
			if fault == "stale-ad" {
				return p.tables.Show(v.User, v.Last, now)
			}
			for step := 1; step < p.users; step++ {
				if other := p.tables.Next((v.User+step)%p.users, v.Last, now); other != right {
					return other
				}
			}
			return right
		}
		for n := range every {
			show := due
			if n == every/3 {
				show = wrong
			}
			if right := s.shown(rng, show); right == (n == every/3) {
				t.Fatalf("%s: reply %d is taken for right: %v; %v", fault, n, right, p.complain.all)
			}
		}
		if p.complain.n != 1 {
			t.Errorf("%s: %d replies were wrong", fault, p.complain.n)
		}
	}
	for seed := range uint64(1000) {
		p := newPlan(2, 9, seed)
		rng := rand.New(rand.NewPCG(seed, 4))
		for n := range 100 {
			if !p.sessions[n%2].shown(rng, due) {
				t.Fatalf("seed %d, reply %d: %v", seed, n, p.complain.all)
			}
		}
	}
}

// TestPlausible: the tails are those of the binomial distribution, summed term
// by term.
func TestPlausible(t *testing.T) {
	choose := func(n, k int) float64 {
		v := 1.0
		for i := range k {
			v = v * float64(n-i) / float64(i+1)
		}
		return v
	}
	pow := func(p float64, n int) float64 {
		v := 1.0
		for range n {
			v *= p
		}
		return v
	}
	for _, p := range []float64{0.0015, 0.05, 0.3, 0.7} {
		for _, n := range []int{1, 10, 60} {
			below := 0.0
			for k := range n + 1 {
				below += choose(n, k) * pow(p, k) * pow(1-p, n-k)
				if float64(k) < float64(n)*p {
					if got := tail(uint64(k), uint64(n), p); got/below < 0.999999 || got/below > 1.000001 {
						t.Errorf("%d or fewer of %d with %v: %v, want %v", k, n, p, got, below)
					}
				}
			}
		}
	}
	for _, c := range []struct {
		k, n uint64
		p    float64
		want bool
	}{
		{0, 0, .5, true}, {7000, 10000, .7, true}, {7300, 10000, .7, false}, {6700, 10000, .7, false},
		{0, 1000, .0015, true}, {0, 1_000_000, .0015, false}, {1, 1, .0015, true}, {6, 100, .0015, false},
	} {
		if got := Plausible(c.k, c.n, c.p); got != c.want {
			t.Errorf("%d of %d with %v: %v", c.k, c.n, c.p, got)
		}
	}
}

// TestSearch: of any limit the search comes within a step, says what it tried,
// and does not stumble over a chance.
func TestSearch(t *testing.T) {
	for limit := 0; limit <= 1000; limit += 37 {
		for _, step := range []int{1, 10} {
			tried := 0
			best, confirmed, err := Search(50, 800, step, func(load int) (bool, error) { tried++; return load <= limit, nil }, func(s Step) {})
			want := min(limit, 800)
			if err != nil || !confirmed || best > want || want-best >= step+1 || tried > 24 {
				t.Errorf("limit %d: %d, %v, after %d loads", limit, best, err, tried)
			}
		}
	}
	flukes := map[int]bool{200: true} // fails once though it holds
	var steps []string
	best, confirmed, err := Search(50, 800, 10, func(load int) (bool, error) {
		if flukes[load] {
			delete(flukes, load)
			return false, nil
		}
		return load <= 300, nil
	}, func(s Step) { steps = append(steps, s.String()) })
	if err != nil || !confirmed || best < 290 || best > 300 {
		t.Errorf("%d, %v: %v", best, err, steps)
	}
	asked := 0 // as on a machine that others use too
	hesitant := func(load int) (bool, error) {
		if load == 100 {
			asked++
		}
		return load == 100 && asked%2 == 1, nil
	}
	if best, confirmed, err := Search(100, 200, 100, hesitant, func(Step) {}); err != nil || confirmed || best != 100 {
		t.Errorf("a server that holds 100 every other time: %d, confirmed %v, %v", best, confirmed, err)
	}
	seen := map[int]bool{} // what fails at first passes when it is tried again
	fickle := func(load int) (bool, error) {
		again := seen[load]
		seen[load] = true
		if load > 100_000 {
			t.Errorf("%d connections are tried, more than the most", load)
		}
		return load == 1 || again, nil
	}
	if best, confirmed, err := Search(1, 100_000, 1, fickle, func(Step) {}); err != nil || confirmed || best < 2 {
		t.Errorf("a server whose upper end never holds: %d, confirmed %v, %v", best, confirmed, err)
	}
	once := true // a chance failure at the most, then the rest up to it is tried
	if best, confirmed, err := Search(99, 100, 10, func(load int) (bool, error) {
		if load > 100 {
			t.Errorf("%d connections are tried, more than the most", load)
		}
		if load == 100 && once {
			once = false
			return false, nil
		}
		return true, nil
	}, func(Step) {}); err != nil || !confirmed || best < 99 {
		t.Errorf("a chance failure at the most: %d, confirmed %v, %v", best, confirmed, err)
	}
	if _, _, err := Search(1, 10, 1, func(int) (bool, error) { return false, fmt.Errorf("gone") }, func(Step) {}); err == nil {
		t.Error("an error was lost")
	}
}

// TestConform judges made-up counts.
func TestConform(t *testing.T) {
	fill := func(p *Plan, slow int, failed uint32) {
		for i, s := range p.sessions {
			for op, ow := range rules.OperationWeights() {
				for class, cw := range rules.ClassWeights() {
					s.count.asked[op][class] = uint32(ow * cw / 100)
				}
			}
			s.count.failed[rules.Dynamic][1] = failed
			s.count.took, s.count.bytes = time.Minute, 399_000*60/8
			if i < slow {
				s.count.bytes = 319_000 * 60 / 8
			}
		}
	}
	for _, c := range []struct {
		slow     int
		failed   uint32
		conforms bool
	}{{0, 0, true}, {5, 0, true}, {6, 0, false}, {0, 0, true}, {0, 60, false}} {
		p := newPlan(100, 1, 1)
		fill(p, c.slow, c.failed)
		if got := p.Conform(); (len(got.Reasons) == 0) != c.conforms || got.Conforming != 100-c.slow {
			t.Errorf("%+v: %d conform, %v", c, got.Conforming, got.Reasons)
		}
	}
	p := newPlan(100, 1, 1)
	fill(p, 0, 0)
	for _, s := range p.sessions {
		s.count.asked[rules.Post] = [4]uint32{}
	}
	if got := p.Conform(); len(got.Reasons) == 0 {
		t.Error("without a POST the mix passes")
	}
	if got := newPlan(3, 1, 1).Conform(); len(got.Reasons) == 0 {
		t.Error("nothing at all conforms")
	}
}

// TestMemoryOfASession: what a virtual client costs here leaves the load
// generator the most of 4 KB.
func TestMemoryOfASession(t *testing.T) {
	const clients = 2_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p := newPlan(clients, 1, 1)
	asks := make([]bench.Ask, clients)
	for i, s := range p.sessions {
		for range 3 {
			s.Next(&asks[i])
			head, body := s.reply()
			s.Head(200, head)
			s.Body(body[:min(len(body), 100)])
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (after.HeapAlloc - before.HeapAlloc) / clients
	t.Logf("%d bytes a session, its request included", each)
	if each > 2000 {
		t.Errorf("a session takes %d bytes, want at most 2,000", each)
	}
	runtime.KeepAlive(p)
	runtime.KeepAlive(asks)
}

// TestLagCounts: the rate of a connection is what was delivered, bytes over the
// time that passed, also where the generator began late and made up for none.
func TestLagCounts(t *testing.T) {
	const line, bytes, lag = 400_000, 5000, 20 * time.Millisecond // 100 ms on the line
	p := newPlan(1, 1, 1)
	s := p.sessions[0]
	now := time.Duration(0)
	for range 100 {
		last := lag + 10*time.Millisecond
		s.Done(&bench.Sample{Due: now, Started: lag, Last: last, BytesIn: bytes, Status: 200})
		now += max(last, lag+load.LineTime(bytes, line))
	}
	delivered := 100 * bytes * 8 / now.Seconds()
	if got := s.count.bytes * 8 / s.count.took.Seconds(); math.Abs(got/delivered-1) > 1e-9 || delivered > 0.84*line {
		t.Errorf("%.0f bit/s, delivered were %.0f of %d", got, delivered, line)
	}
}

// TestEnoughRequests: they have the POSTs that were asked for, but once in a
// million times, also when these are few.
func TestEnoughRequests(t *testing.T) {
	for _, posts := range []int{1, 5, 100, 5000} {
		n := requestsFor(posts)
		if short := tail(uint64(posts-1), n, 0.048); short > 3e-6 {
			t.Errorf("%d POSTs: of %d requests fewer have them with probability %g", posts, n, short)
		}
	}
}

// TestDelayCounts: an exchange takes as long as the way there and back besides,
// twice when a connection was made for it, and the rate is that much lower.
func TestDelayCounts(t *testing.T) {
	p := NewPlan(Draw{Seed: 1, Dirs: 1, Clients: 1, Content: rules.NewSet(1), Tables: rules.NewTables(1, 100, 0), Delay: 90 * time.Millisecond})
	s := p.sessions[0]
	s.Done(&bench.Sample{Last: 10 * time.Millisecond, BytesIn: 1000, Status: 200})
	if s.count.took != 100*time.Millisecond || s.count.bytes != 1000 {
		t.Errorf("on a kept connection: %v for %v bytes", s.count.took, s.count.bytes)
	}
	s.Done(&bench.Sample{Last: 20 * time.Millisecond, Connected: time.Millisecond, BytesIn: 1000, Status: 200})
	if s.count.took != 300*time.Millisecond || s.count.bytes != 2000 {
		t.Errorf("with one made anew: %v for %v bytes", s.count.took, s.count.bytes)
	}
}
