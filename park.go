package weighstone

import "time"

// A Parker is a [Handler] of a route that waits, which can leave the waiting to
// the engine. An engine that waits for descriptors anyhow then parks the
// exchange: it watches the socket on which the answer comes beside those of its
// clients, and neither a goroutine nor a lock has part in it. Engines of other
// kinds call Serve, and so does the loop whenever parking does not do.
type Parker interface {
	Handler
	// Park begins an exchange whose request has no body. It must not block,
	// and keeps nothing of x. Nil says that x is to be served, and that nothing
	// has been done. wake has the engine call Look; any goroutine may call it,
	// also when it is too late. The engine calls Look at once.
	Park(x *Exchange, wake func()) Parked
}

// A Parked is an exchange that waits in the engine. After any number of calls
// of Look it comes to an end by one call of Serve or Drop. Nothing of it but
// what Serve is blocks.
type Parked interface {
	// Look goes on as far as it can be done without blocking. It is called
	// when the socket is readable, when wake was called, and perhaps otherwise.
	Look() Prospect
	// FD returns the non-blocking socket to watch after Look has said
	// [Waiting], or -1 when only wake will tell. It stays the handler's. The
	// engine does not watch it any more when it calls Serve or Drop.
	FD() int
	// Serve fills in the reply. x has the request that Park was called with,
	// and may be another Exchange. It blocks unless Look has said [Ready].
	Handler
	// Drop ends an exchange whose client is lost.
	Drop()
}

// A Prospect is what becomes of a parked exchange.
type Prospect uint8

// The prospects.
const (
	Waiting Prospect = iota // for the socket, or for wake
	Ready                   // Serve will not block
	Stuck                   // only Serve can go on, and it may block
)

// MaxParked is how long an engine keeps an exchange parked. One that takes
// longer is served by a goroutine from there on, which watches over the limits
// of time and the client's leaving.
const MaxParked = 100 * time.Millisecond
