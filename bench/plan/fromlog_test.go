package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const goodLog = `127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326
127.0.0.1 - frank [10/Oct/2000:13:55:37 -0700] "GET /b?x=1 HTTP/1.1" 200 -
::1 - - [10/Oct/2000:13:55:38 -0700] "GET /a HTTP/1.1" 200 2326 "http://x/\"q\"" "Mozilla/5.0 (X11)"
::1 - - [10/Oct/2000:13:55:38 -0700] "POST /a HTTP/1.1" 200 5 "-" "-"
::1 - - [10/Oct/2000:13:55:38 -0700] "GET /none HTTP/1.1" 404 5
::1 - - [10/Oct/2000:13:55:38 -0700] "GET /a" 200 5
::1 - - [10/Oct/2000:13:55:38 -0700] "GET /c\\d HTTP/1.1" 200 5
::1 - - [10/Oct/2000:13:55:38 -0700] "\x16\x03\x01" 400 0
::1 - - [10/Oct/2000:13:55:38 -0700] "-" 408 -
`

func TestFromLog(t *testing.T) {
	list, err := FromLog("log", strings.NewReader(goodLog))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list.Pages {
		f := p.Files[0]
		got = append(got, fmt.Sprint(f.Target, " ", p.Weight, " ", f.Size, " ", f.Line))
	}
	if want := `[/a 3 -1 1 /b?x=1 1 -1 2 /c\d 1 -1 7]`; fmt.Sprint(got) != want || list.Format != Lines2 {
		t.Errorf("%v, want %s", got, want)
	}
	p, err := New(list, "http://127.0.0.1:8080/", Options{Seed: 1})
	if err != nil || len(p.Classes()) != 3 {
		t.Errorf("plan: %v", err)
	}
}

// TestFromWrongLog: a line that is none has its number in the error.
func TestFromWrongLog(t *testing.T) {
	const first = `127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326` + "\n"
	for line, want := range map[string]string{
		"":      "a GET that was answered with 200",
		"hello": "log:2: found \"hello\", expected a line of the common or combined log format",
		"\n":    "log:2: found a blank line",
		`127.0.0.1 - - 10/Oct/2000 "GET /a HTTP/1.0" 200 2326`:                                   "with the time in brackets",
		`127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] GET /a HTTP/1.0 200 2326`:                    "with the request in quotes",
		`127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0`:                            "with the request in quotes",
		`127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200`:                       "expected a line of the common",
		`127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" OK 12`:                     "with a status of three digits",
		`127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 many`:                  "with a number of bytes or -",
		`127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 12 "-"`:                `and in the combined one "referer" "user agent"`,
		`127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 12 "-" "-" 17`:         "and nothing else",
		`127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a b c HTTP/1.0" 200 12`:                "with a request of three words",
		`127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /\x01 HTTP/1.0" 200 12`:                 "a request target",
		`127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /` + strings.Repeat("a", 9000) + ` 200`: "at most 8192 bytes a line",
	} {
		text := first + line
		if line == "" {
			text = "# nothing\n"
		}
		_, err := FromLog("log", strings.NewReader(text))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) || line != "" && syntax.Line != 2 {
			t.Errorf("%.90q: %v, want %q", line, err, want)
		}
	}
	if _, err := OpenLog("no-such-file"); err == nil {
		t.Error("a file that is not there is read")
	}
}

func FuzzFromLog(f *testing.F) {
	f.Add(goodLog)
	f.Add(`a b c [d] "GET / HTTP/1.0" 200 -` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := FromLog("log", strings.NewReader(text))
		if err != nil {
			return
		}
		for _, p := range list.Pages {
			if p.Weight < 1 || len(p.Files) != 1 || p.Files[0].Target == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}
