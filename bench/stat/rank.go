package stat

import (
	"cmp"
	"slices"
)

// Ranking puts figures into groups, the smallest first, by index: within a
// group the intervals overlap, one after the other, so that no order is shown;
// every interval of a group lies wholly below every one of the next. A figure
// without an interval overlaps with all.
func Ranking(figures []Summary) [][]int {
	order := make([]int, len(figures))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(figures[a].Lo, figures[b].Lo) })
	var groups [][]int
	highest := 0.0
	for _, i := range order {
		f := figures[i]
		if len(groups) == 0 || f.Lo > highest {
			groups, highest = append(groups, nil), f.Hi
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], i)
		highest = max(highest, f.Hi)
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b int) int { return cmp.Compare(figures[a].Median, figures[b].Median) })
	}
	return groups
}
