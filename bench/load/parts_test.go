package load

import (
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestScheduleIsInOrder pushes and pops at random and compares with a sorted
// slice.
func TestScheduleIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s schedule
		var model []time.Duration
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			if len(model) == 0 || rapid.Bool().Draw(t, "push") {
				at := time.Duration(rapid.IntRange(0, 50).Draw(t, "at"))
				s.push(appointment{at: at, due: at})
				model = append(model, at)
				slices.Sort(model)
				continue
			}
			if got := s.pop(); got.at != model[0] || got.due != got.at {
				t.Fatalf("popped %v, want %v", got, model[0])
			}
			model = model[1:]
		}
		if len(s) != len(model) {
			t.Fatalf("%d left, want %d", len(s), len(model))
		}
	})
}

// TestBudgetIsSpentExactly has several workers take shares at once.
func TestBudgetIsSpentExactly(t *testing.T) {
	for _, total := range []int64{0, 1, 7, 1000, 100003} {
		b := budget{workers: 3}
		b.left.Store(total)
		var taken [3]int64
		var all sync.WaitGroup
		for i := range taken {
			all.Go(func() {
				for n := b.take(); n > 0; n = b.take() {
					taken[i] += n
				}
			})
		}
		all.Wait()
		if sum := taken[0] + taken[1] + taken[2]; sum != total {
			t.Errorf("%d taken of %d", sum, total)
		}
	}
}
