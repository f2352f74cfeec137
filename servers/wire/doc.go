// Package wire turns the bytes of a connection into exchanges and exchanges
// into bytes, for every engine that speaks HTTP by itself. It knows nothing of
// events, threads or processes.
//
// [Machine.Next] and [Machine.Reply] do no input or output: a loop uses them
// on its buffers. [Machine.Serve] carries one exchange over a connection that
// waits; it is for goroutines and threads, and for the exchanges that a loop
// gives away because they may wait.
package wire
