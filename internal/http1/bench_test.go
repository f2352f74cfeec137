package http1

import (
	"strings"
	"testing"
	"time"
)

// Heads as the clients send them.
const (
	wrkHead  = "GET /100.html HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"
	abHead   = "GET /100.html HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: 127.0.0.1:8080\r\nUser-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n"
	curlHead = "POST /api/echo HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\nContent-Length: 5\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
	webHead  = "GET /silicon-surf/file1k.html?lang=en HTTP/1.1\r\n" +
		"Host: www.example.org\r\n" +
		"Connection: keep-alive\r\n" +
		"sec-ch-ua: \"Chromium\";v=\"130\", \"Google Chrome\";v=\"130\", \"Not?A_Brand\";v=\"99\"\r\n" +
		"sec-ch-ua-mobile: ?0\r\n" +
		"sec-ch-ua-platform: \"Linux\"\r\n" +
		"Upgrade-Insecure-Requests: 1\r\n" +
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36\r\n" +
		"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8\r\n" +
		"Sec-Fetch-Site: none\r\n" +
		"Sec-Fetch-Mode: navigate\r\n" +
		"Sec-Fetch-User: ?1\r\n" +
		"Sec-Fetch-Dest: document\r\n" +
		"Accept-Encoding: gzip, deflate, br, zstd\r\n" +
		"Accept-Language: en-GB,en;q=0.9,de;q=0.8\r\n" +
		"If-None-Match: \"1f0e3dad99908345\"\r\n" +
		"If-Modified-Since: Mon, 30 Nov 2026 18:00:00 GMT\r\n\r\n"
	replyHead = "HTTP/1.1 200 OK\r\nDate: Mon, 30 Nov 2026 18:00:00 GMT\r\nServer: weighstone/0.1\r\n" +
		"Content-Type: text/html\r\nContent-Length: 100\r\n\r\n"
)

func BenchmarkRequest(b *testing.B) {
	for _, c := range []struct{ name, head string }{
		{"wrk", wrkHead}, {"ab", abHead}, {"curl", curlHead}, {"browser", webHead},
	} {
		b.Run(c.name, func(b *testing.B) {
			var r Request
			var lim Limits
			head := []byte(c.head)
			b.SetBytes(int64(len(head)))
			b.ReportAllocs()
			for b.Loop() {
				if n, _ := r.Parse(head, 0, &lim); n != len(head) {
					b.Fatal(n)
				}
			}
		})
	}
}

// BenchmarkDribble is a head that comes byte by byte, per byte.
func BenchmarkDribble(b *testing.B) {
	for _, c := range []struct{ name, head string }{
		{"browser", webHead},
		{"long line", get + host + "X: " + strings.Repeat("a", 16000) + "\r\n\r\n"},
		{"short lines", get + host + strings.Repeat("X: y\r\n", 127) + "\r\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			var r Request
			var lim Limits
			head := []byte(c.head)
			size := 0
			for b.Loop() {
				r.Parse(head[:size+1], size, &lim)
				size = (size + 1) % len(head)
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	var r Request
	if n, _ := r.Parse([]byte(webHead), 0, &Limits{}); n == 0 {
		b.Fatal("bad head")
	}
	for _, name := range []string{"Expect", "Range", "If-None-Match"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r.Fields.Get(name)
			}
		})
	}
}

func BenchmarkResponse(b *testing.B) {
	var r Response
	var lim Limits
	head := []byte(replyHead)
	b.SetBytes(int64(len(head)))
	for b.Loop() {
		if n, _ := r.Parse(head, false, &lim); n != len(head) {
			b.Fatal(n)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	var clock Clock
	now := time.Now()
	dst := make([]byte, 0, 512)
	for b.Loop() {
		dst = AppendStatusLine(dst[:0], 1, 200)
		dst = append(append(append(dst, "Date: "...), clock.Date(now)...), "\r\n"...)
		dst = AppendField(dst, "Server", "weighstone/0.1")
		dst = AppendField(dst, "Content-Type", "text/html")
		dst = AppendFieldInt(dst, "Content-Length", 100)
		dst = append(dst, "\r\n"...)
	}
}

func BenchmarkChunks(b *testing.B) {
	var body []byte
	for range 16 {
		body = AppendChunk(body, make([]byte, 4096))
	}
	body = append(body, LastChunk...)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		var c Chunks
		rest := body
		for done := false; !done; {
			_, n, end, err := c.Next(rest)
			if err != nil {
				b.Fatal(err)
			}
			rest, done = rest[n:], end
		}
	}
}
