package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// parsePages reads a list of WebStone 1.x: the number of pages; then for each
// a line "weight nfiles" and as many lines with a path. Weights are meant as
// percentages and taken relative to their sum.
func parsePages(s *scanner, first string) (*List, error) {
	n, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || n < 1 || n > maxPages {
		return nil, s.fail(first, fmt.Sprintf("a number of pages from 1 to %d", maxPages))
	}
	list := &List{Name: s.name, Format: Pages1, Pages: make([]Page, n)}
	for i := range list.Pages {
		if err := parsePage(s, &list.Pages[i], i+1, n); err != nil {
			return nil, err
		}
	}
	if line, ok := s.next(); ok {
		return nil, s.fail(line, fmt.Sprintf("the end of the list after %d pages", n))
	}
	if s.lines.Err() != nil {
		return nil, s.fail("", "")
	}
	return list, nil
}

func parsePage(s *scanner, p *Page, i, pages int) error {
	want := fmt.Sprintf("\"weight nfiles\" of page %d of %d, at most %d files", i, pages, maxFilesOfPage)
	line, ok := s.next()
	if !ok {
		return s.fail("", want)
	}
	words := strings.Fields(line)
	if len(words) != 2 {
		return s.fail(line, want)
	}
	weight, err := strconv.ParseUint(words[0], 10, 64)
	if err != nil || weight < 1 || weight > maxWeight {
		return s.fail(line, want+" (the weight is a whole number from 1)")
	}
	n, err := strconv.Atoi(words[1])
	if err != nil || n < 1 || n > maxFilesOfPage {
		return s.fail(line, want)
	}
	p.Weight, p.Files = weight, make([]File, n)
	for k := range p.Files {
		want := fmt.Sprintf("path %d of %d of page %d", k+1, n, i)
		line, ok := s.next()
		if !ok {
			return s.fail("", want)
		}
		target := strings.Trim(line, " \t")
		if why := badTarget(target); why != "" {
			return s.fail(line, want+why)
		}
		p.Files[k] = File{Target: target, Size: -1, Line: s.line}
	}
	return nil
}
