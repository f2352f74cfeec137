package weighstone

// Knobs are the choices that an architecture leaves open, one factor at a
// time. A zero field means the variant's own default. A server ignores the
// knobs that its variant does not have; the command line refuses them.
type Knobs struct {
	// MinWorkers and MaxWorkers bound a pool that grows and shrinks between
	// them; Options.Workers is its size at the start.
	MinWorkers, MaxWorkers int

	// MinSpare and MaxSpare bound how many workers of such a pool are idle.
	MinSpare, MaxSpare int

	// Queue is how many accepted connections may wait for a worker.
	Queue int

	// Helpers is how many threads read what the loops must not wait for.
	Helpers int

	// AcceptBatch is how many connections are taken each time that the
	// listening socket is ready; negative for all there are.
	AcceptBatch int

	// EdgeTriggered asks for each readiness once (EPOLLET, epoll(7)).
	EdgeTriggered bool

	// NaiveControl states the interest in a connection anew at every change of
	// its state, wanted or not, as servers did in 2005: one epoll_ctl each.
	NaiveControl bool

	// Exclusive wakes one of the loops that wait on one listening socket
	// instead of all (EPOLLEXCLUSIVE).
	Exclusive bool

	// Engine is the variant that each process is, where processes are what a
	// variant is about.
	Engine string

	// Pin binds each worker to a core of its own.
	Pin bool

	// CloseAfter closes each connection after so many requests; 0 for never,
	// 1 for no keep-alive at all.
	CloseAfter int

	// ConnsPerAddr bounds the connections of one client address; 0 for no
	// bound. What is above it is closed at accept.
	ConnsPerAddr int

	// Send is how a reply's bytes leave.
	Send SendPath
}

// A SendPath is how a reply's bytes leave.
type SendPath uint8

// The ways. The zero value lets the engine choose.
const (
	SendAny      SendPath = iota
	SendWrite             // read files into memory, then write(2)
	SendSendfile          // sendfile(2) for every file
	SendCork              // head and body in calls of their own, between TCP_CORK
	SendMmap              // write(2) from a mapping of the file
)
