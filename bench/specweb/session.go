package specweb

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/load"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
)

// A session is one virtual client: what it asks next, what of the reply was
// right, and what it has seen so far. One worker uses it. Beside its socket and
// what the load generator needs it is all that a client costs.
type session struct {
	plan   *Plan
	client int
	source rand.PCG
	rand   *rand.Rand
	left   int // requests on the present connection
	tour   int // so many operations and classes are asked in turn, not drawn

	op      rules.Operation
	file    rules.File
	held    bool // the client has the file, and asks whether it changed
	visitor rules.Visitor
	last    int // the advertisement shown last

	expect reply
	count  counts
	posts  []post
}

// counts are what a client has seen of what counts.
type counts struct {
	asked, failed [rules.Operations][rules.Classes]uint32
	bytes         float64
	took          time.Duration // the exchanges, with the waits for the line
}

func newSession(p *Plan, client int) *session {
	s := &session{plan: p, client: client, last: rules.NumAds - 1}
	s.source.Seed(p.seed, uint64(client))
	s.rand = rand.New(&s.source)
	return s
}

// Next implements bench.Script.
func (s *session) Next(ask *bench.Ask) {
	if s.left == 0 {
		s.left = 1
		if s.rand.IntN(outOf) < keptOf {
			s.left = leastKept + s.rand.IntN(mostKept-leastKept+1)
		}
	}
	s.left--
	s.op = rules.Operation(s.plan.operation.Draw(s.rand))
	s.file = s.plan.drawFile(s.rand)
	if s.tour > 0 {
		s.tour--
		s.op, s.file.Class = rules.Operation(s.tour%rules.Operations), s.tour/rules.Operations
	}
	s.expect.begin(s)
	*ask = bench.Ask{
		Class: uint16(s.op), Expect: bench.Expect{Status: 200, Length: -1}, Last: s.left == 0, Judge: s,
		Scratch: ask.Scratch[:0],
	}
	if s.op == rules.Static {
		ask.Expect.Length = int64(s.file.Size())
		s.condition(ask)
	}
	s.write(ask)
}

// condition makes a share of the static requests those of a client that has the
// file, which is to be told that it has not changed.
func (s *session) condition(ask *bench.Ask) {
	p := s.plan
	s.held = p.conditional > 0 && s.tour == 0 && s.rand.Float64() < p.conditional
	if s.held {
		ask.Expect = bench.Expect{Status: 304, Length: 0}
		s.expect.stage = inTail
	}
}

// write fills in the request, which lies in the ask's own memory.
func (s *session) write(ask *bench.Ask) {
	b := ask.Scratch
	switch s.op {
	case rules.Static:
		b = s.file.AppendPath(append(b, rules.Prefix...))
	case rules.Post:
		b = append(b, rules.PostURL...)
		ask.Method = "POST"
	default:
		b = append(append(b, script(s.op)...), '?')
		b = rules.AppendQuery(b, s.file)
	}
	target := len(b)
	if s.op == rules.Ad || s.op == rules.Post {
		s.visitor = rules.Visitor{User: s.rand.IntN(s.plan.users), Last: s.last}
		b = append(s.visitor.AppendCookie(append(b, "Cookie: "...)), "\r\n"...)
	}
	if s.op == rules.Static && s.held {
		b = append(append(append(b, "If-Modified-Since: "...), s.plan.since...), "\r\n"...)
	}
	if s.op == rules.Post {
		b = append(b, "Content-Type: application/x-www-form-urlencoded\r\n"...)
	}
	fields := len(b)
	if s.op == rules.Post {
		b = rules.AppendForm(b, postID(s.client, len(s.posts)), s.file)
		s.posts = append(s.posts, newPost(s.file, s.visitor))
	}
	ask.Target, ask.Fields, ask.Body, ask.Scratch = b[:target], b[target:fields], b[fields:], b
}

// postID tells a client's n-th POST from all others.
func postID(client, n int) uint64 { return uint64(client)<<32 | uint64(n) }

// script is where an operation is found.
func script(op rules.Operation) string {
	switch op {
	case rules.Dynamic:
		return rules.GetURL
	case rules.Ad:
		return rules.AdURL
	case rules.Post:
		return rules.PostURL
	}
	return rules.CGIURL
}

// Head implements bench.Judge.
func (s *session) Head(status int, fields weighstone.Fields) {
	if s.op != rules.Ad || status != 200 {
		return
	}
	got, ok := rules.ParseShown(fields.Get("Set-Cookie"))
	want := s.plan.tables.Next(s.visitor.User, s.visitor.Last, time.Now().Unix())
	if !ok || got != want {
		s.expect.wrong(fmt.Sprintf("user %d after advertisement %d was shown %q, want %s",
			s.visitor.User, s.visitor.Last, fields.Get("Set-Cookie"), want.AppendSetCookie(nil)))
		return
	}
	s.last = got.Ad
	s.expect.ad(s, got.Ad)
}

// Body implements bench.Judge.
func (s *session) Body(b []byte) { s.expect.take(s, b) }

// Right implements bench.Judge.
func (s *session) Right() bool {
	if s.expect.complete() {
		return true
	}
	s.plan.complain.add(fmt.Sprintf("client %d, %s %s: %s", s.client, s.op, s.file.Path(), s.expect.why()))
	return false
}

// Done implements bench.Judge.
func (s *session) Done(sample *bench.Sample) {
	if s.op == rules.Post {
		s.posts[len(s.posts)-1].over(sample)
	}
	s.measure(sample)
	if sample.Due < s.plan.from || s.plan.until > 0 && sample.Due >= s.plan.until {
		return
	}
	s.count.asked[s.op][s.file.Class]++
	if sample.Fault != bench.FaultNone {
		s.count.failed[s.op][s.file.Class]++
	}
}

// measure adds to the connection's rate what of the exchange, and of the wait for
// the line and the way behind it, lies in the measured window: a large file is on the line
// for 18 s, and in a short run before and after. The line begins when the request
// does, as the pacer has it: a generator that was late itself has its connections
// slow, and is not taken for one that kept its lines full.
func (s *session) measure(sample *bench.Sample) {
	took := sample.Last
	if s.plan.lineRate > 0 {
		took = max(took, sample.Started+load.LineTime(sample.BytesIn, s.plan.lineRate))
	}
	took += load.Far(s.plan.delay, sample.Connected > 0)
	begin, end := max(sample.Due, s.plan.from), sample.Due+took
	if s.plan.until > 0 {
		end = min(end, s.plan.until)
	}
	if end <= begin {
		return
	}
	s.count.bytes += float64(sample.BytesIn) * float64(end-begin) / float64(took)
	s.count.took += end - begin
}
