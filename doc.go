// Package weighstone is the vocabulary of a suite of reference web servers:
// what a request and its response are, who answers which path, and what a
// server promises. It starts no goroutine and does no input or output.
//
// Two nouns carry everything. An [Exchange] is one request and its response
// as the server sees it: plain data, owned by an engine (packages below
// servers/) and lent to one [Handler] at a time (packages below handlers/).
// A Sample (package bench) is one exchange as the client saw it. The two meet
// only on the wire.
//
// A [Site] says which [Route] answers a target, and it alone decodes one. A
// [Server] turns connections into exchanges: it gets raw listening
// descriptors, and knows nothing of paths. So any server serves any site, and
// the architecture of the server is the only thing that changes.
package weighstone

// Software is the value of the Server header and of the CGI variable
// SERVER_SOFTWARE (RFC 9110 section 10.2.4, RFC 3875 section 4.1.17).
const Software = "weighstone/0.1"
