// Gocgi is the four sample CGI programs in Go, for machines without a C
// compiler: it is echo, hello, send or mirror by the name it is run under, and
// each answers as its namesake in C does.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	usualSize = 10240
	mostSize  = 16 << 20
	page      = "<html><head><title>Hi</title></head><body><h1>Hello World</h1></body></html>\n"
)

func main() {
	programs := map[string]func(*bufio.Writer) error{"echo": echo, "hello": hello, "send": send, "mirror": mirror}
	name := filepath.Base(os.Args[0])
	program, ok := programs[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "gocgi: run as %q, not as echo, hello, send or mirror\n", name)
		os.Exit(2)
	}
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	err := program(out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "gocgi %s: %v\n", name, err)
		os.Exit(1)
	}
}

func hello(out *bufio.Writer) error {
	out.WriteString("Content-type: text/html\r\n\r\n" + page)
	return nil
}

// known are the variables that a gateway sets; one that ends in an underscore
// stands for all that begin so.
var known = []string{
	"AUTH_TYPE", "CONTENT_", "DOCUMENT_ROOT", "GATEWAY_INTERFACE", "HTTP_",
	"PATH_INFO", "PATH_TRANSLATED", "QUERY_STRING", "REDIRECT_STATUS",
	"REMOTE_", "REQUEST_", "SCRIPT_", "SERVER_",
}

func echo(out *bufio.Writer) error {
	out.WriteString("Content-type: text/plain\r\n\r\n")
	variables := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.ContainsFunc(known, func(k string) bool {
			return name == k || k[len(k)-1] == '_' && strings.HasPrefix(name, k)
		})
	})
	slices.SortFunc(variables, func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return strings.Compare(a, b)
	})
	for _, v := range variables {
		out.WriteString(v + "\n")
	}
	if os.Getenv("REQUEST_METHOD") != "POST" {
		return nil
	}
	out.WriteString("\n")
	length := bodyLength()
	if n, _ := io.CopyN(out, os.Stdin, length); n < length {
		fmt.Fprintf(out, "\n[body ends %d bytes short]\n", length-n)
	}
	return nil
}

func bodyLength() int64 {
	n, _ := strconv.ParseInt(os.Getenv("CONTENT_LENGTH"), 10, 64)
	return max(n, 0)
}

func send(out *bufio.Writer) error {
	left, ok := sizeAsked(os.Getenv("QUERY_STRING"))
	if !ok {
		out.WriteString("Status: 400 Bad Request\r\nContent-type: text/plain; charset=utf-8\r\n\r\n400 Bad Request\n")
		return nil
	}
	fmt.Fprintf(out, "Content-type: text/plain\r\nContent-Length: %d\r\n\r\n", left)
	pattern := strings.Repeat("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 2520)
	for left > 0 {
		n, err := out.WriteString(pattern[:min(left, len(pattern))])
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// sizeAsked returns the first size in a query.
func sizeAsked(query string) (int, bool) {
	for pair := range strings.SplitSeq(query, "&") {
		if text, ok := strings.CutPrefix(pair, "size="); ok {
			n, err := strconv.ParseUint(text, 10, 32)
			return int(n), err == nil && n <= mostSize
		}
	}
	return usualSize, true
}

func mirror(out *bufio.Writer) error {
	kind := os.Getenv("CONTENT_TYPE")
	if kind == "" {
		kind = "application/octet-stream"
	}
	length := bodyLength()
	fmt.Fprintf(out, "Content-type: %s\r\nContent-Length: %d\r\n\r\n", kind, length)
	_, err := io.CopyN(out, os.Stdin, length)
	return err
}
