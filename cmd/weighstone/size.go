package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A size is a number of bytes, written plain or with a unit: 16KiB, 64MiB,
// 10kB. Units of 1000 and of 1024 are told apart as IEC 80000-13 does.
type size int64

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1}, {"", 1},
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *size) UnmarshalText(text []byte) error {
	for _, u := range sizeUnits {
		digits, found := strings.CutSuffix(string(text), u.suffix)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/u.bytes {
			break
		}
		*s = size(n * u.bytes)
		return nil
	}
	return fmt.Errorf("expected a size such as 16KiB, but got %q", text)
}
