package weighstone

import "bytes"

// decodeTarget fills Path, Query and, for the absolute form, Host from the
// raw target, and reports whether it has a path. It accepts the origin form
// and the absolute form (RFC 9112 section 3.2) of the schemes http and https.
//
// A target with a byte that no URI has (RFC 3986: controls, space, "#",
// non-ASCII), a malformed escape, an escaped control character, or dot
// segments that climb above the root has none. Escapes are decoded once, dot
// segments and empty segments removed. An escaped slash is refused: a handler
// could not tell it from a separator (RFC 3875 section 4.1.5 allows that).
func (x *Exchange) decodeTarget() bool {
	in := &x.In
	t := in.Target
	if len(t) == 0 {
		return false
	}
	if t[0] != '/' {
		var host []byte
		if host, t = splitAbsolute(t); host == nil {
			return false
		}
		in.Host = host
	}
	plain := true // no escape, no dot segment, no empty segment: the target is the path
	end := len(t)
	last := byte(0)
	for i, c := range t {
		switch {
		case c <= ' ' || c >= 0x7f || c == '#':
			return false
		case end < len(t): // in the query: any visible character
		case c == '?':
			end = i
		case c == '%', last == '/' && (c == '.' || c == '/'):
			plain = false
		}
		last = c
	}
	in.Query = nil
	if end < len(t) {
		in.Query = t[end+1:]
	}
	if plain && end > 0 {
		in.Path = t[:end]
		return true
	}
	return x.normalise(t[:end])
}

// splitAbsolute divides "http://host/path?query" into the authority and what
// follows it; a missing path is an empty one. The authority is nil when t is
// not in absolute form or has user information (RFC 9110 section 4.2.4).
func splitAbsolute(t []byte) (host, rest []byte) {
	i := bytes.Index(t, []byte("://"))
	if i < 0 || !bytes.EqualFold(t[:i], []byte("http")) && !bytes.EqualFold(t[:i], []byte("https")) {
		return nil, nil
	}
	t = t[i+3:]
	end := bytes.IndexAny(t, "/?#")
	if end < 0 {
		end = len(t)
	}
	if end == 0 || bytes.IndexByte(t[:end], '@') >= 0 {
		return nil, nil
	}
	return t[:end], t[end:]
}

// normalise decodes p into x.path and makes In.Path of it.
func (x *Exchange) normalise(p []byte) bool {
	out := append(x.path[:0], '/')
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c == '/' {
			var ok bool
			if out, ok = closeSegment(out); !ok {
				return false
			}
			continue
		}
		if c == '%' {
			if i+2 >= len(p) {
				return false
			}
			hi, lo := unhex(p[i+1]), unhex(p[i+2])
			if hi < 0 || lo < 0 {
				return false
			}
			c = byte(hi<<4 | lo)
			if c < ' ' || c == 0x7f || c == '/' {
				return false
			}
			i += 2
		}
		out = append(out, c)
	}
	// A path that ends in a dot segment names a directory, as if it ended in a slash.
	if bytes.HasSuffix(out, []byte("/.")) || bytes.HasSuffix(out, []byte("/..")) {
		var ok bool
		if out, ok = closeSegment(out); !ok {
			return false
		}
	}
	x.path = out
	x.In.Path = out
	return true
}

// closeSegment ends the last segment of out with a slash; an empty one and "."
// are dropped, ".." takes its parent along and fails above the root.
func closeSegment(out []byte) ([]byte, bool) {
	start := bytes.LastIndexByte(out, '/') + 1
	switch string(out[start:]) {
	case "", ".":
		return out[:start], true
	case "..":
		if start == 1 {
			return out, false
		}
		return out[:bytes.LastIndexByte(out[:start-1], '/')+1], true
	}
	return append(out, '/'), true
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
