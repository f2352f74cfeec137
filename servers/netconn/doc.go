// Package netconn is what the library engines share below their libraries:
// listeners made of raw descriptors, and connections that keep the limits,
// count, drain and close as the contract of weighstone.Server asks.
//
// A [Hub] owns the listeners and connections of one server. A [Conn] is the
// net.Conn that a library is given. It knows what the next byte belongs to (a
// [Conn] is idle, in a head, in a body, or serving), partly from the bytes
// themselves and partly from the engine, and so can cut off a head or a body
// that dribbles, which deadlines set by a library cannot.
package netconn
