package http1

import (
	"net/http"
	"testing"
	"time"
)

func TestAppend(t *testing.T) {
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"status 200", AppendStatusLine(nil, 1, 200), "HTTP/1.1 200 OK\r\n"},
		{"status 404", AppendStatusLine(nil, 1, 404), "HTTP/1.1 404 Not Found\r\n"},
		{"status 100", AppendStatusLine(nil, 1, 100), "HTTP/1.1 100 Continue\r\n"},
		{"status for http/1.0", AppendStatusLine(nil, 0, 304), "HTTP/1.1 304 Not Modified\r\n"},
		{"unknown status", AppendStatusLine(nil, 1, 299), "HTTP/1.1 299 \r\n"},
		{"field", AppendField(nil, "Content-Type", "text/html"), "Content-Type: text/html\r\n"},
		{"empty field", AppendField(nil, "X", ""), "X: \r\n"},
		{"number", AppendFieldInt(nil, "Content-Length", 1<<40), "Content-Length: 1099511627776\r\n"},
		{"zero", AppendFieldInt(nil, "Content-Length", 0), "Content-Length: 0\r\n"},
		{"chunk", AppendChunk(nil, []byte("abcdefghijkl")), "c\r\nabcdefghijkl\r\n"},
		{"empty chunk", AppendChunk([]byte("x"), nil), "x"},
		{"chunk head", AppendChunkHead(nil, 65536), "10000\r\n"},
		{"behind other bytes", AppendStatusLine([]byte("x"), 1, 204), "xHTTP/1.1 204 No Content\r\n"},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// What is rendered can be parsed.
func TestAppendParse(t *testing.T) {
	for code := 200; code < 600; code++ {
		b := AppendStatusLine(nil, 1, code)
		b = AppendFieldInt(b, "Content-Length", 7)
		b = AppendField(b, "X", "y")
		b = append(b, "\r\n"...)
		var r Response
		n, err := r.Parse(b, false, new(Limits))
		if n != len(b) || err != nil || r.Status != code {
			t.Errorf("%d: n %d, error %v, status %d", code, n, err, r.Status)
		}
	}
}

func TestClock(t *testing.T) {
	var c Clock
	zone := time.FixedZone("", 3600)
	at := time.Date(2026, time.November, 30, 19, 0, 0, 0, zone)
	for _, step := range []struct {
		now  time.Time
		want string
	}{
		{time.Unix(0, 0), "Thu, 01 Jan 1970 00:00:00 GMT"},
		{at, "Mon, 30 Nov 2026 18:00:00 GMT"},
		{at.Add(time.Second - 1), "Mon, 30 Nov 2026 18:00:00 GMT"},
		{at.Add(time.Second), "Mon, 30 Nov 2026 18:00:01 GMT"},
		{at.Add(-time.Hour), "Mon, 30 Nov 2026 17:00:00 GMT"}, // a clock set back
	} {
		if got := string(c.Date(step.now)); got != step.want || got != step.now.UTC().Format(http.TimeFormat) {
			t.Errorf("Date(%v) = %q, want %q", step.now, got, step.want)
		}
	}
}
