package uring

import (
	"errors"
	"fmt"
	"unsafe"
)

// Supported says why this package can't be used here, nil if it can: it sets up
// a ring, asks it for its operations (IORING_REGISTER_PROBE) and registers
// buffers.
func Supported() error {
	r, err := New(8, 16)
	if err != nil {
		return err
	}
	var b *Buffers
	if err = r.probe(); err == nil {
		b, err = r.NewBuffers(0, 1, 4096)
	}
	r.Close()
	if b != nil {
		b.Close()
	}
	return err
}

// probe looks for the operations that there must be.
func (r *Ring) probe() error {
	var p struct { // struct io_uring_probe
		last, n uint8
		_       [14]byte
		ops     [64]struct { // struct io_uring_probe_op
			op, _ uint8
			flags uint16
			_     uint32
		}
	}
	if _, errno := r.register(registerProbe, unsafe.Pointer(&p), uintptr(len(p.ops))); errno != 0 {
		return fmt.Errorf("ask io_uring for its operations: %w", errno)
	}
	const supported = 1 << 0 // IO_URING_OP_SUPPORTED
	var errs []error
	for _, op := range []struct {
		number int
		name   string
	}{{opPollAdd, "POLL_ADD"}, {opSendmsg, "SENDMSG"}, {opAccept, "ACCEPT"}, {opAsyncCancel, "ASYNC_CANCEL"}, {opSend, "SEND"}, {opRecv, "RECV"}} {
		if p.ops[op.number].flags&supported == 0 {
			errs = append(errs, fmt.Errorf("this kernel's io_uring has no %s", op.name))
		}
	}
	return errors.Join(errs...)
}
