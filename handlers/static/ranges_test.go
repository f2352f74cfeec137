package static

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
)

func TestRanges(t *testing.T) {
	b := pair(t)
	for _, path := range []string{"/small.html", "/large.html"} {
		whole := b.ask("GET", path)
		size := len(whole.body)
		for _, c := range []struct {
			value       string
			status      int
			first, last int
		}{
			{"bytes=0-9", 206, 0, 9},
			{"Bytes=0-9", 206, 0, 9},
			{"bytes=0-0", 206, 0, 0},
			{"bytes=50-59", 206, 50, 59},
			{"bytes=90-", 206, 90, size - 1},
			{"bytes=-5", 206, size - 5, size - 1},
			{"bytes=95-99999", 206, 95, size - 1},
			{"bytes=-100000", 206, 0, size - 1},
			{"bytes=0-99999999999999999999", 206, 0, size - 1},
			{"bytes=-99999999999999999999", 206, 0, size - 1},
			{"bytes= 1-2 ,", 206, 1, 2},
			{"bytes=5-6,1000-", 206, 5, 6},
			{"bytes=100000-", 416, 0, 0},
			{"bytes=-0", 416, 0, 0},
			{"bytes=99999999999999999999-", 416, 0, 0},
			{"bytes=9223372036854775807-", 416, 0, 0},
			{"bytes=18446744073709551616-18446744073709551620", 416, 0, 0},
			{"bytes=1000-,2000-", 416, 0, 0},
			{"bytes=abc", 200, 0, 0},
			{"bytes=5-2", 200, 0, 0},
			{"bytes=5-2,0-1", 200, 0, 0},
			{"bytes=1", 200, 0, 0},
			{"bytes=-", 200, 0, 0},
			{"bytes=1-2-3", 200, 0, 0},
			{"bytes=+1-2", 200, 0, 0},
			{"bytes=--1", 200, 0, 0},
			{"bytes=1 -2", 200, 0, 0},
			{"bytes=", 200, 0, 0},
			{"bytes=,", 200, 0, 0},
			{"bytes", 200, 0, 0},
			{"", 200, 0, 0},
			{"lines=0-9", 200, 0, 0},
			{"bytes=0-80,0-80", 200, 0, 0},
			{"bytes=" + strings.Repeat("0-0,", 17), 200, 0, 0},
		} {
			r := b.ask("GET", path, "Range: "+c.value)
			var body, field string
			switch c.status {
			case 200:
				body = whole.body
			case 206:
				body, field = whole.body[c.first:c.last+1], fmt.Sprintf("bytes %d-%d/%d", c.first, c.last, size)
			case 416:
				body, field = "416 Requested Range Not Satisfiable\n", fmt.Sprintf("bytes */%d", size)
			}
			if r.status != c.status || r.body != body || r.fields.Get("Content-Range") != field {
				t.Errorf("%s %s: %d %q %q, want %d %q %q", path, c.value, r.status, r.fields.Get("Content-Range"), r.body, c.status, field, body)
			}
			if tag := whole.fields.Get("Etag"); c.status == 206 && (r.fields.Get("Etag") != tag || r.fields.Get("Content-Type") != "text/html; charset=utf-8") {
				t.Errorf("%s %s: fields %v", path, c.value, r.fields)
			}
			if h := b.ask("HEAD", path, "Range: "+c.value); h.status != 200 || h.body != whole.body {
				t.Errorf("HEAD %s %s: %d", path, c.value, h.status)
			}
		}
	}
}

func TestIfRange(t *testing.T) {
	b := pair(t)
	for _, path := range []string{"/small.html", "/large.html"} {
		tag := b.ask("GET", path).fields.Get("Etag")
		for value, want := range map[string]int{
			tag: 206, "W/" + tag: 200, `"x"`: 200, publishedField: 206, later: 200, earlier: 200,
			"Saturday, 03-Feb-01 04:05:06 GMT": 206, "x": 200, "": 200,
		} {
			if r := b.ask("GET", path, "Range: bytes=0-9", "If-Range: "+value); r.status != want {
				t.Errorf("%s If-Range %s: %d, want %d", path, value, r.status, want)
			}
		}
	}
	now := time.Date(2001, 2, 3, 4, 5, 6, 9e8, time.UTC)
	fa := facts{modified: now.Truncate(time.Second)}
	if sameVersion([]byte(publishedField), &fa, now) {
		t.Error("a date of this very second may stand for two versions")
	}
}

