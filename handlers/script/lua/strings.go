package lua

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/pm"
)

// maxSubject bounds what patterns are matched against, in bytes: the matcher
// recurses for each character.
const maxSubject = 64 << 10

// openStrings puts functions that tell the guard first in the place of those
// that make strings.
func (it *interpreter) openStrings() {
	L := it.state
	str := it.globals.RawGetString(lua.StringLibName).(*lua.LTable)
	str.RawSetString("dump", lua.LNil)
	str.RawSetString("gfind", lua.LNil)
	for _, name := range []string{"lower", "upper", "reverse"} {
		it.wrap(str, name, func(L *lua.LState) { it.guard.take(int64(len(L.CheckString(1)))) })
	}
	for _, name := range []string{"match", "gmatch"} {
		it.wrap(str, name, checkSubject)
	}
	it.wrap(str, "find", func(L *lua.LState) {
		if !L.ToBool(4) {
			checkSubject(L)
		}
	})
	it.wrap(str, "rep", func(L *lua.LState) { it.takeTimes(len(L.CheckString(1)), L.CheckInt(2)) })
	it.wrap(str, "format", it.checkFormat)
	str.RawSetString("gsub", L.NewFunction(it.gsub))
	table := it.globals.RawGetString(lua.TabLibName).(*lua.LTable)
	table.RawSetString("concat", L.NewFunction(it.tableConcat))
}

// wrap has check called before a function of a library.
func (it *interpreter) wrap(library *lua.LTable, name string, check func(*lua.LState)) {
	next := library.RawGetString(name).(*lua.LFunction)
	wrapped := *next // with its upvalues
	wrapped.GFunction = func(L *lua.LState) int {
		check(L)
		return next.GFunction(L)
	}
	library.RawSetString(name, &wrapped)
}

// takeTimes tells the guard of n copies of size bytes.
func (it *interpreter) takeTimes(size, n int) {
	if size > 0 && n > 0 {
		if int64(n) > it.guard.limit/int64(size)+1 {
			n = int(it.guard.limit/int64(size)) + 1
		}
		it.guard.take(int64(size) * int64(n))
	}
}

func checkSubject(L *lua.LState) {
	if n := len(L.CheckString(1)); n > maxSubject {
		L.RaiseError("patterns match strings of up to %d bytes, not %d", maxSubject, n)
	}
}

// checkFormat bounds what string.format makes: as in C's Lua, widths and
// precisions have two digits.
func (it *interpreter) checkFormat(L *lua.LState) {
	format := L.CheckString(1)
	if wide(format) {
		L.RaiseError("invalid format (width or precision too long)")
	}
	size := int64(len(format))
	for n := 2; n <= L.GetTop(); n++ {
		size += 100
		if s, ok := L.Get(n).(lua.LString); ok {
			size += 4 * int64(len(s)) // %q
		}
	}
	it.guard.take(size)
}

// wide says whether a verb of a format has a width or precision of more than
// two digits, or one that is an argument.
func wide(format string) bool {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		digits := 0
		for i++; i < len(format) && strings.IndexByte("-+ #.*[]0123456789", format[i]) >= 0; i++ {
			if format[i] < '0' || format[i] > '9' {
				digits = 0
			} else {
				digits++
			}
			if digits > 2 || strings.IndexByte("*[]", format[i]) >= 0 {
				return true
			}
		}
	}
	return false
}

// text returns a value as the operator ".." takes it.
func text(v lua.LValue) (string, bool) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), true
	case lua.LNumber:
		return v.String(), true
	}
	return "", false
}

// concatenate is the operator "..", with all operands that follow one another.
func (it *interpreter) concatenate(L *lua.LState) int {
	n := L.GetTop()
	right := L.Get(n)
	for n--; n >= 1; {
		parts := []string{}
		size := 0
		s, ok := text(right)
		for at := n; ok; at-- {
			parts = append(parts, s)
			size += len(s)
			if n = at; at == 0 {
				break
			}
			s, ok = text(L.Get(at))
		}
		if len(parts) < 2 {
			right = it.concatOther(L, L.Get(n), right)
			n--
			continue
		}
		it.guard.take(int64(size))
		var b strings.Builder
		b.Grow(size)
		for i := len(parts) - 1; i >= 0; i-- {
			b.WriteString(parts[i])
		}
		right = lua.LString(b.String())
	}
	L.Push(right)
	return 1
}

