package report

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/weighstone/weighstone/bench"
)

// median is a metric's median as text, "-" for what is not known.
func median(m *bench.Metric, as func(float64) string) string {
	if m == nil || m.Median == nil {
		return "-"
	}
	return as(*m.Median)
}

// interval is a metric's interval as text; empty where there is none.
func interval(m *bench.Metric, as func(float64) string) string {
	if m == nil || m.Lo == nil || m.Hi == nil {
		return ""
	}
	return "[" + as(*m.Lo) + ", " + as(*m.Hi) + "]"
}

// significant is v with three significant digits, never in exponents.
func significant(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 1000:
		return thousands(v)
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

func whole(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

// thousands is v without a fraction, its thousands apart.
func thousands(v float64) string {
	s := whole(v)
	start := 0
	if s[0] == '-' {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
