package lua

import (
	"fmt"
	"log/slog"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/handlers/script"
)

// An interpreter is a state of the Lua machine with what its scripts can
// call. It runs one script at a time, each with globals of its own; what a
// script puts into the tables of the libraries stays for later ones.
type interpreter struct {
	state   *lua.LState
	globals *lua.LTable // of all scripts
	own     *lua.LTable // of the next script, which finds the others behind it
	concat  *lua.LFunction
	guard   guard
	out     script.Output
	log     *slog.Logger
	broken  bool // a script was stopped in it: not to be used again

	// While a script runs:
	x    *weighstone.Exchange
	call script.Call
	fail int // status to answer with instead of the output
}

// Bounds of the machine's own stacks. Values beyond the first few kilobytes of
// registers are grown on demand.
const (
	registers    = 1 << 10
	maxRegisters = 1 << 14 // of 16 bytes
	maxCalls     = 200
)

// bounded sees to it, once in a process, that one assignment far beyond the
// end of an array does not fill a gigabyte: the library fills up to 2^26
// elements of 16 bytes, and has no other way to say otherwise.
var bounded = sync.OnceFunc(func() { lua.MaxArrayIndex = 1 << 20 })

func newInterpreter(memory int64, log *slog.Logger) *interpreter {
	bounded()
	it := &interpreter{log: log}
	it.state = lua.NewState(lua.Options{
		SkipOpenLibs: true, RegistrySize: registers, RegistryMaxSize: maxRegisters, RegistryGrowStep: registers,
		CallStackSize: maxCalls, MinimizeStackMemory: true,
	})
	it.guard = newGuard(it, memory)
	it.openLibraries()
	it.openStrings()
	it.openExchange()
	it.concat = it.state.NewFunction(it.concatenate)
	it.own = it.fresh()
	return it
}

// openLibraries opens those of the standard libraries that reach nothing
// outside, less what compiles unguarded code or disturbs the process.
func (it *interpreter) openLibraries() {
	L := it.state
	for _, lib := range []struct {
		name string
		open lua.LGFunction
	}{{lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}, {lua.StringLibName, lua.OpenString}, {lua.MathLibName, lua.OpenMath}} {
		L.Push(L.NewFunction(lib.open))
		L.Push(lua.LString(lib.name))
		L.Call(1, 0)
	}
	it.globals = L.G.Global
	for _, name := range []string{
		"collectgarbage", "dofile", "load", "loadfile", "loadstring", "module", "require", "newproxy", "print", "_printregs", "getfenv", "setfenv", "_G",
	} {
		it.globals.RawSetString(name, lua.LNil)
	}
}

// fresh makes the globals of one script: its own, and those of all behind.
func (it *interpreter) fresh() *lua.LTable {
	behind := it.state.NewTable()
	behind.RawSetString("__index", it.globals)
	behind.RawSetString("__metatable", lua.LFalse)
	own := it.state.NewTable()
	own.Metatable = behind
	return own
}

// run runs a script and fills the response of x with what it wrote.
func (it *interpreter) run(x *weighstone.Exchange, proto *lua.FunctionProto, c script.Call) error {
	it.x, it.call, it.fail = x, c, 0
	defer it.clear()
	L := it.state
	it.guard.begin(c.Deadline, x.In.Gone)
	L.SetContext(&it.guard)
	fn := L.NewFunctionFromProto(proto)
	fn.Env = it.own
	err := it.protected(fn)
	switch {
	case err != nil:
		if it.guard.stopped() {
			err = it.guard.err
		}
		return err
	case it.fail != 0:
		x.Fail(it.fail)
	default:
		it.out.Send(x, x.Out.Type)
	}
	return nil
}

// protected calls a script. The machine panics itself where it reports some
// overflows of its stack in a tail call; then it is of no use any more.
func (it *interpreter) protected(fn *lua.LFunction) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			it.broken = true
			err = fmt.Errorf("the Lua machine failed: %v", fault)
		}
	}()
	it.state.Push(fn)
	it.state.Push(it.concat)
	return it.state.PCall(1, 0, nil)
}

// clear forgets the exchange and what the script left.
func (it *interpreter) clear() {
	it.x, it.call = nil, script.Call{}
	it.out.Reset()
	if it.broken = it.broken || it.guard.stopped(); it.broken {
		return
	}
	it.state.SetTop(0)
	if key, _ := it.own.Next(lua.LNil); key != lua.LNil {
		it.own = it.fresh() // the script has set globals
	}
}

func (it *interpreter) close() {
	it.out.Reset()
	it.state.Close()
}
