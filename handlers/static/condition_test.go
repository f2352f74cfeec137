package static

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

const (
	earlier = "Sat, 03 Feb 2001 04:05:05 GMT"
	later   = "Sat, 03 Feb 2001 04:05:07 GMT"
)

func TestPreconditions(t *testing.T) {
	b := pair(t)
	for _, path := range []string{"/small.html", "/large.html"} {
		tag := b.ask("GET", path).fields.Get("Etag")
		for _, c := range []struct {
			status int
			fields string // TAG is the file's; lines are separated by "|"
		}{
			{304, "If-None-Match: TAG"},
			{304, "If-None-Match: W/TAG"},
			{304, `If-None-Match: "x", TAG, "y"`},
			{304, `If-None-Match: "x"|If-None-Match: TAG`},
			{304, `If-None-Match: "a,b" , W/"c",,TAG`},
			{304, "If-None-Match: *"},
			{200, `If-None-Match: "x"`},
			{200, "If-None-Match: "},
			{200, "If-None-Match: x, TAG"},
			{200, `If-None-Match: "x" TAG`},
			{200, `If-None-Match: "`},
			{304, "If-Modified-Since: " + publishedField},
			{304, "If-Modified-Since: " + later},
			{304, "If-Modified-Since: Saturday, 03-Feb-01 04:05:06 GMT"},
			{304, "If-Modified-Since: Sat Feb  3 04:05:06 2001"},
			{200, "If-Modified-Since: " + earlier},
			{200, "If-Modified-Since: Saturday, 03-Feb-01 04:05:06 EST"},
			{200, "If-Modified-Since: yesterday"},
			{200, "If-Modified-Since: " + strings.Repeat("Sat, ", 100)},
			{200, `If-None-Match: "x"|If-Modified-Since: ` + publishedField},
			{304, "If-None-Match: TAG|If-Modified-Since: " + earlier},
			{412, `If-Match: "x"`},
			{412, "If-Match: W/TAG"},
			{200, "If-Match: TAG"},
			{200, `If-Match: "x", TAG`},
			{200, "If-Match: *"},
			{412, "If-Unmodified-Since: " + earlier},
			{200, "If-Unmodified-Since: " + publishedField},
			{200, "If-Unmodified-Since: whenever"},
			{200, "If-Match: TAG|If-Unmodified-Since: " + earlier},
			{304, "If-Match: TAG|If-None-Match: TAG"},
			{412, `If-Match: "x"|If-None-Match: TAG`},
			{304, "If-None-Match: TAG|Range: bytes=0-1"},
			{412, `If-Match: "x"|Range: bytes=0-1`},
		} {
			fields := strings.Split(strings.ReplaceAll(c.fields, "TAG", tag), "|")
			for _, method := range []string{"GET", "HEAD"} {
				r := b.ask(method, path, fields...)
				if r.status != c.status {
					t.Errorf("%s %s with %q: %d, want %d", method, path, fields, r.status, c.status)
				}
				if r.status == 304 && (r.body != "" || r.kind != 0 || r.fields.Get("Etag") != tag || r.fields.Get("Last-Modified") != publishedField || len(r.fields) != 2) {
					t.Errorf("%s %s: 304 with %v and %q", method, path, r.fields, r.body)
				}
			}
		}
	}
}

func TestConditionalOnMissing(t *testing.T) {
	b := pair(t)
	if r := b.ask("GET", "/missing", "If-Match: *"); r.status != 404 {
		t.Errorf("%d, want 404: preconditions count for what would be a success", r.status)
	}
}

func TestParseDateCentury(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]int{
		"Thursday, 01-Feb-96 00:00:00 GMT": 1996, "Sunday, 01-Feb-26 00:00:00 GMT": 2026, "Monday, 01-Feb-70 00:00:00 GMT": 2070,
		"Monday, 01-Feb-77 00:00:00 GMT": 1977, "Thursday, 29-Feb-96 00:00:00 GMT": 1996,
	} {
		if got, ok := parseDate([]byte(text), now); !ok || got.Year() != want || got.Month() != time.February {
			t.Errorf("%s: %v %v, want the year %d", text, got, ok, want)
		}
	}
}

func FuzzMatches(f *testing.F) {
	for _, s := range []string{"*", `"x"`, `W/"x"`, `"a", "x"`, `"a,b",W/"x"`, `""`, `"`, "W/", ", ,", `"x"y`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		const tag = `"x"`
		strong, weak := matches(list, tag, false), matches(list, tag, true)
		if strong && !weak {
			t.Errorf("%q: strongly equal, weakly not", list)
		}
		if weak && string(list) != "*" && !bytes.Contains(list, []byte(tag)) {
			t.Errorf("%q: found a tag that is not there", list)
		}
		if before := append([]byte(`"y", `), list...); string(list) != "*" && matches(before, tag, true) != weak {
			t.Errorf("%q: another tag before it changes the answer", list)
		}
	})
}
