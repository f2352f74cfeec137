package servertest

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A Case is a raw request, or several, and what is to come back.
type Case struct {
	Name string // what is special, with the source where it is not obvious
	Send string

	// Want is a reply's status and what else matters of it, divided by " | ";
	// then, behind " / ", the next reply; last, how the connection stands:
	// "open", "close", or "any" of the two:
	//
	//	200 | Connection: keep-alive | -Transfer-Encoding | +Date | #100 / open
	//
	// "Name: value" is a header line with exactly this value, "!Name: value" none
	// with this one, "+Name" one with any, "-Name" none at all. "#n" is a body's length, "@path" the contents of that
	// file of the root, "=text" a body's text. "head" says that HEAD was asked,
	// "final" that no 100 may come first. A status may be a choice, as in
	// "200,206".
	Want string

	// Except has another expectation for a server whose library does not
	// allow for Want, with the name of that server.
	Except map[string]string
}

// A Suite runs cases on one server.
type Suite struct {
	Addr   string
	Engine Engine
	Root   string // where the files of "@path" are
	Plain  string // the path of a file that exists, for the requests around a case
}

// Run runs one case in each way of sending it.
func (s *Suite) Run(t *testing.T, c Case) {
	want := c.Want
	if other, ok := c.Except[s.Engine.Name]; ok {
		want = other
	}
	replies, end, err := parseWant(want)
	if err != nil {
		t.Fatalf("case %s: %v", c.Name, err)
	}
	plain := wantReply{status: []int{200}, items: []string{"@" + s.Plain}}
	before := append([]wantReply{plain}, replies...)
	after := replies
	if end == open {
		after = append(append([]wantReply{}, replies...), plain)
	}
	get := Get(s.Plain)
	t.Run("whole", func(t *testing.T) {
		s.talk(t, func(k *Client) { k.Send(c.Send) }, replies, end)
	})
	t.Run("bytewise", func(t *testing.T) {
		s.talk(t, func(k *Client) { k.Dribble(c.Send) }, replies, end)
	})
	t.Run("behind", func(t *testing.T) {
		s.talk(t, func(k *Client) { k.Send(get + c.Send) }, before, end)
	})
	t.Run("before", func(t *testing.T) {
		s.talk(t, func(k *Client) { k.Send(c.Send + get) }, after, end)
	})
	t.Run("halfclosed", func(t *testing.T) {
		s.talk(t, func(k *Client) { k.Send(c.Send); k.CloseWrite() }, replies, closed)
	})
}

// How a connection stands behind the last reply of a case.
const (
	open   = "open"
	closed = "close"
	either = "any"
)

// talk sends, receives what is wanted and sees how the connection stands.
func (s *Suite) talk(t *testing.T, send func(*Client), want []wantReply, end string) {
	t.Helper()
	if s.Engine.Alone {
		want, end = onlyFirst(want), closed
	}
	c := s.Dial(t)
	send(c)
	for i, w := range want {
		r, err := c.Receive(w.method())
		if err == nil && r.Status == http.StatusContinue && !w.final {
			r, err = c.Receive(w.method())
		}
		if err != nil {
			t.Fatalf("reply %d: %v; received %.300q", i+1, err, r.Raw)
		}
		if err := s.check(r, w); err != nil {
			t.Fatalf("reply %d: %v; received %.300q", i+1, err, r.Raw)
		}
	}
	switch end {
	case open:
		c.Get(s.Plain, 200)
	case closed:
		c.WantEnd(Closed)
	case either:
		c.Send(Get(s.Plain))
		if c.Ending() == Babbling {
			c.Want(http.MethodGet, 200)
		}
	}
}

// Dial connects to the server.
func (s *Suite) Dial(t testing.TB) *Client {
	t.Helper()
	return DialEngine(t, s.Engine, s.Addr)
}

// onlyFirst is what a server sends that closes behind its first reply.
func onlyFirst(want []wantReply) []wantReply {
	first := want[0]
	items := []string{"Connection: close"}
	for _, item := range first.items {
		if !strings.Contains(item, "Connection") {
			items = append(items, item)
		}
	}
	first.items = items
	return []wantReply{first}
}

// A wantReply is the expectation of one reply.
type wantReply struct {
	status []int
	head   bool
	final  bool
	items  []string
}

func (w *wantReply) method() string {
	if w.head {
		return http.MethodHead
	}
	return http.MethodGet
}

// parseWant reads the text of [Case.Want].
func parseWant(text string) (replies []wantReply, end string, err error) {
	parts := strings.Split(text, " / ")
	end = parts[len(parts)-1]
	if end != open && end != closed && end != either {
		return nil, "", fmt.Errorf("expectation %q does not say how the connection stands", text)
	}
	for _, part := range parts[:len(parts)-1] {
		items := strings.Split(part, " | ")
		w := wantReply{}
		for _, code := range strings.Split(items[0], ",") {
			status, err := strconv.Atoi(code)
			if err != nil {
				return nil, "", fmt.Errorf("expectation %q: %w", text, err)
			}
			w.status = append(w.status, status)
		}
		for _, item := range items[1:] {
			switch item {
			case "head":
				w.head = true
			case "final":
				w.final = true
			default:
				w.items = append(w.items, item)
			}
		}
		replies = append(replies, w)
	}
	return replies, end, nil
}

// check compares a reply with what is wanted of it.
func (s *Suite) check(r *Reply, w wantReply) error {
	ok := false
	for _, status := range w.status {
		ok = ok || r.Status == status
	}
	if !ok {
		return fmt.Errorf("status %d, want %v", r.Status, w.status)
	}
	for _, item := range w.items {
		if err := s.checkItem(r, item); err != nil {
			return err
		}
	}
	return nil
}

func (s *Suite) checkItem(r *Reply, item string) error {
	rest := item[1:]
	switch item[0] {
	case '+':
		if len(r.All(rest)) == 0 {
			return fmt.Errorf("no field %s", rest)
		}
	case '-':
		if all := r.All(rest); len(all) > 0 {
			return fmt.Errorf("%s: %q, want none", rest, all)
		}
	case '#':
		if rest == "" {
			rest = "0"
		}
		if n, err := strconv.Atoi(rest); err != nil || len(r.Body) != n {
			return fmt.Errorf("%d bytes of body, want %s", len(r.Body), rest)
		}
	case '=':
		if string(r.Body) != rest {
			return fmt.Errorf("body %.100q, want %.100q", r.Body, rest)
		}
	case '@':
		b, err := s.file(rest)
		if err != nil {
			return err
		}
		if string(r.Body) != b {
			return fmt.Errorf("%d bytes of body, not the %d of %s", len(r.Body), len(b), rest)
		}
	case '!':
		if name, value, _ := strings.Cut(rest, ": "); r.Get(name) == value {
			return fmt.Errorf("%s: %q", name, value)
		}
	default:
		name, value, ok := strings.Cut(item, ": ")
		if !ok {
			return fmt.Errorf("unknown expectation %q", item)
		}
		if got := r.Get(name); got != value {
			return fmt.Errorf("%s: %q, want %q", name, got, value)
		}
	}
	return nil
}

// file reads a file below the root.
func (s *Suite) file(path string) (string, error) {
	f, err := os.Open(filepath.Join(s.Root, path))
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}
