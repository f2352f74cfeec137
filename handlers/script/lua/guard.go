package lua

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Why a script is stopped.
var (
	errTime   = errors.New("the script ran longer than it may")
	errMemory = errors.New("the script needs more memory than it may")
	errGone   = errors.New("the client is gone")
)

// A guard stops a script that takes too long or too much memory.
//
// The library bounds only its stacks. But it asks the context of a state
// before each instruction whether it is done, so the guard is that context:
// it counts instructions, and every stride of them looks at the clock and, now
// and then, at the values the script holds (measure.go). Between two looks an
// instruction can add a table, a function or an element, of some hundred
// bytes. Strings can double with each instruction, so what makes them tells
// the guard first: the string functions (strings.go) and the operator "..",
// which is compiled to a call (compile.go).
//
// Not stopped is a single call of a pattern function on a pattern that
// backtracks without end, as in C's Lua; subjects of patterns are limited.
type guard struct {
	context.Context // never done by itself
	it              *interpreter
	ended           chan struct{} // closed

	deadline time.Time
	gone     <-chan struct{}
	steps    int   // instructions until the next look at the clock
	measured int   // strides until the next look at the values
	live     int64 // bytes found at the last look
	since    int64 // bytes of strings made since
	limit    int64
	err      error // why the script is stopped
}

// stride is how many instructions pass between two looks at the clock: some
// 200 us.
const stride = 4096

// The looks at the values are this many strides apart, or more when there is
// much to look at: a value found costs about as much as an instruction.
const (
	fewestStrides = 4
	mostStrides   = 32
)

func newGuard(it *interpreter, limit int64) guard {
	g := guard{Context: context.Background(), it: it, limit: limit, ended: make(chan struct{})}
	close(g.ended)
	return g
}

// begin makes the guard ready for a script.
func (g *guard) begin(deadline time.Time, gone <-chan struct{}) {
	g.deadline, g.gone = deadline, gone
	g.steps, g.measured = stride, fewestStrides
	g.live, g.since, g.err = 0, 0, nil
}

// Done is called before each instruction.
func (g *guard) Done() <-chan struct{} {
	if g.steps--; g.steps > 0 {
		return nil
	}
	return g.look()
}

// Err is what the machine then raises. A script can catch it, and is stopped
// again at its next instruction.
func (g *guard) Err() error { return g.err }

// look decides whether the script goes on.
func (g *guard) look() <-chan struct{} {
	if g.err == nil {
		g.steps = stride
		if g.measured--; g.measured <= 0 {
			g.measure()
		}
		select {
		case <-g.gone:
			g.err = errGone
		default:
		}
		if time.Now().After(g.deadline) {
			g.err = errTime
		}
	}
	if g.err == nil {
		return nil
	}
	g.steps = 0
	return g.ended
}

// measure looks at the values that the script holds.
func (g *guard) measure() {
	m := measurement{limit: g.limit}
	m.of(g.it)
	g.live, g.since = m.bytes, 0
	g.measured = min(max(m.values/(2*stride), fewestStrides), mostStrides)
	if g.live > g.limit {
		g.stop(errMemory)
	}
}

// take is told of n bytes of string before they are made, and raises an error
// when that is too much.
func (g *guard) take(n int64) {
	g.room(n)
	g.since += n
}

// room is take for a string that is being made, and of n bytes so far.
func (g *guard) room(n int64) {
	if g.err == nil && g.live+g.since+n > g.limit {
		g.measure()
	}
	if g.err == nil && g.live+n > g.limit {
		g.stop(errMemory)
	}
	if g.err != nil {
		g.it.state.RaiseError("%s", g.err.Error())
	}
}

// stop has the script stopped at its next instruction.
func (g *guard) stop(err error) {
	if g.err == nil {
		g.err = err
	}
	g.steps = 0
}

// stopped says whether the script was.
func (g *guard) stopped() bool { return g.err != nil }

// status answers a script that failed.
func (g *guard) status() int {
	if errors.Is(g.err, errTime) || errors.Is(g.err, errGone) {
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}
