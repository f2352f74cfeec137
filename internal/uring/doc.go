// Package uring speaks io_uring(7), the kernel's interface of completions, by
// its three system calls and the memory that they share with the kernel: no
// library, no cgo.
//
// A [Ring] is a pair of queues. A program writes operations into the one and
// enters the kernel once for all of them; what each came to lies in the other.
// An operation can be multishot: asked for once, it completes again and again.
// A [Buffers] is memory that the kernel fills as it likes, so that an operation
// that waits for bytes holds none.
//
// What is here serves one thread a ring (IORING_SETUP_SINGLE_ISSUER), whose
// completions are worked off when it asks for them and at no other time
// (IORING_SETUP_DEFER_TASKRUN): Linux 6.1.
//
// Sources: io_uring_setup(2), io_uring_enter(2), io_uring_register(2), and
// linux/io_uring.h, whose names the constants keep.
package uring
