package uring

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Buffers are memory of one size each that a ring's kernel side fills: it takes
// one when bytes are there, and its user hands it back with [Buffers.Recycle].
// Between the two they belong to whoever took the completion.
type Buffers struct {
	group  uint16
	size   int
	memory []byte // count times size

	ring []byte // what the kernel takes buffers from
	free []buffer
	tail uint16
}

// NewBuffers makes count buffers, a power of two, of size bytes, and registers
// them with r under a number.
func (r *Ring) NewBuffers(group uint16, count, size int) (*Buffers, error) {
	b := &Buffers{group: group, size: size}
	for _, m := range []struct {
		memory *[]byte
		size   int
	}{{&b.memory, count * size}, {&b.ring, count * int(unsafe.Sizeof(buffer{}))}} {
		var err error
		*m.memory, err = unix.Mmap(-1, 0, m.size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANONYMOUS|unix.MAP_PRIVATE)
		if err != nil {
			b.Close()
			return nil, fmt.Errorf("map receive buffers: %w", err)
		}
	}
	b.free = unsafe.Slice((*buffer)(unsafe.Pointer(&b.ring[0])), count)
	reg := bufferRegistration{addr: uint64(uintptr(unsafe.Pointer(&b.ring[0]))), entries: uint32(count), group: group}
	if _, errno := r.register(registerBufferRing, unsafe.Pointer(&reg), 1); errno != 0 {
		b.Close()
		return nil, fmt.Errorf("register receive buffers: %w", errno)
	}
	for id := range count {
		b.put(uint16(id))
	}
	b.publish()
	return b, nil
}

// Bytes are the first n bytes of a buffer.
func (b *Buffers) Bytes(id uint16, n int) []byte {
	at := int(id) * b.size
	return b.memory[at : at+n : at+b.size]
}

// Recycle gives a buffer back to the kernel.
func (b *Buffers) Recycle(id uint16) {
	b.put(id)
	b.publish()
}

func (b *Buffers) put(id uint16) {
	e := &b.free[int(b.tail)&(len(b.free)-1)]
	e.addr = uint64(uintptr(unsafe.Pointer(&b.memory[int(id)*b.size])))
	e.length = uint32(b.size)
	e.id = id
	b.tail++
}

// publish shows the kernel the tail. It lies in the last two bytes of the first
// entry, beside that entry's own number, and sync/atomic has no operation on two
// bytes: so both are stored. The kernel writes neither.
func (b *Buffers) publish() {
	var word [4]byte
	binary.NativeEndian.PutUint16(word[:], b.free[0].id)
	binary.NativeEndian.PutUint16(word[2:], b.tail)
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&b.ring[12])), binary.NativeEndian.Uint32(word[:]))
}

// Close frees the buffers. The ring must have been closed before.
func (b *Buffers) Close() {
	for _, m := range [][]byte{b.memory, b.ring} {
		if m != nil {
			unix.Munmap(m)
		}
	}
}
