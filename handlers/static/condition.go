package static

import (
	"bytes"
	"net/http"
	"time"

	"github.com/weighstone/weighstone"
)

// unconditional says that no field asks for anything but the whole file.
func unconditional(f weighstone.Fields) bool {
	return f.Get("If-None-Match") == nil && f.Get("If-Modified-Since") == nil && f.Get("Range") == nil &&
		f.Get("If-Match") == nil && f.Get("If-Unmodified-Since") == nil
}

// An outcome is what the preconditions of a request come to.
type outcome uint8

const (
	proceed     outcome = iota
	notModified         // 304
	failed              // 412
)

// evaluate weighs the preconditions of a GET or HEAD in the order of RFC 9110
// section 13.2.2.
func evaluate(f weighstone.Fields, fa *facts) outcome {
	if v := f.Get("If-Match"); v != nil {
		if !listed(f, "If-Match", v, fa.etag, false) {
			return failed
		}
	} else if v := f.Get("If-Unmodified-Since"); v != nil {
		if t, ok := parseDate(v, time.Now()); ok && fa.modified.After(t) {
			return failed
		}
	}
	if v := f.Get("If-None-Match"); v != nil {
		if listed(f, "If-None-Match", v, fa.etag, true) {
			return notModified
		}
	} else if v := f.Get("If-Modified-Since"); v != nil {
		if string(v) == fa.lastModified { // nearly always, when it is there at all
			return notModified
		}
		if t, ok := parseDate(v, time.Now()); ok && !fa.modified.After(t) {
			return notModified
		}
	}
	return proceed
}

// sameVersion weighs If-Range (RFC 9110 section 13.1.5): may parts be sent? A
// date counts when it is exactly the file's, and old enough at now to stand
// for one version only (section 8.8.2.2).
func sameVersion(v []byte, fa *facts, now time.Time) bool {
	switch {
	case v == nil:
		return true
	case len(v) > 0 && (v[0] == '"' || v[0] == 'W'):
		return string(v) == fa.etag // a strong comparison: W/"x" equals nothing
	}
	t, ok := parseDate(v, now)
	return ok && t.Equal(fa.modified) && now.Sub(t) > time.Second
}

// listed says whether the lines of that name, of which first is one, list
// etag. A list may be spread over several lines (RFC 9110 section 5.3).
func listed(f weighstone.Fields, name string, first []byte, etag string, weak bool) bool {
	if matches(first, etag, weak) {
		return true
	}
	s := &tagSink{name: []byte(name), etag: etag, weak: weak}
	f.Each(s)
	return s.found
}

// A tagSink looks for an ETag in all lines of one name.
type tagSink struct {
	name        []byte
	etag        string
	weak, found bool
}

// Field takes one line.
func (s *tagSink) Field(name, value []byte) {
	s.found = s.found || bytes.EqualFold(name, s.name) && matches(value, s.etag, s.weak)
}

// matches says whether list is "*" or has an entity tag equal to etag, which
// is strong. The weak comparison disregards W/, the strong one never finds
// such a tag equal (RFC 9110 section 8.8.3.2). The list counts up to the first
// thing in it that is no tag.
func matches(list []byte, etag string, weak bool) bool {
	if string(list) == "*" {
		return true
	}
	for {
		list = bytes.TrimLeft(list, " \t,")
		isWeak := bytes.HasPrefix(list, []byte("W/"))
		if isWeak {
			list = list[2:]
		}
		n := tagLength(list)
		if n == 0 {
			return false
		}
		if string(list[:n]) == etag && (weak || !isWeak) {
			return true
		}
		list = bytes.TrimLeft(list[n:], " \t")
		if len(list) > 0 && list[0] != ',' {
			return false
		}
	}
}

// tagLength returns the length of the opaque tag that b begins with, quotes
// included, 0 if there is none.
func tagLength(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i, c := range b[1:] {
		switch {
		case c == '"':
			return i + 2
		case c <= ' ' || c == 0x7f:
			return 0
		}
	}
	return 0
}

// maxDate is longer than any date, in bytes.
const maxDate = 40

// parseDate reads a date in one of the three forms of RFC 9110 section 5.6.7.
// Two digits of a year mean the last such year that is no more than fifty
// years from now.
func parseDate(v []byte, now time.Time) (time.Time, bool) {
	if len(v) > maxDate {
		return time.Time{}, false
	}
	s := string(v)
	t, err := http.ParseTime(s)
	if err != nil {
		return time.Time{}, false
	}
	if bytes.IndexByte(v, '-') < 0 { // not the form of RFC 850
		return t, true
	}
	if !bytes.HasSuffix(v, []byte(" GMT")) {
		return time.Time{}, false
	}
	year := now.Year()/100*100 + t.Year()%100
	t = t.AddDate(year-t.Year(), 0, 0)
	if t.After(now.AddDate(50, 0, 0)) {
		t = t.AddDate(-100, 0, 0)
	}
	return t, true
}
