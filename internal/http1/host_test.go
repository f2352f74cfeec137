package http1

import "testing"

func TestValidHost(t *testing.T) {
	for host, want := range map[string]bool{
		"":                         true,
		"a":                        true,
		"www.example.org":          true,
		"www.example.org.":         true,
		"127.0.0.1:8080":           true,
		"a:":                       true, // RFC 3986 section 3.2.3: a port is any number of digits
		"a:00080":                  true,
		"[::1]":                    true,
		"[::1]:8080":               true,
		"[v1.fe80::a+en1]":         true,
		"[]":                       false,
		"[::1":                     false,
		"[::1]x":                   false,
		"[::1%25eth0]":             false,
		"[[::1]]":                  false,
		"::1":                      false,
		":80":                      false,
		"a:b":                      false,
		"a:8 0":                    false,
		"a:80:80":                  false,
		"a:-1":                     false,
		"a b":                      false,
		"a\tb":                     false,
		"a/b":                      false,
		"a?b":                      false,
		"a#b":                      false,
		"u@a":                      false,
		"u:p@a":                    false,
		"a,b":                      false,
		"a\\b":                     false,
		"a\"b":                     false,
		"<a>":                      false,
		"caf\xc3\xa9":              false,
		"caf%C3%a9":                true,
		"a%":                       false,
		"a%4":                      false,
		"a%4g":                     false,
		"xn--caf-dma.example":      true,
		"under_score":              true,
		"!$&'()*+;=~-._":           true,
		"a:" + "1234567890":        true,
		"http://a":                 false,
		"a.example:80/index.html":  false,
		"a.example, b.example":     false,
		"a.example:80, b.example:": false,
	} {
		if got := validHost([]byte(host)); got != want {
			t.Errorf("validHost(%q) = %v", host, got)
		}
	}
}
