// Package helper starts CGI programs through a process of its own, as Apache's
// cgid and Flash's CGI helper did: however large the server grows, what starts
// programs stays small. Both sides are here: [Serve] is the helper's life, and
// [Client] what asks it; package keeper has it run.
//
// The keeper owns a listening Unix socket and the helper inherits it, so that
// requests wait in its queue while one helper takes the place of another. Its
// name is an abstract one (unix(7)), which vanishes with the last descriptor,
// and may be passed to any process of the server; both sides see to it that the
// other belongs to the same user.
//
// A connection is for one program at a time, and kept for the next. An order
// to start goes out with the program's standard input, output and error
// (SCM_RIGHTS); when the program has ended, its wait status comes back, and the
// process stays a zombie until it is released, so that its group can still be
// sent signals. A connection that closes has its program's group killed. So
// when a server dies, however that may be, its programs do; and when the helper
// dies, they do too (PR_SET_PDEATHSIG), and whoever waits for them learns of it.
package helper
