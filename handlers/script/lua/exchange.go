package lua

import (
	"io"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
)

// openExchange gives scripts what they know a request and its response by. The
// tables are empty: their fields are looked up when they are asked for.
func (it *interpreter) openExchange() {
	L := it.state
	it.globals.RawSetString("request", it.object(it.requestField, nil))
	it.globals.RawSetString("response", it.object(it.responseField, it.setResponse))
	it.globals.RawSetString("write", L.NewFunction(it.write))
	it.globals.RawSetString("fail", L.NewFunction(it.setFail))
	it.globals.RawSetString("log", L.NewFunction(it.logLine))
}

// object makes a table without fields of its own. Nothing can be put into it
// unless set takes it.
func (it *interpreter) object(get func(name string) lua.LValue, set func(name string, v lua.LValue)) *lua.LTable {
	L := it.state
	meta := L.NewTable()
	meta.RawSetString("__metatable", lua.LFalse)
	meta.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		L.Push(get(L.CheckString(2)))
		return 1
	}))
	meta.RawSetString("__newindex", L.NewFunction(func(L *lua.LState) int {
		name := L.CheckString(2)
		if set == nil {
			L.RaiseError("%s can't be set", name)
		}
		set(name, L.Get(3))
		return 0
	}))
	o := L.NewTable()
	o.Metatable = meta
	return o
}

// requestField returns request.name.
func (it *interpreter) requestField(name string) lua.LValue {
	in := &it.x.In
	switch name {
	case "method":
		return lua.LString(in.Method)
	case "path":
		return lua.LString(in.Path)
	case "query":
		return lua.LString(in.Query)
	case "target":
		return lua.LString(in.Target)
	case "info":
		return lua.LString(it.call.Script.Info)
	case "length":
		return lua.LNumber(it.call.Script.Length)
	case "header":
		return it.state.NewFunction(it.header)
	case "variables":
		return it.state.NewFunction(it.variables)
	case "read":
		return it.state.NewFunction(it.read)
	}
	return lua.LNil
}

// header is request.header(name): the first line of that name, or nil.
func (it *interpreter) header(L *lua.LState) int {
	v := it.x.In.Fields.Get(canonical(L.CheckString(1)))
	if v == nil {
		L.Push(lua.LNil)
	} else {
		L.Push(lua.LString(v))
	}
	return 1
}

// canonical spells the name of a field as [weighstone.Fields] wants it.
func canonical(name string) string {
	b, start := []byte(name), true
	for i, c := range b {
		switch {
		case start && 'a' <= c && c <= 'z':
			b[i] = c - 'a' + 'A'
		case !start && 'A' <= c && c <= 'Z':
			b[i] = c - 'A' + 'a'
		}
		start = c == '-'
	}
	return string(b)
}

// variables is request.variables(): a table of those that a CGI program has,
// but for those that say that it is one.
func (it *interpreter) variables(L *lua.LState) int {
	t := L.NewTable()
	cgi.Variables(it.x, it.call.Script, tableSink{t})
	L.Push(t)
	return 1
}

// A tableSink puts variables into a table.
type tableSink struct{ t *lua.LTable }

// Field adds one.
func (s tableSink) Field(name, value []byte) { s.t.RawSetString(string(name), lua.LString(value)) }

// usualRead and mostRead are how much request.read returns without a number,
// and at most.
const (
	usualRead = 64 << 10
	mostRead  = 1 << 20
)

// read is request.read([n]): up to n bytes of the body, nil at its end.
func (it *interpreter) read(L *lua.LState) int {
	n := usualRead
	if asked, ok := L.Get(1).(lua.LNumber); ok { // else called by a for, with what that passes
		n = int(min(max(asked, 1), mostRead))
	}
	it.guard.take(int64(n))
	b := make([]byte, n)
	n, err := io.ReadFull(it.call.Body, b)
	switch {
	case n > 0:
		L.Push(lua.LString(b[:n]))
	case err == io.EOF:
		L.Push(lua.LNil)
	default:
		L.RaiseError("read the body: %s", err.Error())
	}
	return 1
}

// responseField returns response.name.
func (it *interpreter) responseField(name string) lua.LValue {
	switch name {
	case "status":
		return lua.LNumber(it.x.Out.Code())
	case "type":
		return lua.LString(it.x.Out.Type)
	case "field":
		return it.state.NewFunction(it.field)
	}
	return lua.LNil
}

// setResponse is response.name = v.
func (it *interpreter) setResponse(name string, v lua.LValue) {
	L := it.state
	switch name {
	case "status":
		n, ok := v.(lua.LNumber)
		if !ok || n != lua.LNumber(int(n)) || n < 200 || n > 599 {
			L.RaiseError("a status is a number from 200 to 599")
		}
		it.x.Out.Status = int(n)
	case "type":
		s, ok := v.(lua.LString)
		if !ok || !fieldValue(string(s)) {
			L.RaiseError("a type is a string without control characters")
		}
		it.x.Out.Type = string(s)
	default:
		L.RaiseError("response has no %s to set", name)
	}
}

// field is response.field(name, value): one more header line.
func (it *interpreter) field(L *lua.LState) int {
	name, value := L.CheckString(1), L.CheckString(2)
	h, _, err := cgi.ParseHeader([]byte("Status: 200\n" + name + ": " + value + "\n\n"))
	if err != nil || !fieldValue(value) || len(h.Fields) != 1 || h.Fields[0].Name != name {
		L.RaiseError("no header line that a script can send: %s", name)
	}
	it.x.AddField(h.Fields[0].Name, h.Fields[0].Value)
	return 0
}

// fieldValue says whether s can be the value of a header line.
func fieldValue(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) < 0
}

// write is write(...): it adds strings and numbers to the body.
func (it *interpreter) write(L *lua.LState) int {
	for n := 1; n <= L.GetTop(); n++ {
		s, ok := text(L.Get(n))
		if !ok {
			L.RaiseError("attempt to write a %s value", L.Get(n).Type())
		}
		if _, err := it.out.WriteString(s); err != nil {
			L.RaiseError("%s", err.Error())
		}
	}
	return 0
}

// setFail is fail(status): the plain page of that status instead of what was
// written.
func (it *interpreter) setFail(L *lua.LState) int {
	status := L.CheckInt(1)
	if status < 400 || status > 599 {
		L.RaiseError("a failure is a number from 400 to 599")
	}
	it.fail = status
	return 0
}

// maxLine bounds a line of a script in the log, in bytes.
const maxLine = 1 << 10

// logLine is log(text).
func (it *interpreter) logLine(L *lua.LState) int {
	line := L.CheckString(1)
	it.log.Info("Lua script says", "script", it.call.Script.Name, "line", line[:min(len(line), maxLine)])
	return 0
}

var _ weighstone.FieldSink = tableSink{}
