package scripttest

import (
	"io"
	"strings"
)

// Cases returns requests to the four programs, by the path behind the prefix
// of a mechanism.
func Cases() []Ask {
	var all []Ask
	add := func(method, target, body string) {
		for _, fields := range []Lines{nil, {"Content-Type", "x/y; z", "X-A", "1", "Cookie", "a", "Cookie", "b"}} {
			a := Ask{Method: method, Target: target, Fields: fields}
			if method == "GET" {
				all = append(all, a)
				continue
			}
			for _, length := range []int64{int64(len(body)), -1} {
				a.Body, a.Length = nil, length
				if length != 0 {
					a.Body = strings.NewReader(body)
				}
				all = append(all, a)
			}
		}
	}
	for _, target := range []string{
		"/hello", "/hello?x", "/send", "/send?", "/send?a=1", "/send?xsize=1", "/send?size=0", "/send?size=1", "/send?size=8190", "/send?size=8191",
		"/send?size=57330", "/send?size=57331", "/send?size=65536", "/send?size=1000000", "/send?size=16777216", "/send?size=16777217",
		"/send?size=007", "/send?a&size=5&size=6", "/send?size=5&", "/send?&&size=5", "/send?size=", "/send?size=-1", "/send?size=+1", "/send?size=1.5", "/send?size=x",
		"/send?size=0x10", "/send?size=%31", "/send?size=4294967297", "/send?size=99999999999999999999", "/send?size=&size=1",
		"/echo", "/echo?a=b", "/echo/a%20b?q", "/mirror",
	} {
		add("GET", target, "")
	}
	add("POST", "/hello", "short")
	for _, target := range []string{"/echo", "/mirror"} {
		for _, body := range []string{"", "the\nbody\x00\xff", strings.Repeat("long", 1<<18+1), strings.Repeat("x", 3<<20)} {
			add("POST", target, body)
		}
	}
	return all
}

// Below is a with its target below a prefix, and its body to be read anew.
func (a Ask) Below(prefix string) Ask {
	a.Target = prefix + a.Target
	if s, ok := a.Body.(io.Seeker); ok {
		s.Seek(0, io.SeekStart) // a strings.Reader can
	}
	return a
}
