package http1

import (
	"net/http"
	"time"
)

// A Clock renders the Date field once per second. It has one owner: each loop
// or goroutine keeps its own. The zero value is ready.
type Clock struct {
	second int64 // Unix time of text
	text   []byte
}

// Date returns now as an IMF-fixdate (RFC 9110 section 5.6.7), such as "Mon, 30
// Nov 2026 18:00:00 GMT". The bytes stand until the next call.
func (c *Clock) Date(now time.Time) []byte {
	if second := now.Unix(); second != c.second || len(c.text) == 0 {
		c.second = second
		c.text = now.UTC().AppendFormat(c.text[:0], http.TimeFormat)
	}
	return c.text
}
