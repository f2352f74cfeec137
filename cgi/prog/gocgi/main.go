// Gocgi is the sample programs in Go, for machines without a C compiler: it is
// echo, hello, send, mirror, constant or specweb by the name it is run under, and each
// answers as its namesake in C does, as a CGI program or, if its standard input
// is a listening socket, for as long as it lives, to FastCGI and SCGI.
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
	always    = "<html><head><title>Constant</title></head><body><p>" +
		"These are the same 162 bytes every time: they tell no process, count, date, path or address." +
		"</p></body></html>\n"
)

// An exchange is one request and where its reply goes.
type exchange struct {
	variables map[string]string
	body      io.Reader
	out       *bufio.Writer
}

// A program answers a request.
type program func(*exchange) error

func main() {
	name := filepath.Base(os.Args[0])
	answer, ok := map[string]program{"echo": echo, "hello": hello, "send": send, "mirror": mirror, "constant": constant, "specweb": specweb}[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "gocgi: run as %q, not as echo, hello, send, mirror, constant or specweb\n", name)
		os.Exit(2)
	}
	err := serve(answer)
	if err == errNoListener {
		err = respond(answer, environment(), os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "gocgi %s: %v\n", name, err)
		os.Exit(1)
	}
}

// respond has a program answer one request.
func respond(answer program, variables map[string]string, body io.Reader, out io.Writer) error {
	w := bufio.NewWriterSize(out, 64<<10)
	err := answer(&exchange{variables, body, w})
	if err == nil {
		err = w.Flush()
	}
	return err
}

// environment returns the variables of a CGI program.
func environment() map[string]string {
	all := map[string]string{}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		all[name] = value
	}
	return all
}

func hello(x *exchange) error {
	_, err := x.out.WriteString("Content-type: text/html\r\n\r\n" + page)
	return err
}

func constant(x *exchange) error {
	_, err := x.out.WriteString("Content-type: text/html\r\nContent-Length: 162\r\n\r\n" + always)
	return err
}

// known are the variables that a gateway sets; one that ends in an underscore
// stands for all that begin so.
var known = []string{
	"AUTH_TYPE", "CONTENT_", "DOCUMENT_ROOT", "GATEWAY_INTERFACE", "HTTP_",
	"PATH_INFO", "PATH_TRANSLATED", "QUERY_STRING", "REDIRECT_STATUS",
	"REMOTE_", "REQUEST_", "SCRIPT_", "SERVER_",
}

func echo(x *exchange) error {
	x.out.WriteString("Content-type: text/plain\r\n\r\n")
	var names []string
	for name := range x.variables {
		if slices.ContainsFunc(known, func(k string) bool {
			return name == k || k[len(k)-1] == '_' && strings.HasPrefix(name, k)
		}) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		x.out.WriteString(name + "=" + x.variables[name] + "\n")
	}
	if x.variables["REQUEST_METHOD"] != "POST" {
		return nil
	}
	x.out.WriteString("\n")
	length := x.bodyLength()
	n, _ := io.CopyN(x.out, x.body, length)
	if n < length {
		fmt.Fprintf(x.out, "\n[body ends %d bytes short]\n", length-n)
	}
	return nil
}

func (x *exchange) bodyLength() int64 {
	n, _ := strconv.ParseInt(x.variables["CONTENT_LENGTH"], 10, 64)
	return max(n, 0)
}

func send(x *exchange) error {
	left, ok := sizeAsked(x.variables["QUERY_STRING"])
	if !ok {
		x.out.WriteString("Status: 400 Bad Request\r\nContent-type: text/plain; charset=utf-8\r\n\r\n400 Bad Request\n")
		return nil
	}
	fmt.Fprintf(x.out, "Content-type: text/plain\r\nContent-Length: %d\r\n\r\n", left)
	pattern := strings.Repeat("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 2520)
	for left > 0 {
		n, err := x.out.WriteString(pattern[:min(left, len(pattern))])
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

func mirror(x *exchange) error {
	kind := x.variables["CONTENT_TYPE"]
	if kind == "" {
		kind = "application/octet-stream"
	}
	length := x.bodyLength()
	fmt.Fprintf(x.out, "Content-type: %s\r\nContent-Length: %d\r\n\r\n", kind, length)
	_, err := io.CopyN(x.out, x.body, length)
	return err
}