// concatOther asks the metatables of operands that are no strings.
func (it *interpreter) concatOther(L *lua.LState, left, right lua.LValue) lua.LValue {
	op := L.GetMetaField(left, "__concat")
	if op == lua.LNil {
		op = L.GetMetaField(right, "__concat")
	}
	if op.Type() != lua.LTFunction {
		culprit := right
		if _, ok := text(left); !ok {
			culprit = left
		}
		L.RaiseError("attempt to concatenate a %s value", culprit.Type())
	}
	L.Push(op)
	L.Push(left)
	L.Push(right)
	L.Call(2, 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

// tableConcat is table.concat.
func (it *interpreter) tableConcat(L *lua.LState) int {
	t, separator := L.CheckTable(1), L.OptString(2, "")
	first := L.OptInt(3, 1)
	last := L.OptInt(4, t.Len())
	var b strings.Builder
	for i := first; i <= last; i++ {
		s, ok := text(t.RawGetInt(i))
		if !ok {
			L.RaiseError("invalid value (%s) at index %d in table for concat", t.RawGetInt(i).Type(), i)
		}
		if i < last {
			s += separator
		}
		it.guard.room(int64(b.Len() + len(s)))
		b.WriteString(s)
	}
	it.guard.take(int64(b.Len()))
	L.Push(lua.LString(b.String()))
	return 1
}

// gsub is string.gsub. The library's copies the whole string for each match.
func (it *interpreter) gsub(L *lua.LState) int {
	checkSubject(L)
	s, pattern, limit := L.CheckString(1), L.CheckString(2), L.OptInt(4, -1)
	L.CheckTypes(3, lua.LTString, lua.LTNumber, lua.LTTable, lua.LTFunction)
	if limit == 0 {
		L.Push(lua.LString(s))
		L.Push(lua.LNumber(0))
		return 2
	}
	matches, err := pm.Find(pattern, []byte(s), 0, max(limit, -1))
	if err != nil {
		L.RaiseError("%s", err.Error())
	}
	var b strings.Builder
	rest := 0
	for _, m := range matches {
		put := it.replacement(L, L.Get(3), s, m)
		it.guard.room(int64(b.Len() + m.Capture(0) - rest + len(put)))
		b.WriteString(s[rest:m.Capture(0)])
		b.WriteString(put)
		rest = m.Capture(1)
	}
	b.WriteString(s[rest:])
	it.guard.take(int64(b.Len()))
	L.Push(lua.LString(b.String()))
	L.Push(lua.LNumber(len(matches)))
	return 2
}

// replacement returns what stands for a match.
func (it *interpreter) replacement(L *lua.LState, by lua.LValue, s string, m *pm.MatchData) string {
	var v lua.LValue
	switch by := by.(type) {
	case *lua.LTable:
		v = L.GetTable(by, captured(L, s, m, 1))
	case *lua.LFunction:
		L.Push(by)
		n := max(m.CaptureLength()/2-1, 1)
		for i := 1; i <= n; i++ {
			L.Push(captured(L, s, m, i))
		}
		L.Call(n, 1)
		v = L.Get(-1)
		L.Pop(1)
	default:
		t, _ := text(by)
		return expand(L, t, s, m)
	}
	if t, ok := text(v); ok {
		return t
	}
	if lua.LVAsBool(v) {
		L.RaiseError("invalid replacement value (a %s)", v.Type())
	}
	return s[m.Capture(0):m.Capture(1)]
}

// captured returns a capture, the whole match for 0, and for 1 if there is no
// capture.
func captured(L *lua.LState, s string, m *pm.MatchData, n int) lua.LValue {
	at := 2 * n
	if at >= m.CaptureLength() {
		if n > 1 {
			L.RaiseError("invalid capture index")
		}
		at = 0
	}
	if m.IsPosCapture(at) {
		return lua.LNumber(m.Capture(at))
	}
	return lua.LString(s[m.Capture(at):m.Capture(at+1)])
}

// expand replaces %0 to %9 in a replacement.
func expand(L *lua.LState, by, s string, m *pm.MatchData) string {
	if strings.IndexByte(by, '%') < 0 {
		return by
	}
	var b strings.Builder
	for i := 0; i < len(by); i++ {
		if by[i] != '%' || i+1 == len(by) {
			b.WriteByte(by[i])
			continue
		}
		if i++; by[i] < '0' || by[i] > '9' {
			b.WriteByte(by[i])
			continue
		}
		t, _ := text(captured(L, s, m, int(by[i]-'0')))
		b.WriteString(t)
	}
	return b.String()
}
