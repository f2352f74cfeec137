package uring

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Each operation is submitted by the next [Ring.Wait] at the latest, and
// completes with data. Memory that it is given must stay referenced, and be on
// the heap, until then.

// Accept takes connections from a listening socket, one a completion, until it
// fails or is cancelled. The new descriptors are non-blocking and close-on-exec.
func (r *Ring) Accept(fd int, data uint64) {
	s := r.submission()
	s.opcode, s.fd, s.userData = opAccept, int32(fd), data
	s.ioprio = acceptMultishot
	s.opFlags = unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
}

// Receive reads from a socket into buffers of the group, one a completion, until
// the stream ends (0 bytes), it fails or is cancelled; ENOBUFS when all buffers
// are in use.
func (r *Ring) Receive(fd int, group uint16, data uint64) {
	s := r.submission()
	s.opcode, s.fd, s.userData = opRecv, int32(fd), data
	s.ioprio = recvMultishot
	s.flags = sqeBufferSelect
	s.bufGroup = group
}

// Send writes b, or a part of it, to a socket, without SIGPIPE. It waits while
// the socket is full.
func (r *Ring) Send(fd int, b []byte, data uint64) {
	s := r.submission()
	s.opcode, s.fd, s.userData = opSend, int32(fd), data
	s.addr = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	s.length = uint32(len(b))
	s.opFlags = unix.MSG_NOSIGNAL
}

// A Message is two pieces of memory that leave together.
type Message struct {
	header unix.Msghdr
	pieces [2]unix.Iovec
}

// Set makes m consist of a and b, neither of them empty.
func (m *Message) Set(a, b []byte) {
	m.pieces[0].Base, m.pieces[1].Base = unsafe.SliceData(a), unsafe.SliceData(b)
	m.pieces[0].SetLen(len(a))
	m.pieces[1].SetLen(len(b))
	m.header = unix.Msghdr{Iov: &m.pieces[0], Iovlen: 2}
}

// SendMessage is [Ring.Send] for the pieces of m.
func (r *Ring) SendMessage(fd int, m *Message, data uint64) {
	s := r.submission()
	s.opcode, s.fd, s.userData = opSendmsg, int32(fd), data
	s.addr = uint64(uintptr(unsafe.Pointer(&m.header)))
	s.length = 1
	s.opFlags = unix.MSG_NOSIGNAL
}

// Poll completes once when one of the events of poll(2) comes to a descriptor;
// the result is what came.
func (r *Ring) Poll(fd int, events uint32, data uint64) { r.poll(fd, events, data) }

// PollAlways is [Ring.Poll] that completes at every such event.
func (r *Ring) PollAlways(fd int, events uint32, data uint64) {
	r.poll(fd, events, data).length = pollMulti
}

func (r *Ring) poll(fd int, events uint32, data uint64) *sqe {
	s := r.submission()
	s.opcode, s.fd, s.userData = opPollAdd, int32(fd), data
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 { // "word-reversed for BE"
		events = events<<16 | events>>16
	}
	s.opFlags = events
	return s
}

// Cancel ends the operation that was submitted with target, which completes with
// ECANCELED unless it ends in another way first. It completes itself, with data.
func (r *Ring) Cancel(target, data uint64) {
	s := r.submission()
	s.opcode, s.fd, s.userData = opAsyncCancel, -1, data
	s.addr = target
}
