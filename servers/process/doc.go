// Package process holds the process architectures: servers whose connections
// are served by processes of their own. The server itself is the master: it
// starts workers, watches them, replaces those that die, keeps as many as its
// architecture wants, and tells them to drain. It serves nothing.
//
// A worker is another program, which runs one of the other servers on the
// listening sockets that it inherits; [Inherit] and [Worker.Run] are its side.
// Go can't fork, since only the forking thread would go on in the child, so
// what a C server shares between its processes by forking is handed over
// explicitly: descriptors, and one argument of JSON.
//
//	descriptor 0, 1  /dev/null
//	descriptor 2     the master's standard error
//	descriptor 3     control: a stream socket, a byte a message (messages below)
//	descriptor 4     the scoreboard
//	descriptor 5...  the listening sockets
//
// The end of the control socket, however it came, is the end of the other
// side; and the kernel kills a worker whose master dies (PR_SET_PDEATHSIG,
// prctl(2)).
package process

// The messages on a control socket.
const (
	msgReady    = 'r' // from a worker: it serves
	msgReopened = 'o' // from a worker: it writes to the new access log
	msgRetire   = 'q' // to a worker: end when there is no connection
	msgDrain    = 'd' // to a worker: finish what is in flight, and end
	msgCut      = 'c' // to a worker: end now; what is in flight is lost
	msgReopen   = 'l' // to a worker: the access log was renamed, open it again
)

// The descriptors of a worker.
const (
	controlFD = 3 + iota
	boardFD
	listenerFD
)
