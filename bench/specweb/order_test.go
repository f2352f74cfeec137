package specweb

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weighstone/weighstone/bench"
	rules "github.com/weighstone/weighstone/fixtures/specweb"
)

// history is a run of POSTs, each of a client of its own, and the log in which
// they stand in the order of places.
func history(posts []post, places []int) (*Plan, []byte) {
	p := newPlan(len(posts), 1, 1)
	var log []byte
	for i, s := range p.sessions {
		s.posts = append(s.posts, posts[i])
	}
	for n, client := range places {
		f, v := posts[client].was()
		r := rules.Record{Number: uint64(n + 1), ID: postID(client, 0), File: f, Visitor: v}
		log = r.Append(log)
	}
	return p, log
}

// late counts what stands in the log behind one that began when it was over, pair
// by pair.
func late(posts []post, places []int) int {
	n := 0
	for i, later := range places {
		for _, earlier := range places[:i] {
			if posts[later].answered() && posts[later].ended < posts[earlier].begun {
				n++
				break
			}
		}
	}
	return n
}

// TestOrder: the one way through a log finds what a comparison of all pairs does.
func TestOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "posts")
		posts, order := make([]post, n), make([]int, n)
		for i := range posts {
			posts[i] = newPost(rules.File{Dir: i}, rules.Visitor{User: i})
			posts[i].begun = tick(rapid.IntRange(0, 50).Draw(t, "begun"))
			if took := rapid.IntRange(-1, 30).Draw(t, "took"); took >= 0 {
				posts[i].ended = posts[i].begun + tick(took)
			}
			order[i] = i
		}
		places := rapid.Permutation(order).Draw(t, "log")
		p, log := history(posts, places)
		got := p.Compare(log)
		if want := late(posts, places); got.Reordered.N != want {
			t.Fatalf("%d reordered, want %d: %v", got.Reordered.N, want, got.Reordered.First)
		}
		if rest := got.Lost.N + got.Duplicated.N + got.Corrupted.N + got.Foreign.N; rest > 0 {
			t.Fatalf("%+v", got)
		}
	})
}

// TestOverlapping: POSTs that were logged at some time while they were under way
// are in order, however many of many clients are under way at once.
func TestOverlapping(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		const n = 50
		posts, places := make([]post, n), []int{}
		logged := make([]int, n) // when
		for i := range posts {
			posts[i] = newPost(rules.File{Dir: i}, rules.Visitor{User: i})
			begun, took := rng.IntN(1_000_000), 1+rng.IntN(200_000)
			logged[i] = begun + rng.IntN(took)
			places = append(places, i)
			posts[i].over(&bench.Sample{Status: 200, Due: time.Duration(begun) * time.Microsecond, First: time.Duration(took) * time.Microsecond})
		}
		slices.SortFunc(places, func(a, b int) int { return logged[a] - logged[b] })
		if p, log := history(posts, places); !p.Compare(log).Whole() {
			t.Fatalf("seed %d: %+v", seed, p.Compare(log))
		}
	}
}

// TestPostIsPacked: what is kept of a POST is what was sent.
func TestPostIsPacked(t *testing.T) {
	for _, f := range []rules.File{{}, {Dir: rules.MaxDirs - 1, Class: rules.Classes - 1, Index: rules.PerClass - 1}, {Dir: 7, Class: 2, Index: 5}} {
		for _, v := range []rules.Visitor{{}, {User: rules.MaxUsers - 1, Last: rules.NumAds - 1}, {User: 5, Last: 7}} {
			if file, visitor := newPost(f, v).was(); file != f || visitor != v {
				t.Errorf("%v of %v became %v of %v", f, v, file, visitor)
			}
		}
	}
}
