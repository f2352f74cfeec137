package plan

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// OpenLog makes a list of the access log in a file; see [FromLog].
func OpenLog(name string) (*List, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open access log: %w", err)
	}
	defer f.Close()
	return FromLog(name, f)
}

// FromLog makes a list of an access log in the Common Log Format, or in the
// combined one, as WebStone's companion script did: each target that was asked
// for by GET and answered with 200, its weight the number of such requests, in
// the order of their first. The size of a reply is not kept: what the log has
// is that of one version of the page, which may have changed. The name is for
// messages; a line of another form is a [*SyntaxError].
func FromLog(name string, r io.Reader) (*List, error) {
	s := newScanner(name, r)
	list := &List{Name: name, Format: Lines2}
	at := map[string]int{}
	for line, ok := s.next(); ok; line, ok = s.next() {
		e, why := parseLog(line)
		if why != "" {
			return nil, s.fail(line, why)
		}
		if e.method != "GET" || e.status != 200 {
			continue
		}
		if bad := badTarget(e.target); bad != "" {
			return nil, s.fail(line, "a request target"+bad)
		}
		if i, known := at[e.target]; known {
			list.Pages[i].Weight++
			continue
		}
		if len(list.Pages) == maxLines2 {
			return nil, s.fail(line, fmt.Sprintf("no more than %d different targets", maxLines2))
		}
		at[e.target] = len(list.Pages)
		list.Pages = append(list.Pages, Page{Weight: 1, Files: []File{{Target: e.target, Size: -1, Line: s.line}}})
	}
	if s.lines.Err() != nil {
		return nil, s.fail("", "")
	}
	if len(list.Pages) == 0 {
		return nil, s.fail("", "a GET that was answered with 200")
	}
	return list, nil
}

// A logEntry is what a list needs of a line.
type logEntry struct {
	method, target string
	status         int
}

const wantLog = "a line of the common or combined log format: host ident user [time] \"METHOD target HTTP/1.x\" status bytes"

// parseLog takes a line apart: `host ident user [time] "request" status bytes`,
// and in the combined format ` "referer" "user agent"`; why is what was expected
// where it is not one.
func parseLog(line string) (e logEntry, why string) {
	rest := line
	for range 3 {
		var word string
		if word, rest, _ = strings.Cut(rest, " "); word == "" {
			return e, wantLog
		}
	}
	when, rest, closed := strings.Cut(rest, "] ")
	if !strings.HasPrefix(when, "[") || !closed {
		return e, wantLog + ", with the time in brackets"
	}
	request, rest, ok := quoted(rest)
	if !ok {
		return e, wantLog + ", with the request in quotes"
	}
	words := strings.Fields(rest)
	if len(words) < 2 {
		return e, wantLog
	}
	status, err := strconv.Atoi(words[0])
	if err != nil || status < 100 || status > 999 {
		return e, wantLog + ", with a status of three digits"
	}
	if _, err := strconv.ParseUint(words[1], 10, 63); err != nil && words[1] != "-" {
		return e, wantLog + ", with a number of bytes or -"
	}
	_, rest, _ = strings.Cut(rest, words[0])
	_, rest, _ = strings.Cut(rest, words[1])
	if why := combined(strings.TrimSpace(rest)); why != "" {
		return e, why
	}
	e.status = status
	parts := strings.Split(request, " ")
	if len(parts) == 3 && strings.HasPrefix(parts[2], "HTTP/") || len(parts) == 2 {
		e.method, e.target = parts[0], parts[1]
		return e, ""
	}
	if status == 200 {
		return e, wantLog + ", with a request of three words where the status is 200"
	}
	return e, "" // what was not HTTP, and was answered so
}

// combined looks at what follows the number of bytes: nothing, or two texts in
// quotes.
func combined(rest string) (why string) {
	if rest == "" {
		return ""
	}
	for range 2 {
		var ok bool
		if _, rest, ok = quoted(rest); !ok {
			return wantLog + ", and in the combined one \"referer\" \"user agent\""
		}
		rest = strings.TrimSpace(rest)
	}
	if rest != "" {
		return wantLog + ", and in the combined one \"referer\" \"user agent\" and nothing else"
	}
	return ""
}

// quoted takes a text in quotes off the front. Within, servers write what could
// not stand there as \" or \\ or \xHH.
func quoted(s string) (text, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] != '\\':
			b.WriteByte(s[i])
		case strings.HasPrefix(s[i:], `\x`) && i+4 <= len(s):
			v, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
			if err != nil {
				return "", s, false
			}
			b.WriteByte(byte(v))
			i += 3
		case i+1 < len(s):
			i++
			b.WriteByte(s[i])
		}
	}
	return "", s, false
}
