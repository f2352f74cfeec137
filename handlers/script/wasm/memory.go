package wasm

import "github.com/tetratelabs/wazero/experimental"

// keptMemory is how much memory a seat keeps for the next instance, in bytes.
const keptMemory = 1 << 20

// A seat is the right to run an instance, and keeps the memory of the last one
// for the next: new memory would have to be cleared as well, and be collected
// besides.
type seat struct {
	spare []byte // all zero
	taken bool
}

// Allocate gives memory to an instance. Only the first of an instance is kept.
func (s *seat) Allocate(_, _ uint64) experimental.LinearMemory {
	if s.taken {
		return &linear{}
	}
	s.taken = true
	m := &linear{seat: s, bytes: s.spare[:0]}
	s.spare = nil
	return m
}

// A linear is the memory of an instance.
type linear struct {
	seat  *seat // nil if it is not kept
	bytes []byte
}

// Reallocate grows the memory; what is new is zero.
func (m *linear) Reallocate(size uint64) []byte {
	if size > uint64(cap(m.bytes)) {
		grown := make([]byte, size)
		copy(grown, m.bytes)
		m.bytes = grown
	}
	m.bytes = m.bytes[:size]
	return m.bytes
}

// Free gives the memory back.
func (m *linear) Free() {
	if m.seat == nil || !m.seat.taken {
		return
	}
	m.seat.taken = false
	if cap(m.bytes) <= keptMemory {
		clear(m.bytes)
		m.seat.spare = m.bytes
	}
	m.bytes = nil
}
