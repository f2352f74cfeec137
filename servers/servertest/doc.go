// Package servertest is what every server is tested with: it starts one in
// this process, talks to it in bytes, and sees that nothing is left of it.
//
// A [Case] is a raw request and a small expectation. It is sent whole, byte by
// byte, behind and in front of another request, and by a client that then ends
// its side. The client here shares no code with the servers: replies are read
// by a strict reader of its own, and judged by net/http as well.
//
// The cases themselves are in the package's tests, which run each of them on
// every server of the table in package servers.
package servertest
