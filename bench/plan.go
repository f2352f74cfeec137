package bench

import (
	"crypto/sha256"

	"github.com/weighstone/weighstone"
)

// A Plan says what is asked. It is made once, only read afterwards, and shared
// by all workers.
type Plan interface {
	// Classes are the kinds of request the plan makes, at least one and at
	// most [MaxClasses]. An [Ask] and its [Sample] name theirs by index.
	Classes() []Class
	// Script returns the sequence of one client. Clients are numbered from
	// 0; the same number gives the same sequence again.
	Script(client int) Script
}

// MaxClasses is how many classes a plan can have.
const MaxClasses = 1 << 16

// A Script is one client's sequence of requests. One worker uses it.
type Script interface {
	// Next fills ask with the next request, overwriting all of it. The bytes
	// that ask then refers to are the plan's and never change, or lie in
	// ask.Scratch. There is always a next request.
	Next(ask *Ask)
}

// A Class is one kind of request: a file of a list, an operation.
type Class struct {
	Name string // usually the request target
	// Weight is the class's relative share among the plan's draws. A class
	// that only ever follows another, as the later files of a page do, is
	// not drawn and has weight 0.
	Weight  float64
	Dynamic bool // answered by a program and not from a file
}

// An Ask is one request and what makes its reply right. A client owns it and
// has its script fill it.
type Ask struct {
	Method string // empty means GET
	Target []byte // the raw request target
	Host   string // the Host field; empty: that of the run's URL
	Fields []byte // further header lines, each ended by CRLF
	Body   []byte // with a Content-Length field unless empty

	// Raw, if not nil, is the whole request as it goes on the wire, body
	// included, instead of one rendered from the fields above (so that
	// requests as browsers and other tools send them can be offered). Method
	// must be right all the same: a reply to HEAD has no body.
	Raw []byte

	Class  uint16
	Expect Expect

	// Last says that no other request follows on the connection. Without
	// pipelining only.
	Last bool
	// Judge looks at the reply for what Expect can't say; nil for nobody.
	Judge Judge

	// Scratch is where a script can build what it does not have ready; its
	// capacity survives.
	Scratch []byte
}

// Head says whether the reply has no body whatever its fields say (RFC 9112
// section 6.3).
func (a *Ask) Head() bool { return a.Method == "HEAD" }

// An Expect is what makes a reply right.
type Expect struct {
	Status uint16 // 0: any 2xx
	// Length of the body in bytes, -1 when it is not known. For a HEAD, of
	// the body that a GET would have.
	Length int64
	// Sum is the SHA-256 of the body, nil when it is not known. The plan owns
	// it.
	Sum *[sha256.Size]byte
	// Learn says what the class's first good reply settles for all others.
	Learn Learn
}

// A Judge looks at the replies to a script's requests as they come, and learns
// how each exchange ended. It is called by the worker that uses the script.
// Nothing that it is given may be kept.
type Judge interface {
	// Head is told of the head of a reply, interim ones aside.
	Head(status int, fields weighstone.Fields)
	// Body is told of the next bytes of the body, without framing.
	Body(b []byte)
	// Right says of a complete reply that is right in all other respects
	// whether it is.
	Right() bool
	// Done is told that the exchange is over, whatever came of it.
	Done(s *Sample)
}

// A Learn says how much of what is not known of a reply is taken from the
// first one.
type Learn uint8

// What can be learned.
const (
	LearnNothing Learn = iota // what is not known may differ from reply to reply
	LearnLength               // lengths must be equal
	LearnContent              // lengths and contents must be equal
)
