// Package netconn is what the library engines share below their libraries:
// listeners made of raw descriptors, and connections that keep the limits,
// count, drain and close as the contract of weighstone.Server asks.
//
// A [Hub] owns the listeners and connections of one server. A [Conn] is the
// net.Conn that a library is given. It parses the heads that pass, to refuse
// malformed ones before a lenient library sees them; so it knows what the next
// byte belongs to, and can cut off a head or a body that dribbles, which
// deadlines set by a library cannot.
package netconn
