package scgi

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func TestOpening(t *testing.T) {
	var o Opening
	for range 2 {
		o.Reset()
		o.Field([]byte("CONTENT_LENGTH"), []byte("27"))
		o.Field([]byte("REQUEST_METHOD"), []byte("POST"))
		o.Field([]byte("REQUEST_URI"), []byte("/deepthought"))
		// The example of the specification, its headers in another order.
		want := "70:CONTENT_LENGTH\x0027\x00SCGI\x001\x00REQUEST_METHOD\x00POST\x00REQUEST_URI\x00/deepthought\x00,"
		if got := string(o.Bytes()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	o.Reset()
	o.Field([]byte("A"), []byte("1"))
	o.Field([]byte("NUL"), []byte("a\x00b"))
	if got := string(o.Bytes()); got != "28:CONTENT_LENGTH\x000\x00SCGI\x001\x00A\x001\x00," {
		t.Errorf("%q", got)
	}
}

func TestParseNetstring(t *testing.T) {
	for text, want := range map[string]struct {
		text string
		n    int
		bad  bool
	}{
		"":             {"", 0, false},
		"3":            {"", 0, false},
		"3:ab":         {"", 0, false},
		"3:abc":        {"", 0, false},
		"3:abc,body":   {"abc", 6, false},
		"0:,":          {"", 3, false},
		"3:abcd":       {"", 0, true},
		":abc,":        {"", 0, true},
		"03:abc,":      {"", 0, true},
		"-1:abc,":      {"", 0, true},
		"99999999999":  {"", 0, true},
		"3 :abc,":      {"", 0, true},
		"GET / HTTP/1": {"", 0, true},
	} {
		got, n, err := ParseNetstring([]byte(text))
		if string(got) != want.text || n != want.n || (err != nil) != want.bad {
			t.Errorf("%q: %q, %d, %v", text, got, n, err)
		}
	}
}

func TestParseHeaders(t *testing.T) {
	for text, ok := range map[string]bool{
		"CONTENT_LENGTH\x000\x00SCGI\x001\x00":              true,
		"CONTENT_LENGTH\x000\x00SCGI\x001\x00A\x00\x00":     true,
		"SCGI\x001\x00CONTENT_LENGTH\x000\x00":              false,
		"CONTENT_LENGTH\x000\x00":                           false,
		"CONTENT_LENGTH\x000\x00SCGI\x002\x00":              false,
		"CONTENT_LENGTH\x000\x00SCGI\x001":                  false,
		"CONTENT_LENGTH\x000\x00SCGI\x001\x00\x00x\x00":     false,
		"CONTENT_LENGTH\x000\x00SCGI\x001\x00SCGI\x001\x00": false,
		"": false,
	} {
		if _, err := ParseHeaders([]byte(text)); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestServe(t *testing.T) {
	l, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() {
		served <- Serve(l, func(r *Request) {
			body, err := io.ReadAll(r.Body)
			fmt.Fprintf(r.Out, "Content-Type: text/plain\n\n%s %d %v", r.Params["A"], len(body), err)
		})
	}()
	for _, size := range []int{0, 1, 300_000} {
		c, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(20 * time.Second))
		var o Opening
		o.Reset()
		o.Field([]byte("CONTENT_LENGTH"), fmt.Append(nil, size))
		o.Field([]byte("A"), []byte(strings.Repeat(",", 40_000)))
		c.Write(o.Bytes())
		c.Write(bytes.Repeat([]byte("x"), size))
		got, err := io.ReadAll(c)
		if want := fmt.Sprintf("Content-Type: text/plain\n\n%s %d <nil>", strings.Repeat(",", 40_000), size); string(got) != want || err != nil {
			t.Errorf("%d: %d bytes of reply, %v", size, len(got), err)
		}
		c.Close()
	}
	l.Close()
	if err := <-served; err == nil {
		t.Error("Serve ends without saying why")
	}
}

// FuzzNetstring: one of three answers; a part of a netstring is never taken
// for the whole.
func FuzzNetstring(f *testing.F) {
	f.Add([]byte("3:abc,"))
	f.Add([]byte("0:,x"))
	f.Add([]byte("99999999:"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text, n, err := ParseNetstring(b)
		if n == 0 {
			return
		}
		if err != nil || n > len(b) {
			t.Fatalf("%d of %d, %v", n, len(b), err)
		}
		if again := fmt.Sprintf("%d:%s,", len(text), text); again != string(b[:n]) {
			t.Fatalf("%q read, %q written", b[:n], again)
		}
		if _, n, err := ParseNetstring(b[:n-1]); n != 0 || err != nil {
			t.Fatalf("a part is taken for the whole: %d, %v", n, err)
		}
		if headers, err := ParseHeaders(text); err == nil && headers["SCGI"] != "1" {
			t.Fatal("no SCGI")
		}
	})
}
