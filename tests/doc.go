// Package tests holds what is tested from outside: the program as it is built,
// as a process, by clients that know nothing of it. There are the acceptance
// kit in probe/, common load generators, restarts under load, and the system
// calls of the event loops.
//
// The program is built once, by TestMain. A tool that is missing fails a test
// when CI=true and skips it, with the reason, elsewhere.
package tests
