package http1

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// maxFuzzed keeps inputs of quadratic cost away, and lets all limits be met.
const maxFuzzed = 20 << 10

// someCuts returns lengths at which to cut n bytes, in order.
func someCuts(n int, seed uint64) (cuts []int) {
	r := rand.New(rand.NewPCG(seed, 0))
	for range r.IntN(5) {
		cuts = append(cuts, r.IntN(n+1))
	}
	slices.Sort(cuts)
	return cuts
}

func FuzzRequest(f *testing.F) {
	for i, c := range requestCases {
		if len(c.in) < 1000 {
			f.Add([]byte(c.in), uint64(i))
		}
	}
	for _, head := range []string{wrkHead, abHead, curlHead, webHead} {
		f.Add([]byte(head+head), uint64(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		if len(b) > maxFuzzed {
			return
		}
		lim := &Limits{Line: 300, Head: 2000, Fields: 20}
		got := whole(b, lim)
		if slow := pieces(b, everyByte(b), lim); slow != got {
			t.Fatalf("byte by byte: %v\nin one go: %v", slow, got)
		}
		if cut := pieces(b, someCuts(len(b), seed), lim); cut != got {
			t.Fatalf("in pieces: %v\nin one go: %v", cut, got)
		}
		if got.n < 0 || got.n > len(b) || got.n > 0 && got.status != 0 {
			t.Fatalf("answer out of bounds: %v", got)
		}
		if got.n == 0 {
			return
		}
		if short := whole(b[:got.n], lim); short != got {
			t.Fatalf("without what follows: %v\nwith it: %v", short, got)
		}
		agreesWithStd(t, b[:got.n])
	})
}

// agreesWithStd fails unless net/http accepts the head b, which Parse has
// accepted, and reads the same out of it.
func agreesWithStd(t *testing.T, b []byte) {
	var r Request
	r.Parse(b, 0, new(Limits))
	within(t, "the method", r.Method, b)
	within(t, "the target", r.Target, b)
	within(t, "the host", r.Host, b)
	target := string(r.Target)
	// Site judges targets, and net/http judges Trailer fields.
	if _, err := url.ParseRequestURI(target); err != nil || string(r.Method) == http.MethodConnect || r.Fields.Get("Trailer") != nil {
		return
	}
	std, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(bytes.TrimLeft(b, "\r\n"))))
	switch {
	case err != nil:
		t.Fatalf("net/http refuses it: %v", err)
	case std.Method != string(r.Method) || std.RequestURI != target:
		t.Fatalf("net/http sees %s %s", std.Method, std.RequestURI)
	case strings.HasPrefix(target, "/") && std.Host != string(r.Host):
		t.Fatalf("net/http sees host %q, we %q", std.Host, r.Host)
	case std.ContentLength != r.Length:
		t.Fatalf("net/http sees length %d, we %d", std.ContentLength, r.Length)
	case std.Close == r.KeepAlive:
		t.Fatalf("net/http sees close %v, we keep-alive %v", std.Close, r.KeepAlive)
	}
}

func FuzzResponse(f *testing.F) {
	for i, c := range responseCases {
		if len(c.in) < 1000 {
			f.Add([]byte(c.in), c.head, uint64(i))
		}
	}
	f.Add([]byte(replyHead), false, uint64(1))
	f.Fuzz(func(t *testing.T, b []byte, head bool, seed uint64) {
		if len(b) > maxFuzzed {
			return
		}
		lim := &Limits{Line: 300, Head: 2000, Fields: 20}
		got := wholeReply(b, head, lim)
		if slow := piecesReply(b, everyByte(b), head, lim); slow != got {
			t.Fatalf("byte by byte: %v\nin one go: %v", slow, got)
		}
		if cut := piecesReply(b, someCuts(len(b), seed), head, lim); cut != got {
			t.Fatalf("in pieces: %v\nin one go: %v", cut, got)
		}
		if got.n < 0 || got.n > len(b) || got.n > 0 && got.err != nil {
			t.Fatalf("answer out of bounds: %v", got)
		}
		if got.n > 0 && !head {
			replyAgreesWithStd(t, b[:got.n])
		}
	})
}

// replyAgreesWithStd is agreesWithStd for a reply to a GET.
func replyAgreesWithStd(t *testing.T, b []byte) {
	var r Response
	r.Parse(b, false, new(Limits))
	if r.Fields.Get("Trailer") != nil {
		return
	}
	std, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(b)), nil)
	if err != nil && strings.Contains(err.Error(), "multiple Content-Length") {
		return // "5" and "05": equal to us (RFC 9110 section 8.6)
	}
	if err != nil {
		t.Fatalf("net/http refuses it: %v", err)
	}
	length := std.ContentLength
	if length < 0 && len(std.TransferEncoding) == 0 {
		length = UntilClose
	}
	if std.StatusCode != r.Status || std.Body != http.NoBody && length != r.Length || std.Body == http.NoBody && r.Length != 0 {
		t.Fatalf("net/http sees status %d, length %d; we %d, %d", std.StatusCode, length, r.Status, r.Length)
	}
}

func FuzzChunks(f *testing.F) {
	for i, c := range chunkCases {
		if len(c.in) < 1000 {
			f.Add([]byte(c.in), uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		if len(b) > maxFuzzed {
			return
		}
		cuts := someCuts(len(b), seed)
		got := decode(new(Chunks), b, nil)
		if slow := decode(new(Chunks), b, everyByte(b)); slow != got {
			t.Fatalf("byte by byte: %+v\nin one go: %+v", slow, got)
		}
		if cut := decode(new(Chunks), b, cuts); cut != got {
			t.Fatalf("in pieces: %+v\nin one go: %+v", cut, got)
		}
		if got.n > len(b) || got.done && got.err != nil || !got.done && got.err == nil && got.n != len(b) {
			t.Fatalf("out of bounds: %+v", got)
		}
		// net/http does not know the white space before an extension.
		if got.done && !bytes.Contains(b, []byte(" ;")) && !bytes.Contains(b, []byte("\t;")) {
			std, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(b)))
			// net/http has limits of its own ("too long", "too large", "too much").
			if err != nil && !strings.Contains(err.Error(), "too ") || err == nil && string(std) != got.data {
				t.Fatalf("net/http decodes %q, error %v; we %q", std, err, got.data)
			}
		}
		roundTrip(t, b, cuts)
	})
}

// roundTrip encodes b as chunks that end at cuts, and decodes them.
func roundTrip(t *testing.T, b []byte, cuts []int) {
	var body []byte
	from := 0
	for _, to := range append(cuts, len(b)) {
		body = AppendChunk(body, b[from:to])
		from = to
	}
	body = append(body, LastChunk...)
	if got := decode(new(Chunks), body, nil); got.data != string(b) || got.n != len(body) || !got.done {
		t.Fatalf("%q decodes to %+v", body, got)
	}
}
