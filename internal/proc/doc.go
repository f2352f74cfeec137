// Package proc starts the processes that a benchmark measures, says what they
// used, and never leaves one behind.
//
// A [Spawner] owns one thread on which every start happens: the kernel sends a
// child its death signal when the *thread* that made it ends, not the process
// (prctl(2), PR_SET_PDEATHSIG), and a Go runtime ends threads when it likes. A
// child that is to run on some cores inherits them from that thread, so that
// its runtime sizes itself to what it is given.
package proc
