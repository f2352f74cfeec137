package http1

import (
	"strings"
	"testing"
)

const (
	get  = "GET / HTTP/1.1\r\n"
	host = "Host: a\r\n"
	post = "POST / HTTP/1.1\r\nHost: a\r\n"
	end  = "\r\n"
)

// all is the n of a case whose whole input is one head.
const all = -1

// requestCases are bytes and what becomes of them. The RFC sections are those
// of RFC 9112 unless another is named.
var requestCases = []struct {
	name   string
	in     string
	n      int // all: every byte
	status int
	head   string
}{
	// Section 3: the request line.
	{"plain", get + host + end, all, 0, "GET / 1.1 host=a length=0 keep [Host=a]"},
	{"wrk", wrkHead, all, 0, "GET /100.html 1.1 host=127.0.0.1:8080 length=0 keep [Host=127.0.0.1:8080]"},
	{"nothing", "", 0, 0, ""},
	{"cut in the method", "GE", 0, 0, ""},
	{"cut in the target", "GET /abc", 0, 0, ""},
	{"cut in the version", "GET / HTTP/1.", 0, 0, ""},
	{"cut in the line end", "GET / HTTP/1.1\r", 0, 0, ""},
	{"cut in a name", get + "Ho", 0, 0, ""},
	{"cut in a value", get + "Host: a", 0, 0, ""},
	{"cut before the end", get + host + "\r", 0, 0, ""},
	{"second request untouched", get + host + end + "POST", len(get + host + end), 0, "GET / 1.1 host=a length=0 keep [Host=a]"},
	{"second line bad, first head good", get + host + end + "\x00", len(get + host + end), 0, "GET / 1.1 host=a length=0 keep [Host=a]"},
	{"http/1.0 without host", "GET / HTTP/1.0\r\n\r\n", all, 0, "GET / 1.0 host= length=0"},
	{"one empty line first", end + get + host + end, all, 0, "GET / 1.1 host=a length=0 keep [Host=a]"},
	{"eight empty lines first", strings.Repeat(end, 8) + get + host + end, all, 0, "GET / 1.1 host=a length=0 keep [Host=a]"},
	{"nine empty lines first", strings.Repeat(end, 9) + get + host + end, 0, 400, ""},
	{"ten thousand empty lines", strings.Repeat(end, 10000), 0, 400, ""},
	{"only an empty line", end, 0, 0, ""},
	{"half an empty line", "\r", 0, 0, ""},
	{"bare LF first", "\n" + get + host + end, 0, 400, ""},
	{"bare CR first", "\rGET / HTTP/1.1\r\n", 0, 400, ""},
	{"bare LF everywhere", "GET / HTTP/1.1\nHost: a\n\n", 0, 400, ""},
	{"bare CR for a line end", "GET / HTTP/1.1\rX: y\r\n" + host + end, 0, 400, ""},
	{"method in lower case", "get / HTTP/1.1\r\n" + host + end, all, 0, "get / 1.1 host=a length=0 keep [Host=a]"},
	{"unknown method", "FROBNICATE / HTTP/1.1\r\n" + host + end, all, 0, "FROBNICATE / 1.1 host=a length=0 keep [Host=a]"},
	{"method with every kind of token byte", "!#$%&'*+-.^_`|~09 / HTTP/1.1\r\n" + host + end, all, 0, "!#$%&'*+-.^_`|~09 / 1.1 host=a length=0 keep [Host=a]"},
	{"method that is no token", "G(T / HTTP/1.1\r\n" + host + end, 0, 400, ""},
	{"two words", "GET /\r\n" + host + end, 0, 400, ""},
	{"one word", "GET\r\n" + host + end, 0, 400, ""},
	{"four words", "GET / x HTTP/1.1\r\n" + host + end, 0, 400, ""},
	{"http/2.0", "GET / HTTP/2.0\r\n" + host + end, 0, 505, ""},
	{"http/0.9", "GET / HTTP/0.9\r\n" + host + end, 0, 505, ""},
	{"http/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0, 505, ""},
	{"http/1.2 is 1.1", "GET / HTTP/1.2\r\n" + host + end, all, 0, "GET / 1.1 host=a length=0 keep [Host=a]"},
	{"http/1.9 is 1.1", "GET / HTTP/1.9\r\n" + host + end, all, 0, "GET / 1.1 host=a length=0 keep [Host=a]"},
	{"http/1.10", "GET / HTTP/1.10\r\n" + host + end, 0, 400, ""},
	{"http/01.1", "GET / HTTP/01.1\r\n" + host + end, 0, 400, ""},
	{"http/1", "GET / HTTP/1\r\n" + host + end, 0, 400, ""},
	{"http/1,1", "GET / HTTP/1,1\r\n" + host + end, 0, 400, ""},
	{"version in lower case", "GET / http/1.1\r\n" + host + end, 0, 400, ""},
	{"xttp", "GET / XTTP/1.1\r\n" + host + end, 0, 400, ""},
	{"space after the version", "GET / HTTP/1.1 \r\n" + host + end, 0, 400, ""},
	{"two spaces before the target", "GET  / HTTP/1.1\r\n" + host + end, 0, 400, ""},
	{"two spaces before the version", "GET /  HTTP/1.1\r\n" + host + end, 0, 400, ""},
	{"tabs for spaces", "GET\t/\tHTTP/1.1\r\n" + host + end, 0, 400, ""},
	{"space before the method", " GET / HTTP/1.1\r\n" + host + end, 0, 400, ""},
	{"empty target", "GET  HTTP/1.1\r\n" + host + end, 0, 400, ""},
	{"any target without spaces", "GET *#\xc3\xa9 HTTP/1.1\r\n" + host + end, all, 0, "GET *#\xc3\xa9 1.1 host=a length=0 keep [Host=a]"},
	{"NUL in the target", "GET /\x00a HTTP/1.1\r\n" + host + end, 0, 400, ""},
	{"control in the target", "GET /aaaaaaaaaaaa\x1fa HTTP/1.1\r\n" + host + end, 0, 400, ""},
	{"DEL in the target", "GET /aaaaaaaaaaaa\x7fa HTTP/1.1\r\n" + host + end, 0, 400, ""},
	{"TLS hello", "\x16\x03\x01\x00\xc8", 0, 400, ""},
	{"first line bad, no second", "SSH-2.0-OpenSSH_9.6\r\n", 0, 400, ""},
	{"first line bad but unfinished", "SSH(2.0", 0, 0, ""},
	{"header line bad, no end in sight", get + "X A: b\r\n", 0, 400, ""},
	{"header line bad but unfinished", get + "X A: b", 0, 0, ""},
	{"target of 8000 bytes", "GET /" + strings.Repeat("a", 7999) + " HTTP/1.1\r\n" + host + end, all, 0,
		"GET /" + strings.Repeat("a", 7999) + " 1.1 host=a length=0 keep [Host=a]"},
	{"longest line", "GET /" + strings.Repeat("a", 8192-14) + " HTTP/1.1\r\n" + host + end, all, 0,
		"GET /" + strings.Repeat("a", 8192-14) + " 1.1 host=a length=0 keep [Host=a]"},
	{"line one byte too long", "GET /" + strings.Repeat("a", 8192-13) + " HTTP/1.1\r\n" + host + end, 0, 414, ""},
	{"line too long and unfinished", "GET /" + strings.Repeat("a", 64<<10), 0, 414, ""},
	{"line too long, bad in its middle", "GET /" + strings.Repeat("a", 5000) + "\x00" + strings.Repeat("a", 5000) + "\r\n", 0, 414, ""},
	{"method of 8 KiB", strings.Repeat("M", 8<<10) + " / HTTP/1.1\r\n" + host + end, 0, 414, ""},

	// Section 3.2: Host.
	{"host missing", get + end, 0, 400, ""},
	{"host twice", get + host + host + end, 0, 400, ""},
	{"two hosts in http/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 0, 400, ""},
	{"host with a space", get + "Host: a b\r\n\r\n", 0, 400, ""},
	{"host with a slash", get + "Host: a/b\r\n\r\n", 0, 400, ""},
	{"host with user information", get + "Host: u@a\r\n\r\n", 0, 400, ""},
	{"host list", get + "Host: a, b\r\n\r\n", 0, 400, ""},
	{"host with a bad port", get + "Host: a:b\r\n\r\n", 0, 400, ""},
	{"host empty", get + "Host:\r\n\r\n", all, 0, "GET / 1.1 host= length=0 keep [Host=]"},
	{"host with port", get + "Host: [::1]:8080\r\n\r\n", all, 0, "GET / 1.1 host=[::1]:8080 length=0 keep [Host=[::1]:8080]"},

	// Section 5: header lines.
	{"names in any case", "POST / HTTP/1.1\r\nhOsT: a\r\ncOnTeNt-LeNgTh: 5\r\n\r\n", all, 0, "POST / 1.1 host=a length=5 keep [hOsT=a] [cOnTeNt-LeNgTh=5]"},
	{"white space around a value", get + host + "X:  \t a b \t \r\n\r\n", all, 0, "GET / 1.1 host=a length=0 keep [Host=a] [X=a b]"},
	{"no white space", get + "Host:a\r\n\r\n", all, 0, "GET / 1.1 host=a length=0 keep [Host=a]"},
	{"TAB in a value", get + host + "X: a\tb\r\n\r\n", all, 0, "GET / 1.1 host=a length=0 keep [Host=a] [X=a\tb]"},
	{"value empty", get + host + "X:\r\n\r\n", all, 0, "GET / 1.1 host=a length=0 keep [Host=a] [X=]"},
	{"value of spaces", get + host + "X: \t \r\n\r\n", all, 0, "GET / 1.1 host=a length=0 keep [Host=a] [X=]"},
	{"value with a colon", get + host + "X:: y:\r\n\r\n", all, 0, "GET / 1.1 host=a length=0 keep [Host=a] [X=: y:]"},
	{"value beyond ASCII", get + host + "X: caf\xe9 na\xc3\xafve\r\n\r\n", all, 0, "GET / 1.1 host=a length=0 keep [Host=a] [X=caf\xe9 na\xc3\xafve]"},
	{"space before the colon", get + host + "X : b\r\n\r\n", 0, 400, ""},
	{"TAB before the colon", get + host + "X\t: b\r\n\r\n", 0, 400, ""},
	{"space before a colon that frames", post + "Content-Length : 5\r\n\r\n", 0, 400, ""},
	{"no colon", get + host + "novalue\r\n\r\n", 0, 400, ""},
	{"empty name", get + host + ": v\r\n\r\n", 0, 400, ""},
	{"control in a name", get + host + "X\x01A: b\r\n\r\n", 0, 400, ""},
	{"NUL in a name", get + host + "X\x00A: b\r\n\r\n", 0, 400, ""},
	{"space in a name", get + host + "X A: b\r\n\r\n", 0, 400, ""},
	{"parenthesis in a name", get + host + "X(A): b\r\n\r\n", 0, 400, ""},
	{"name beyond ASCII", get + host + "X\xe9A: b\r\n\r\n", 0, 400, ""},
	{"NUL in a value", get + host + "X: a\x00b\r\n\r\n", 0, 400, ""},
	{"CR in a value", get + host + "X: a\rb\r\n\r\n", 0, 400, ""},
	{"CR CR LF", get + host + "X: a\r\r\n\r\n", 0, 400, ""},
	{"control in a value", get + host + "X: a\x01b\r\n\r\n", 0, 400, ""},
	{"DEL in a value", get + host + "X: a\x7fb\r\n\r\n", 0, 400, ""},
	{"vertical TAB in a value", get + host + "X: \x0bb\r\n\r\n", 0, 400, ""},
	{"folded line", get + host + "X: a\r\n b\r\n\r\n", 0, 400, ""},
	{"folded transfer-encoding", post + "X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello", 0, 400, ""},
	{"white space before the first header line", get + " X: b\r\n" + host + end, 0, 400, ""},
	{"header line ended by LF", get + "X: b\n" + host + end, 0, 400, ""},
	{"value ended by LF and no more", get + "X:\n", 0, 400, ""},
	{"head ended by LF", get + host + "\n", 0, 400, ""},
	{"head ended by CR", get + host + "\rX: y\r\n\r\n", 0, 400, ""},
	{"as many lines as allowed", get + host + strings.Repeat("X: v\r\n", 127) + end, all, 0,
		"GET / 1.1 host=a length=0 keep [Host=a]" + strings.Repeat(" [X=v]", 127)},
	{"a line too many", get + host + strings.Repeat("X: v\r\n", 128) + end, 0, 431, ""},
	{"a line too many, and bad", get + host + strings.Repeat("X: v\r\n", 127) + "X y\r\n" + end, 0, 431, ""},
	{"five thousand lines", get + host + strings.Repeat("X: v\r\n", 5000) + end, 0, 431, ""},
	{"value of 6000 bytes", get + host + "X: " + strings.Repeat("a", 6000) + "\r\n\r\n", all, 0,
		"GET / 1.1 host=a length=0 keep [Host=a] [X=" + strings.Repeat("a", 6000) + "]"},
	{"largest head", get + host + "X: " + strings.Repeat("a", 16384-len(get+host+"X: \r\n\r\n")) + "\r\n\r\n", all, 0,
		"GET / 1.1 host=a length=0 keep [Host=a] [X=" + strings.Repeat("a", 16384-len(get+host+"X: \r\n\r\n")) + "]"},
	{"head one byte too large", get + host + "X: " + strings.Repeat("a", 16385-len(get+host+"X: \r\n\r\n")) + "\r\n\r\n", 0, 431, ""},
	{"value of 64 KiB", get + host + "X: " + strings.Repeat("a", 64<<10) + "\r\n\r\n", 0, 431, ""},
	{"name of 64 KiB", get + host + strings.Repeat("a", 64<<10) + ": b\r\n\r\n", 0, 431, ""},
	{"head too large, bad at its end", get + host + strings.Repeat("X: "+strings.Repeat("a", 995)+"\r\n", 20) + "X y\r\n", 0, 431, ""},

	// Section 6.2: Content-Length.
	{"length", post + "Content-Length: 5\r\n\r\n", all, 0, "POST / 1.1 host=a length=5 keep [Host=a] [Content-Length=5]"},
	{"length of a GET", get + host + "Content-Length: 5\r\n\r\n", all, 0, "GET / 1.1 host=a length=5 keep [Host=a] [Content-Length=5]"},
	{"length 0", post + "Content-Length: 0\r\n\r\n", all, 0, "POST / 1.1 host=a length=0 keep [Host=a] [Content-Length=0]"},
	{"leading zeros", post + "Content-Length: 0005\r\n\r\n", all, 0, "POST / 1.1 host=a length=5 keep [Host=a] [Content-Length=0005]"},
	{"largest length", post + "Content-Length: 9223372036854775807\r\n\r\n", all, 0,
		"POST / 1.1 host=a length=9223372036854775807 keep [Host=a] [Content-Length=9223372036854775807]"},
	{"same length twice", post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", 0, 400, ""},
	{"two lengths", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", 0, 400, ""},
	{"list of same lengths", post + "Content-Length: 5, 5\r\n\r\n", 0, 400, ""},
	{"list of lengths", post + "Content-Length: 5, 6\r\n\r\n", 0, 400, ""},
	{"negative length", post + "Content-Length: -5\r\n\r\n", 0, 400, ""},
	{"length with a plus", post + "Content-Length: +5\r\n\r\n", 0, 400, ""},
	{"hexadecimal length", post + "Content-Length: 0x5\r\n\r\n", 0, 400, ""},
	{"fractional length", post + "Content-Length: 5.0\r\n\r\n", 0, 400, ""},
	{"length and letters", post + "Content-Length: 5abc\r\n\r\n", 0, 400, ""},
	{"length with a space", post + "Content-Length: 1 5\r\n\r\n", 0, 400, ""},
	{"empty length", post + "Content-Length:\r\n\r\n", 0, 400, ""},
	{"length in words", post + "Content-Length: five\r\n\r\n", 0, 400, ""},
	{"length of 2^64+5", post + "Content-Length: 18446744073709551621\r\n\r\n", 0, 400, ""},
	{"length of 2^63", post + "Content-Length: 9223372036854775808\r\n\r\n", 0, 400, ""},
	{"length of 30 digits", post + "Content-Length: " + strings.Repeat("9", 30) + "\r\n\r\n", 0, 400, ""},

	// Section 6.1: Transfer-Encoding.
	{"chunked", post + "Transfer-Encoding: chunked\r\n\r\n", all, 0, "POST / 1.1 host=a length=-1 keep [Host=a] [Transfer-Encoding=chunked]"},
	{"chunked in any case", post + "Transfer-Encoding: \t ChUnKeD \t\r\n\r\n", all, 0, "POST / 1.1 host=a length=-1 keep [Host=a] [Transfer-Encoding=ChUnKeD]"},
	{"unknown coding", post + "Transfer-Encoding: frob\r\n\r\n", 0, 501, ""},
	{"unknown coding, then chunked", post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 0, 501, ""},
	{"unknown coding, then chunked on a line of its own", post + "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n", 0, 501, ""},
	{"chunked is not last", post + "Transfer-Encoding: chunked, gzip\r\n\r\n", 0, 400, ""},
	{"identity", post + "Transfer-Encoding: identity\r\n\r\n", 0, 501, ""},
	{"chunked twice", post + "Transfer-Encoding: chunked, chunked\r\n\r\n", 0, 400, ""},
	{"chunked on two lines", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 0, 400, ""},
	{"chunked, then identity", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", 0, 400, ""},
	{"vertical TAB before chunked", post + "Transfer-Encoding: \x0bchunked\r\n\r\n", 0, 400, ""},
	{"quoted chunked", post + "Transfer-Encoding: \"chunked\"\r\n\r\n", 0, 400, ""},
	{"chunked with a parameter", post + "Transfer-Encoding: chunked;q=1\r\n\r\n", 0, 400, ""},
	{"xchunked", post + "Transfer-Encoding: xchunked\r\n\r\n", 0, 501, ""},
	{"chunkedx", post + "Transfer-Encoding: chunkedx\r\n\r\n", 0, 501, ""},
	{"empty coding", post + "Transfer-Encoding:\r\n\r\n", 0, 400, ""},
	{"empty element", post + "Transfer-Encoding: chunked,\r\n\r\n", 0, 400, ""},
	{"coding and length", post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", 0, 400, ""},
	{"length and coding", post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n", 0, 400, ""},
	{"coding in http/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 0, 400, ""},

	// Section 9.3: persistence.
	{"close", get + host + "Connection: close\r\n\r\n", all, 0, "GET / 1.1 host=a length=0 [Host=a] [Connection=close]"},
	{"close in a list", get + host + "Connection: foo,\t CLOSE , bar\r\n\r\n", all, 0, "GET / 1.1 host=a length=0 [Host=a] [Connection=foo,\t CLOSE , bar]"},
	{"close on a second line", get + host + "Connection: keep-alive\r\nConnection: close\r\n\r\n", all, 0,
		"GET / 1.1 host=a length=0 [Host=a] [Connection=keep-alive] [Connection=close]"},
	{"junk in connection", get + host + "Connection: ,, TE,,foo ,\r\n\r\n", all, 0, "GET / 1.1 host=a length=0 keep [Host=a] [Connection=,, TE,,foo ,]"},
	{"part of a word", get + host + "Connection: closed\r\n\r\n", all, 0, "GET / 1.1 host=a length=0 keep [Host=a] [Connection=closed]"},
	{"keep-alive in http/1.0", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", all, 0, "GET / 1.0 host= length=0 keep [Connection=Keep-Alive]"},
	{"both in http/1.0", "GET / HTTP/1.0\r\nConnection: close, keep-alive\r\n\r\n", all, 0, "GET / 1.0 host= length=0 [Connection=close, keep-alive]"},

	// RFC 9110 section 10.1.1: Expect.
	{"expect", post + "Content-Length: 5\r\nExpect: 100-Continue\r\n\r\n", all, 0,
		"POST / 1.1 host=a length=5 keep expect [Host=a] [Content-Length=5] [Expect=100-Continue]"},
	{"expect without a body", get + host + "Expect: 100-continue\r\n\r\n", all, 0, "GET / 1.1 host=a length=0 keep [Host=a] [Expect=100-continue]"},
	{"expect in http/1.0", "POST / HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n", all, 0,
		"POST / 1.0 host= length=5 [Content-Length=5] [Expect=100-continue]"},
	{"unknown expectation", post + "Content-Length: 5\r\nExpect: more\r\n\r\n", all, 0,
		"POST / 1.1 host=a length=5 keep [Host=a] [Content-Length=5] [Expect=more]"},
}

func TestRequest(t *testing.T) {
	for _, c := range requestCases {
		t.Run(c.name, func(t *testing.T) {
			b := []byte(c.in)
			want := answer{c.n, c.status, c.head}
			if c.n == all {
				want.n = len(b)
			}
			lim := new(Limits)
			if got := whole(b, lim); got != want {
				t.Errorf("in one go: %v\nwant %v", got, want)
			}
			if got := pieces(b, everyByte(b), lim); got != want {
				t.Errorf("byte by byte: %v\nwant %v", got, want)
			}
		})
	}
}

// A head is judged alike whatever follows it, and so is what follows.
func TestRequestPipeline(t *testing.T) {
	lim := new(Limits)
	for _, first := range requestCases {
		if first.n != all {
			continue
		}
		for _, second := range requestCases {
			if len(second.in) > 1000 {
				continue
			}
			b := []byte(first.in + second.in)
			if got := whole(b, lim); got.n != len(first.in) || got.head != first.head {
				t.Fatalf("%s before %s: %v", first.name, second.name, got)
			}
			if got := whole(b[len(first.in):], lim); got.status != second.status || got.head != second.head {
				t.Fatalf("%s after %s: %v", second.name, first.name, got)
			}
		}
	}
}

func TestRequestLimits(t *testing.T) {
	for _, c := range []struct {
		name      string
		lim       Limits
		in        string
		n, status int
	}{
		{"line fits", Limits{Line: 14}, get + host + end, 27, 0},
		{"line too long", Limits{Line: 13}, get + host + end, 0, 414},
		{"empty lines count in the head only", Limits{Line: 14, Head: 29}, end + get + host + end, 29, 0},
		{"empty lines count in the head", Limits{Head: 28}, end + get + host + end, 0, 431},
		{"head fits", Limits{Head: 27}, get + host + end, 27, 0},
		{"head too large", Limits{Head: 26}, get + host + end, 0, 431},
		{"head smaller than the line", Limits{Head: 15}, get + host + end, 0, 414},
		{"head is the line", Limits{Head: 16}, get + host + end, 0, 431},
		{"head smaller than the line, unfinished", Limits{Head: 10}, "GET / HTT", 0, 0},
		{"head of the size of an unfinished line", Limits{Head: 10}, "GET / HTTP", 0, 414},
		{"head smaller than the empty lines", Limits{Head: 3}, end + end + get + host + end, 0, 414},
		{"one line fits", Limits{Fields: 1}, get + host + end, 27, 0},
		{"second line does not", Limits{Fields: 1}, get + host + "X: y\r\n" + end, 0, 431},
		{"second line unfinished", Limits{Fields: 1}, get + host + "X: y", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := []byte(c.in)
			if got := whole(b, &c.lim); got.n != c.n || got.status != c.status {
				t.Errorf("in one go: %v, want n %d, status %d", got, c.n, c.status)
			}
			if got := pieces(b, everyByte(b), &c.lim); got.n != c.n || got.status != c.status {
				t.Errorf("byte by byte: %v, want n %d, status %d", got, c.n, c.status)
			}
		})
	}
}

// A request is used again: nothing of an earlier head may show in a later one.
func TestRequestReuse(t *testing.T) {
	lim := new(Limits)
	for _, first := range requestCases {
		var r Request
		r.Parse([]byte(first.in), 0, lim)
		for _, second := range requestCases {
			if second.n != all {
				continue
			}
			n, _ := r.Parse([]byte(second.in), 0, lim)
			if got := describe(&r, n); got != second.head {
				t.Fatalf("%s after %s: %s", second.name, first.name, got)
			}
		}
	}
}
