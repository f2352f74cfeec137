// Package sys holds the system calls of the raw loops and the load generator.
//
// Calls on non-blocking descriptors never block, so they are issued without
// telling the scheduler (RawSyscall): measured on a loop that answers a
// 100-byte file, that saves 1.5 to 3 us of CPU a request against the wrappers
// of x/sys. Only a wait may block, and only it enters the scheduler.
//
// Every call returns the bare [unix.Errno], 0 for success: comparing it costs
// nothing and wrapping it would allocate. EINTR is retried here.
package sys
