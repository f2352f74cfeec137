// Package upstream answers exchanges by asking applications that live on
// behind a socket, in FastCGI or SCGI. It is a gateway of its own, since the
// libraries there are leak, and take a reply that was cut off for a whole one.
//
// An application is a set of seats, each with at most one connection, which
// carries one request at a time: no application in wide use can do more. The
// workers that a gateway starts itself have a seat and a socket each, so that
// a worker that hangs is known, and can be ended. An application that somebody
// else runs has so many seats at one address. Who finds no seat free waits in
// a queue of bounded length.
//
// Connections of FastCGI are kept. One that was closed behind our back is
// noticed before it is used again; when that comes to light only afterwards,
// the request is sent once more, if nothing was answered and doing it twice
// does no harm.
package upstream
