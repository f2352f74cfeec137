// Package spawn starts the programs that gateways run, each with pipes of its
// own and at the head of its own process group, and knows how to end and to
// reap it. It uses syscall.ForkExec and not os/exec: that saves a tenth of the
// time of a small program, and the waits here never tie a thread.
package spawn
