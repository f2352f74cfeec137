package wasm

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
)

// An environment is that of one instance: the CGI variables, made when a
// module first asks for them. It travels in the context of the call, since the
// library's own copies all of them for each that is added.
type environment struct {
	x      *weighstone.Exchange
	script cgi.Script
	text   []byte // NAME=value, each ended by a zero
	starts []uint32
	made   bool
}

// environmentKey is where a context has it.
type environmentKey struct{}

func environmentOf(ctx context.Context) *environment {
	e, ok := ctx.Value(environmentKey{}).(*environment)
	if !ok {
		return &environment{made: true}
	}
	if !e.made {
		e.made = true
		cgi.Variables(e.x, e.script, e)
	}
	return e
}

// Field adds a variable.
func (e *environment) Field(name, value []byte) {
	e.starts = append(e.starts, uint32(len(e.text)))
	e.text = append(append(append(e.text, name...), '='), value...)
	e.text = append(e.text, 0)
}

// Results of host functions, as WASI preview 1 numbers them.
const (
	success = 0
	fault   = 21
)

// exportEnvironment puts our functions for the environment in the place of the
// library's.
func exportEnvironment(b wazero.HostModuleBuilder) {
	pointers := []api.ValueType{api.ValueTypeI32, api.ValueTypeI32}
	result := []api.ValueType{api.ValueTypeI32}
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(environSizesGet), pointers, result).Export("environ_sizes_get")
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(environGet), pointers, result).Export("environ_get")
}

// environSizesGet tells how many variables there are, and their bytes.
func environSizesGet(ctx context.Context, module api.Module, stack []uint64) {
	e, memory := environmentOf(ctx), module.Memory()
	count, size := uint32(stack[0]), uint32(stack[1])
	stack[0] = success
	if memory == nil || !memory.WriteUint32Le(count, uint32(len(e.starts))) || !memory.WriteUint32Le(size, uint32(len(e.text))) {
		stack[0] = fault
	}
}

// environGet writes pointers to the variables, and the variables.
func environGet(ctx context.Context, module api.Module, stack []uint64) {
	e, memory := environmentOf(ctx), module.Memory()
	pointers, text := uint32(stack[0]), uint32(stack[1])
	stack[0] = success
	if memory == nil || !memory.Write(text, e.text) {
		stack[0] = fault
		return
	}
	for i, start := range e.starts {
		if !memory.WriteUint32Le(pointers+4*uint32(i), text+start) {
			stack[0] = fault
			return
		}
	}
}
