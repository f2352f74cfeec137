package cgi

import (
	"bytes"
	"slices"

	"github.com/weighstone/weighstone"
)

// An entry is a header field as a variable: its name and value lie side by
// side in the text of the workspace.
type entry struct{ start, value, end int }

// fields hands over the header fields as HTTP_* variables.
func (v *variables) fields(in *weighstone.Request) {
	v.text = v.text[:0]
	v.entries = v.entries[:0]
	if len(in.Host) > 0 {
		v.collect("HTTP_HOST", in.Host)
	}
	in.Fields.Each((*fieldSink)(v))
	slices.SortStableFunc(v.entries, func(a, b entry) int { return bytes.Compare(v.name(a), v.name(b)) })
	for i := 0; i < len(v.entries); {
		end := i + 1
		for end < len(v.entries) && bytes.Equal(v.name(v.entries[i]), v.name(v.entries[end])) {
			end++
		}
		v.merge(v.entries[i:end])
		i = end
	}
}

func (v *variables) name(e entry) []byte { return v.text[e.start:e.value] }

// collect keeps a pair until all fields are known.
func (v *variables) collect(name string, value []byte) {
	start := len(v.text)
	v.text = append(v.text, name...)
	v.text = append(v.text, value...)
	v.entries = append(v.entries, entry{start, start + len(name), len(v.text)})
}

// merge hands over the lines of one field as one value (RFC 3875 section
// 4.1.18): joined as a list, cookies as RFC 6265 section 5.4 writes them.
func (v *variables) merge(lines []entry) {
	name := v.name(lines[0])
	if len(lines) == 1 {
		v.sink.Field(name, v.text[lines[0].value:lines[0].end])
		return
	}
	separator := ", "
	if string(name) == "HTTP_COOKIE" {
		separator = "; "
	}
	v.pair = v.pair[:0]
	for i, e := range lines {
		if i > 0 {
			v.pair = append(v.pair, separator...)
		}
		v.pair = append(v.pair, v.text[e.value:e.end]...)
	}
	v.sink.Field(name, v.pair)
}

// fieldSink receives the header lines of a request into the workspace.
type fieldSink variables

// Field keeps one line, unless it is not to be passed on.
func (f *fieldSink) Field(name, value []byte) {
	start := len(f.text)
	text := append(f.text, "HTTP_"...)
	for _, c := range name {
		switch {
		case 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		case c == '-':
			c = '_'
		case 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		default:
			return
		}
		text = append(text, c)
	}
	if withheld(text[start+len("HTTP_"):]) {
		return
	}
	at := len(text)
	f.text = append(text, value...)
	f.entries = append(f.entries, entry{start, at, len(f.text)})
}

// withheld says whether a field, spelt as in a variable, gives none. Host is
// taken from the exchange: an absolute target overrides it.
func withheld(name []byte) bool {
	switch string(name) {
	case "", "HOST",
		"PROXY",
		"AUTHORIZATION", "PROXY_AUTHORIZATION",
		"CONTENT_LENGTH", "CONTENT_TYPE",
		"CONNECTION", "KEEP_ALIVE", "PROXY_CONNECTION", "TE", "TRAILER", "TRANSFER_ENCODING", "UPGRADE", "EXPECT":
		return true
	}
	return false
}
