package http1

// isHostByte are the bytes of a registered name or IPv4 address (RFC 3986
// section 3.2.2) but for "%", which begins an escape, and ",": a comma in a
// Host field is two hosts in one line.
var isHostByte = setOf(letters, digits, "-._~!$&'()*+;=")

// validHost says whether v is a host with an optional port, or empty, which a
// client sends when its target has no authority (RFC 9112 section 3.2).
func validHost(v []byte) bool {
	if len(v) == 0 {
		return true
	}
	end := hostEnd(v)
	if end <= 0 {
		return false
	}
	if end == len(v) {
		return true
	}
	if v[end] != ':' {
		return false
	}
	for _, c := range v[end+1:] {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// hostEnd returns the index behind the host that v begins with, 0 if there is
// none.
func hostEnd(v []byte) int {
	if v[0] == '[' {
		return literalEnd(v)
	}
	i := 0
	for i < len(v) {
		switch {
		case isHostByte[v[i]]:
			i++
		case v[i] == '%' && i+2 < len(v) && isHex(v[i+1]) && isHex(v[i+2]):
			i += 3
		default:
			return i
		}
	}
	return i
}

// literalEnd is hostEnd for an IP literal in brackets.
func literalEnd(v []byte) int {
	for i := 1; i < len(v); i++ {
		switch {
		case v[i] == ']' && i > 1:
			return i + 1
		case !isHostByte[v[i]] && v[i] != ':':
			return 0
		}
	}
	return 0
}

func isHex(c byte) bool { return unhex(c) >= 0 }

// unhex returns the value of a hexadecimal digit, -1 for any other byte.
func unhex(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
