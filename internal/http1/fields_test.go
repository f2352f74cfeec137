package http1

import (
	"strings"
	"testing"
)

func TestFieldsGet(t *testing.T) {
	var r Request
	in := get + "Host: a\r\nAccept: one\r\nX-Empty:\r\naCCEPT: two\r\nIf-None-Match: \"x\"\r\nX^Y: caret\r\n\r\n"
	if n, status := r.Parse([]byte(in), 0, new(Limits)); n == 0 {
		t.Fatal(status)
	}
	for name, want := range map[string]string{
		"Host": "a", "host": "a", "HOST": "a",
		"Accept":        "one", // the first of two
		"If-None-Match": `"x"`,
		"if-none-match": `"x"`,
		"X^Y":           "caret",
	} {
		if got := r.Fields.Get(name); string(got) != want {
			t.Errorf("Get(%q) = %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"", "Hos", "Hosts", "Expect", "Range", "X~Y", "If\rNone-Match", "Accept "} {
		if got := r.Fields.Get(name); got != nil {
			t.Errorf("Get(%q) = %q, want nil", name, got)
		}
	}
	if got := r.Fields.Get("X-Empty"); got == nil || len(got) != 0 {
		t.Errorf("an empty value is %#v, want one that is not nil", got)
	}
	if got := r.Fields.Len(); got != 6 {
		t.Errorf("Len() = %d, want 6", got)
	}
}

// The names that framing wants must have their bits in framingBits.
func TestFramingBits(t *testing.T) {
	for _, name := range []string{"Host", "Expect", "Connection", "Content-Length", "Transfer-Encoding"} {
		for _, name := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if framingBits&bitOf(len(name), name[0]) == 0 {
				t.Errorf("the bit of %s is missing", name)
			}
		}
	}
}

// No name at all and no line at all.
func TestFieldsZero(t *testing.T) {
	var f Fields
	if f.Get("Host") != nil || f.Len() != 0 || list(&f) != "" {
		t.Error("the zero Fields are not empty")
	}
}
