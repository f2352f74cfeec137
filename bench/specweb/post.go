package specweb

import (
	"math"
	"time"

	"github.com/weighstone/weighstone/bench"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
)

// A post is a POST that was sent: its id is the client and its place. A client
// sends some hundred in an iteration of twenty minutes, so it is packed.
type post struct {
	file    uint32 // see placeOf
	visitor uint32 // the user and the advertisement shown last, likewise
	begun   tick   // not later than the first byte was sent
	ended   tick   // not before the first byte of the reply had come; never without a reply of 200
}

// A tick is a time since the start of a run, in hundredths of a millisecond: 32
// bits hold eleven hours. What began is rounded down and what ended up, so that
// two POSTs which may have overlapped are never told apart.
type tick uint32

const (
	tickTime      = 10 * time.Microsecond
	never    tick = math.MaxUint32
)

func (t tick) time() time.Duration { return time.Duration(t) * tickTime }

func newPost(f rules.File, v rules.Visitor) post {
	return post{file: placeOf(f), visitor: uint32(v.User*rules.NumAds + v.Last), ended: never}
}

// placeOf numbers the files of a set.
func placeOf(f rules.File) uint32 {
	return uint32(f.Dir*rules.PerDir + f.Class*rules.PerClass + f.Index)
}

// was returns what was sent.
func (p post) was() (rules.File, rules.Visitor) {
	n := int(p.file)
	f := rules.File{Dir: n / rules.PerDir, Class: n % rules.PerDir / rules.PerClass, Index: n % rules.PerClass}
	return f, rules.Visitor{User: int(p.visitor) / rules.NumAds, Last: int(p.visitor) % rules.NumAds}
}

// over notes when the exchange was. A server logs a POST before it sends the
// first byte of the reply.
func (p *post) over(s *bench.Sample) {
	p.begun = tick((s.Due + s.Started) / tickTime)
	if s.Status == 200 {
		p.ended = tick((s.Due+s.First)/tickTime) + 1
	}
}

// answered says whether the POST has to be in the log. One without a reply may be.
func (p post) answered() bool { return p.ended != never }
