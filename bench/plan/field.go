package plan

import (
	"fmt"
	"strings"
)

// parseFields renders header lines given as "Name: value", and takes Host out
// of them, which is not sent twice.
func parseFields(lines []string) (fields []byte, host string, err error) {
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		value = strings.Trim(value, " \t")
		if !ok || name == "" || strings.ContainsFunc(name, notToken) || strings.ContainsAny(value, "\r\n\x00") {
			return nil, "", fmt.Errorf("header %q: expected \"Name: value\"", line)
		}
		switch strings.ToLower(name) {
		case "host":
			host = value
		case "connection", "content-length", "transfer-encoding", "expect":
			return nil, "", fmt.Errorf("header %q: the load generator decides about %s itself", line, name)
		default:
			fields = append(fields, name+": "+value+"\r\n"...)
		}
	}
	return fields, host, nil
}

// notToken says whether r may not stand in a field name (RFC 9110 section
// 5.6.2).
func notToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}
