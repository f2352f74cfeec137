package plan

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// badTarget says what is wrong with a request target of a list, as the end of
// a sentence; empty when nothing is.
func badTarget(t string) string {
	if t == "" {
		return ": the path is empty"
	}
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case c <= ' ' || c >= 0x7f:
			return fmt.Sprintf(": a path has no byte %#02x, write %%%02X", c, c)
		case c == '#':
			return ": a path has no \"#\""
		case c == '%' && (i+2 >= len(t) || !isHex(t[i+1]) || !isHex(t[i+2])):
			return ": \"%\" is followed by two hexadecimal digits"
		}
	}
	if strings.Contains(t, "://") && !strings.HasPrefix(t, "/") && !strings.ContainsAny(t[:strings.Index(t, "://")], "/?") {
		u, err := url.Parse(t)
		if err != nil || u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
			return ": not a URL of the form http://host:port/path"
		}
		return badAuthority(u)
	}
	return ""
}

// badAuthority says in the same way what is wrong with host and port.
func badAuthority(u *url.URL) string {
	if strings.Contains(u.Hostname(), "%") {
		return ": an address with a zone can't be asked"
	}
	if strings.HasSuffix(u.Host, ":") {
		return ": the port is missing after \":\""
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return ": a port is a number from 1 to 65535"
		}
	}
	return ""
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// SplitURL divides an http URL into the authority and the raw request target,
// both as written, so that no escape is changed on the way. A fragment is not
// allowed, a missing path is "/".
func SplitURL(raw string) (host, target string, err error) {
	rest, ok := strings.CutPrefix(raw, "http://")
	if strings.HasPrefix(raw, "https://") {
		return "", "", fmt.Errorf("url %q: TLS is not spoken here, expected http://host:port/path", raw)
	}
	if !ok {
		return "", "", fmt.Errorf("url %q: expected http://host:port/path", raw)
	}
	if why := badTarget(raw); why != "" {
		return "", "", fmt.Errorf("url %q%s", raw, why)
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		return rest, "/", nil
	}
	host, target = rest[:end], rest[end:]
	if target[0] == '?' {
		target = "/" + target
	}
	return host, target, nil
}

// resolve makes a request target of a list's, relative to a base of which
// host and path are given. A URL must name the same host.
func resolve(t, host, basePath string) (string, error) {
	if strings.HasPrefix(t, "/") {
		return t, nil
	}
	if strings.HasPrefix(t, "http://") {
		h, target, err := SplitURL(t)
		if err == nil && h != host {
			err = fmt.Errorf("url %q: a run has one server, expected host %s", t, host)
		}
		return target, err
	}
	return basePath[:strings.LastIndexByte(basePath, '/')+1] + t, nil
}