func TestSeveralRanges(t *testing.T) {
	b := pair(t)
	for _, path := range []string{"/small.html", "/large.html"} {
		whole := b.ask("GET", path).body
		r := b.ask("GET", path, "Range: bytes=0-4, 50-54,-2,1000-")
		kind, params, err := mime.ParseMediaType(r.fields.Get("Content-Type"))
		if r.status != 206 || err != nil || kind != "multipart/byteranges" || r.fields.Get("Content-Range") != "" {
			t.Fatalf("%s: %d %v %v", path, r.status, r.fields, err)
		}
		parts := multipart.NewReader(strings.NewReader(r.body), params["boundary"])
		for _, want := range [][2]int{{0, 5}, {50, 55}, {len(whole) - 2, len(whole)}} {
			part, err := parts.NextRawPart()
			if err != nil {
				t.Fatalf("%s: %v in\n%s", path, err, r.body)
			}
			text, err := io.ReadAll(part)
			field := fmt.Sprintf("bytes %d-%d/%d", want[0], want[1]-1, len(whole))
			if err != nil || string(text) != whole[want[0]:want[1]] || part.Header.Get("Content-Range") != field || part.Header.Get("Content-Type") != "text/html; charset=utf-8" {
				t.Errorf("%s: part %q %v, %v; want %s", path, text, part.Header, err, field)
			}
		}
		if _, err := parts.NextRawPart(); err != io.EOF {
			t.Errorf("%s: after the last part %v", path, err)
		}
	}
}

func TestSeveralLargeRanges(t *testing.T) {
	b := newBench(t, 1, Options{})
	b.write("0/f", strings.Repeat("0123456789", 20_000))
	if r := b.ask("GET", "/f", "Range: bytes=0-99,100000-100099"); r.status != 206 || len(r.body) > 1000 {
		t.Errorf("two small parts of a large file: %d, %d bytes", r.status, len(r.body))
	}
	if r := b.ask("GET", "/f", "Range: bytes=0-49999,100000-149999"); r.status != 200 || len(r.body) != 200_000 {
		t.Errorf("two large parts: %d, %d bytes", r.status, len(r.body))
	}
	if r := b.ask("GET", "/f", "Range: bytes=100-199999"); r.status != 206 || len(r.body) != 199_900 {
		t.Errorf("one large part: %d, %d bytes", r.status, len(r.body))
	}
}

func TestBoundaryIsNotInFile(t *testing.T) {
	text := "a\r\n--weighstone-X--\r\nb"
	p := weighstone.NewPage("text/plain", published, []byte(text))
	fa := pageFacts(p)
	fa.etag = `"X"`
	x := &weighstone.Exchange{}
	sendParts(x, &fa, memory{p}, []span{{0, fa.size - 1}, {fa.size - 1, 1}})
	r := finish(t, x)
	_, params, err := mime.ParseMediaType(r.fields.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	part, err := multipart.NewReader(strings.NewReader(r.body), params["boundary"]).NextRawPart()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(part); err != nil || string(got) != text[:len(text)-1] {
		t.Errorf("%q %v with %s", got, err, params["boundary"])
	}
}

func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"bytes=0-9", "bytes=-5", "bytes=5-", "bytes=0-1,3-4", "bytes=5-2", "bytes=,", "bytes=99999999999999999999-", "lines=1-2"} {
		f.Add([]byte(s), int64(100))
	}
	f.Fuzz(func(t *testing.T, value []byte, size int64) {
		if size < 0 {
			return
		}
		spans, verdict := parseRange(value, size, nil)
		if (verdict == satisfiable) != (len(spans) > 0) || len(spans) > maxSpans {
			t.Fatalf("%q of %d: verdict %d with %v", value, size, verdict, spans)
		}
		left := size
		for _, s := range spans {
			if s.first < 0 || s.length < 1 || s.last() >= size || s.length > left {
				t.Fatalf("%q of %d: %v", value, size, spans)
			}
			left -= s.length
		}
	})
}
