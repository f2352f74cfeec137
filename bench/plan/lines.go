package plan

import (
	"fmt"
	"strconv"
	"strings"
)

const wantLine = "\"path weight #bytes\" (weight and #bytes can be left out)"

// parseLines reads a list of WebStone 2.x: "path weight [#bytes]" on each
// line. A weight that is missing or not positive is 1.
func parseLines(s *scanner, line string) (*List, error) {
	list := &List{Name: s.name, Format: Lines2}
	for ok := true; ok; line, ok = s.next() {
		if len(list.Pages) == maxLines2 {
			return nil, s.fail(line, fmt.Sprintf("the end of the list after %d lines", maxLines2))
		}
		p, err := parseLine(s, line)
		if err != nil {
			return nil, err
		}
		list.Pages = append(list.Pages, p)
	}
	if s.lines.Err() != nil {
		return nil, s.fail("", "")
	}
	return list, nil
}

func parseLine(s *scanner, line string) (Page, error) {
	f := File{Size: -1, Line: s.line}
	p := Page{Weight: 1}
	words := strings.Fields(line)
	if len(words) == 0 {
		return p, s.fail(line, wantLine+"; blank lines are not allowed")
	}
	f.Target, words = words[0], words[1:]
	if why := badTarget(f.Target); why != "" {
		return p, s.fail(line, wantLine+why)
	}
	if len(words) > 0 && words[0][0] != '#' {
		weight, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil || weight > maxWeight {
			return p, s.fail(line, wantLine+" with a whole number as weight")
		}
		p.Weight = uint64(max(weight, 1))
		words = words[1:]
	}
	if len(words) > 0 {
		size, err := strconv.ParseUint(strings.TrimPrefix(words[0], "#"), 10, 62)
		if err != nil || words[0][0] != '#' {
			return p, s.fail(line, wantLine+" with a size in bytes after \"#\"")
		}
		f.Size = int64(size)
		words = words[1:]
	}
	if len(words) > 0 {
		return p, s.fail(line, wantLine+" and nothing else")
	}
	p.Files = []File{f}
	return p, nil
}
