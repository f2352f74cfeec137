package specweb

import (
	"container/heap"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/load"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
)

// A turn is when a client asks again.
type turn struct {
	at     time.Duration
	client int
}

type turns []turn

func (t turns) Len() int           { return len(t) }
func (t turns) Less(i, j int) bool { return t[i].at < t[j].at }
func (t turns) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *turns) Push(v any)        { *t = append(*t, v.(turn)) }
func (t *turns) Pop() any {
	old := *t
	last := old[len(old)-1]
	*t = old[:len(old)-1]
	return last
}

// capped has the plan's clients ask a server that sends so many bits a second in
// all, reply after reply, on a clock that costs nothing.
func capped(p *Plan, rate int, until time.Duration) {
	var asking turns
	for i := range p.sessions {
		heap.Push(&asking, turn{0, i})
	}
	var ask bench.Ask
	free := time.Duration(0) // when the server has sent what was asked before
	for asking[0].at < until {
		now := heap.Pop(&asking).(turn)
		s := p.sessions[now.client]
		s.Next(&ask)
		bytes := int64(s.file.Size())
		free = max(free, now.at) + load.LineTime(bytes, rate)
		s.Done(&bench.Sample{Due: now.at, Last: free - now.at, BytesIn: bytes, Status: 200})
		heap.Push(&asking, turn{max(free, now.at+load.LineTime(bytes, p.lineRate)), now.client})
	}
}

// TestSearchOfACappedServer: the search finds the load at which a server with a
// known rate can just give each connection 80 % of its line.
func TestSearchOfACappedServer(t *testing.T) {
	t.Parallel()
	const line, rate, step = 400_000, 16_000_000, 5 // 50 connections at 320,000 bit/s
	const warmup, until = 60 * time.Second, 460 * time.Second
	tables, set := rules.NewTables(1, 10, 0), rules.NewSet(1)
	best, confirmed, err := Search(10, 400, step, func(n int) (bool, error) {
		p := NewPlan(Draw{Seed: 5, Dirs: 5, Clients: n, Content: set, Tables: tables, LineRate: line, From: warmup, Until: until})
		capped(p, rate, until)
		return len(p.Conform().Reasons) == 0, nil
	}, func(s Step) { t.Log(s) })
	const want = rate / (line * 8 / 10)
	if err != nil || !confirmed || best < want-step || best > want+step {
		t.Errorf("%d connections, %v; %d share %d bit/s at 80 %% of their lines", best, err, want, rate)
	}
}
