// Package bench is the client's vocabulary: what a benchmark asks, when, what
// it saw, and what it concludes. It starts no goroutine and does no input or
// output.
//
// A [Sample] is one exchange as the client saw it, and the only thing that
// asking and counting have in common. A [Plan] says what the next request is
// and what makes its reply right; a [Pacer] says when it is due; package load
// carries it; package tally counts it. A [Document] is what comes out: every
// report is written from one, and every figure in it that could not be
// computed is null.
//
// Nothing below bench knows a server, a handler or a gateway of this module:
// our servers are measured from outside, as anyone's.
package bench
