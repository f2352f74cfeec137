package servertest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Reply is one response message as it stood on the wire.
type Reply struct {
	Minor  byte
	Status int
	Fields []Field
	Body   []byte
	Raw    []byte // head and body with its framing
	ByEnd  bool   // the end of the connection ended the body
}

// A Field is one header line.
type Field struct{ Name, Value string }

// Get returns the first value of a field, "" when there is none.
func (r *Reply) Get(name string) string {
	if all := r.All(name); len(all) > 0 {
		return all[0]
	}
	return ""
}

// All returns the values of the fields with this name, in order.
func (r *Reply) All(name string) []string {
	var values []string
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return values
}

var (
	statusLine = regexp.MustCompile(`^HTTP/1\.([01]) ([1-5][0-9][0-9]) [\t -~]*$`)
	fieldLine  = regexp.MustCompile("^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t -~]*)$")
	digits     = regexp.MustCompile(`^[0-9]+$`)
)

// readHead reads status line and header lines. Each must end in CRLF.
func readHead(in *bufio.Reader) (*Reply, error) {
	r := &Reply{}
	line, err := readLine(in, r)
	if err != nil {
		return r, err
	}
	m := statusLine.FindStringSubmatch(line)
	if m == nil {
		return r, fmt.Errorf("status line %q", line)
	}
	r.Minor = m[1][0] - '0'
	r.Status, _ = strconv.Atoi(m[2])
	for {
		if line, err = readLine(in, r); err != nil {
			return r, err
		}
		if line == "" {
			return r, nil
		}
		if m = fieldLine.FindStringSubmatch(line); m == nil {
			return r, fmt.Errorf("header line %q", line)
		}
		r.Fields = append(r.Fields, Field{Name: m[1], Value: strings.Trim(m[2], " \t")})
	}
}

// readLine reads a line, adds it to r.Raw and returns it without its CRLF.
func readLine(in *bufio.Reader, r *Reply) (string, error) {
	line, err := in.ReadBytes('\n')
	r.Raw = append(r.Raw, line...)
	switch {
	case err != nil:
		return "", err
	case !bytes.HasSuffix(line, []byte("\r\n")):
		return "", fmt.Errorf("line %q does not end in CRLF", line)
	}
	return string(line[:len(line)-2]), nil
}

// readReply reads one message: interim or final, the answer to method. It is
// strict: a field that may not be there is an error, as are two that
// contradict each other.
func readReply(in *bufio.Reader, method string) (*Reply, error) {
	r, err := readHead(in)
	if err != nil {
		return r, err
	}
	if err := r.framing(); err != nil {
		return r, err
	}
	if r.Status >= 200 {
		if err := r.dated(); err != nil {
			return r, err
		}
	}
	if method == http.MethodHead || bodyless(r.Status) {
		return r, r.second(method)
	}
	switch lengths := r.All("Content-Length"); {
	case r.Get("Transfer-Encoding") != "":
		err = r.readChunks(in)
	case len(lengths) > 0:
		var n int64
		if n, err = strconv.ParseInt(lengths[0], 10, 64); err == nil {
			err = r.readExactly(in, n)
		}
	default:
		r.ByEnd = true
		r.Body, err = io.ReadAll(in)
		r.Raw = append(r.Raw, r.Body...)
	}
	if err != nil {
		return r, err
	}
	return r, r.second(method)
}

func bodyless(status int) bool {
	return status < 200 || status == http.StatusNoContent || status == http.StatusNotModified
}

// framing checks the fields that say how long the message is (RFC 9112
// section 6).
func (r *Reply) framing() error {
	lengths, codings := r.All("Content-Length"), r.All("Transfer-Encoding")
	switch {
	case len(lengths) > 1 || len(codings) > 1 || len(lengths)+len(codings) > 1:
		return fmt.Errorf("field Content-Length %q with Transfer-Encoding %q", lengths, codings)
	case len(lengths) == 1 && !digits.MatchString(lengths[0]):
		return fmt.Errorf("field Content-Length %q", lengths[0])
	case len(codings) == 1 && codings[0] != "chunked":
		return fmt.Errorf("field Transfer-Encoding %q", codings[0])
	case len(codings) == 1 && r.Minor == 0:
		return fmt.Errorf("reply of HTTP/1.0 with Transfer-Encoding %q", codings[0])
	case bodyless(r.Status) && len(codings) > 0, (r.Status < 200 || r.Status == 204) && len(lengths) > 0:
		return fmt.Errorf("%d with Content-Length %q, Transfer-Encoding %q", r.Status, lengths, codings)
	}
	return nil
}

// dated checks the fields that every final reply has, each once.
func (r *Reply) dated() error {
	dates, servers := r.All("Date"), r.All("Server")
	if len(dates) != 1 || len(servers) != 1 {
		return fmt.Errorf("%d with Date %q, Server %q", r.Status, dates, servers)
	}
	date, err := time.Parse(http.TimeFormat, dates[0])
	if err != nil {
		return fmt.Errorf("field Date: %w", err)
	}
	if off := time.Since(date).Abs(); off > time.Minute {
		return fmt.Errorf("field Date %q is %v off", dates[0], off)
	}
	for _, name := range []string{"Content-Type", "Connection", "Last-Modified", "ETag", "Accept-Ranges", "Content-Range", "Location", "Allow"} {
		if all := r.All(name); len(all) > 1 {
			return fmt.Errorf("%s is there %d times: %q", name, len(all), all)
		}
	}
	return nil
}

func (r *Reply) readExactly(in *bufio.Reader, n int64) error {
	b := make([]byte, n)
	got, err := io.ReadFull(in, b)
	r.Raw = append(r.Raw, b[:got]...)
	r.Body = append(r.Body, b[:got]...)
	if err != nil {
		return fmt.Errorf("body ended after %d of %d bytes: %w", len(r.Body), n, err)
	}
	return nil
}

var chunkLine = regexp.MustCompile(`^([0-9a-fA-F]{1,8})$`)

// readChunks reads a chunked body. None of the servers has a reason to send
// extensions or trailers.
func (r *Reply) readChunks(in *bufio.Reader) error {
	for {
		line, err := readLine(in, r)
		if err != nil {
			return fmt.Errorf("chunked body ended after %d bytes: %w", len(r.Body), err)
		}
		if !chunkLine.MatchString(line) {
			return fmt.Errorf("chunk size %q", line)
		}
		size, _ := strconv.ParseInt(line, 16, 64)
		if size > 0 {
			if err := r.readExactly(in, size); err != nil {
				return err
			}
		}
		if line, err = readLine(in, r); err != nil {
			return fmt.Errorf("chunk of %d bytes: %w", size, err)
		}
		if line != "" {
			return fmt.Errorf("%q behind a chunk of %d bytes", line, size)
		}
		if size == 0 {
			return nil
		}
	}
}

// second lets net/http read the same bytes: both readers must agree.
func (r *Reply) second(method string) error {
	res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(r.Raw)), &http.Request{Method: method})
	if err != nil {
		return fmt.Errorf("net/http: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("net/http: read body: %w", err)
	}
	if res.StatusCode != r.Status || !bytes.Equal(body, r.Body) {
		return fmt.Errorf("net/http reads status %d and %d bytes of body, not %d and %d", res.StatusCode, len(body), r.Status, len(r.Body))
	}
	return nil
}
