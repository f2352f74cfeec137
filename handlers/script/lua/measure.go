package lua

import (
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// What values take, in bytes, measured with the library on a 64-bit machine.
const (
	slotSize     = 16  // of an array or a register
	entrySize    = 130 // of a hash: in a map, in the list of keys, in the index of that
	tableSize    = 120
	functionSize = 80
	upvalueSize  = 56

	// sharedFrom is the length from which a string that many values share is
	// counted once.
	sharedFrom = 256
)

// A measurement adds up what a script's values take, and stops when that is
// more than the limit.
type measurement struct {
	limit  int64
	bytes  int64
	values int

	seen  map[any]struct{} // tables, functions and where long strings begin
	queue []lua.LValue     // found and not looked into
}

// of measures all that the interpreter's script can reach.
func (m *measurement) of(it *interpreter) {
	m.seen = map[any]struct{}{}
	m.add(it.own)
	m.add(it.globals)
	for level := 0; ; level++ {
		frame, ok := it.state.GetStack(level)
		if !ok {
			break
		}
		if fn, err := it.state.GetInfo("f", frame, lua.LNil); err == nil {
			m.add(fn)
		}
		for n := 1; ; n++ {
			name, v := it.state.GetLocal(frame, n)
			if name == "" {
				break
			}
			m.bytes += slotSize
			m.add(v)
		}
	}
	for len(m.queue) > 0 && m.bytes <= m.limit {
		v := m.queue[len(m.queue)-1]
		m.queue = m.queue[:len(m.queue)-1]
		m.into(it.state, v)
	}
}

// add counts a value, and queues it if there may be others within.
func (m *measurement) add(v lua.LValue) {
	m.values++
	switch v := v.(type) {
	case lua.LString:
		if len(v) < sharedFrom || m.first(unsafe.StringData(string(v))) {
			m.bytes += int64(len(v)) + slotSize
		}
	case lua.LNumber:
		m.bytes += 8
	case *lua.LTable:
		if m.first(v) {
			m.bytes += tableSize
			m.queue = append(m.queue, v)
		}
	case *lua.LFunction:
		if m.first(v) {
			m.bytes += functionSize
			m.queue = append(m.queue, v)
		}
	}
}

// first says whether p was not seen before.
func (m *measurement) first(p any) bool {
	if _, ok := m.seen[p]; ok {
		return false
	}
	m.seen[p] = struct{}{}
	return true
}

// into adds what is within v.
func (m *measurement) into(L *lua.LState, v lua.LValue) {
	switch v := v.(type) {
	case *lua.LTable:
		array := v.Len()
		m.bytes += int64(array) * slotSize
		if v.Metatable != nil {
			m.add(v.Metatable)
		}
		v.ForEach(func(key, value lua.LValue) {
			if n, ok := key.(lua.LNumber); !ok || n < 1 || n > lua.LNumber(array) {
				m.bytes += entrySize
				m.add(key)
			}
			m.add(value)
		})
	case *lua.LFunction:
		if v.Env != nil {
			m.add(v.Env)
		}
		for n := 1; n <= len(v.Upvalues); n++ {
			m.bytes += upvalueSize
			if _, value := L.GetUpvalue(v, n); value != nil {
				m.add(value)
			}
		}
	}
}
