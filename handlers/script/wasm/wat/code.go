package wat

import (
	"fmt"
	"slices"
	"strings"
)

const (
	typeI32    = 0x7f
	typeEmpty  = 0x40
	opBlock    = 0x02
	opLoop     = 0x03
	opIf       = 0x04
	opElse     = 0x05
	opEnd      = 0x0b
	opI32Const = 0x41
)

// An immediate is what follows an opcode.
type immediate uint8

const (
	none immediate = iota
	label
	local
	global
	callee
	constant
	word   // memory access to four bytes: alignment 2, offset 0
	octet  // to one byte: alignment 0, offset 0
	memory // the number of the memory
	copies // two of those
)

// An instruction is how one is encoded and how many operands it takes, -1 for
// as many as there are.
type instruction struct {
	code     []byte
	imm      immediate
	operands int
}

// instructions returns those that are known, besides blocks.
func instructions() map[string]instruction {
	all := map[string]instruction{
		"unreachable": {[]byte{0x00}, none, 0}, "return": {[]byte{0x0f}, none, -1}, "drop": {[]byte{0x1a}, none, 1}, "select": {[]byte{0x1b}, none, 3},
		"br": {[]byte{0x0c}, label, 0}, "br_if": {[]byte{0x0d}, label, 1}, "call": {[]byte{0x10}, callee, -1},
		"local.get": {[]byte{0x20}, local, 0}, "local.set": {[]byte{0x21}, local, 1}, "local.tee": {[]byte{0x22}, local, 1},
		"global.get": {[]byte{0x23}, global, 0}, "global.set": {[]byte{0x24}, global, 1},
		"i32.load": {[]byte{0x28}, word, 1}, "i32.load8_u": {[]byte{0x2d}, octet, 1},
		"i32.store": {[]byte{0x36}, word, 2}, "i32.store8": {[]byte{0x3a}, octet, 2},
		"memory.size": {[]byte{0x3f}, memory, 0}, "memory.grow": {[]byte{0x40}, memory, 1}, "memory.copy": {[]byte{0xfc, 10}, copies, 3},
		"i32.const": {[]byte{opI32Const}, constant, 0}, "i32.eqz": {[]byte{0x45}, none, 1},
	}
	for code, name := range map[byte]string{
		0x46: "eq", 0x47: "ne", 0x48: "lt_s", 0x49: "lt_u", 0x4a: "gt_s", 0x4b: "gt_u", 0x4c: "le_s", 0x4d: "le_u", 0x4e: "ge_s", 0x4f: "ge_u",
		0x6a: "add", 0x6b: "sub", 0x6c: "mul", 0x6d: "div_s", 0x6e: "div_u", 0x6f: "rem_s", 0x70: "rem_u",
		0x71: "and", 0x72: "or", 0x73: "xor", 0x74: "shl", 0x75: "shr_s", 0x76: "shr_u",
	} {
		all["i32."+name] = instruction{[]byte{code}, none, 2}
	}
	return all
}

// An encoder encodes the instructions of one function.
type encoder struct {
	m      *module
	f      *function
	known  map[string]instruction
	labels []string // of the blocks around, innermost last
	out    []byte
}

// code encodes a function with its locals.
func (m *module) code(f *function) ([]byte, error) {
	e := &encoder{m: m, f: f, known: instructions(), out: []byte{0}}
	if f.more > 0 {
		e.out = append(appendUint([]byte{1}, uint32(f.more)), typeI32)
	}
	if err := e.all(f.body); err != nil {
		return nil, err
	}
	return append(e.out, opEnd), nil
}

func (e *encoder) all(nodes []node) error {
	for i := range nodes {
		if err := e.one(&nodes[i]); err != nil {
			return err
		}
	}
	return nil
}

// one encodes one folded instruction: its operands, then itself.
func (e *encoder) one(n *node) error {
	switch n.op() {
	case "block":
		return e.block(opBlock, n.list[1:])
	case "loop":
		return e.block(opLoop, n.list[1:])
	case "if":
		return e.branch(n)
	}
	in, ok := e.known[n.op()]
	if !ok {
		return fmt.Errorf("line %d: unknown instruction %q", n.line, n.op())
	}
	rest := n.list[1:]
	imm, rest, err := e.immediate(in.imm, rest, n)
	if err != nil {
		return err
	}
	if in.operands >= 0 && len(rest) != in.operands {
		return fmt.Errorf("line %d: %s takes %d operands, got %d", n.line, n.op(), in.operands, len(rest))
	}
	if err := e.all(rest); err != nil {
		return err
	}
	e.out = append(append(e.out, in.code...), imm...)
	return nil
}

// immediate encodes what belongs to the opcode, and returns the operands.
func (e *encoder) immediate(kind immediate, rest []node, n *node) (imm []byte, operands []node, err error) {
	switch kind {
	case none:
		return nil, rest, nil
	case word:
		return []byte{2, 0}, rest, nil
	case octet, copies:
		return []byte{0, 0}, rest, nil
	case memory:
		return []byte{0}, rest, nil
	}
	if len(rest) == 0 {
		return nil, nil, fmt.Errorf("line %d: %s lacks a name or number", n.line, n.op())
	}
	if kind == constant {
		v, err := number(rest[0])
		return appendInt(nil, v), rest[1:], err
	}
	index, ok := 0, false
	switch name := rest[0].word; kind {
	case label:
		index = slices.Index(reversed(e.labels), name)
		ok = index >= 0
	case local:
		index, ok = e.f.locals[name]
	case global:
		index, ok = e.m.globalIndex[name]
	case callee:
		index, ok = e.m.funcIndex[name]
	}
	if !ok {
		return nil, nil, fmt.Errorf("line %d: %s of an unknown %q", n.line, n.op(), rest[0].word)
	}
	return appendUint(nil, uint32(index)), rest[1:], nil
}

func reversed(s []string) []string {
	r := slices.Clone(s)
	slices.Reverse(r)
	return r
}

// block encodes a block or loop, which leaves no value.
func (e *encoder) block(op byte, rest []node) error {
	name := ""
	if len(rest) > 0 && strings.HasPrefix(rest[0].word, "$") {
		name, rest = rest[0].word, rest[1:]
	}
	e.out = append(e.out, op, typeEmpty)
	e.labels = append(e.labels, name)
	err := e.all(rest)
	e.labels = e.labels[:len(e.labels)-1]
	e.out = append(e.out, opEnd)
	return err
}

// branch encodes (if condition (then ..) (else ..)), which leaves no value.
func (e *encoder) branch(n *node) error {
	if len(n.list) < 3 || n.list[2].op() != "then" || len(n.list) > 4 || len(n.list) == 4 && n.list[3].op() != "else" {
		return fmt.Errorf("line %d: expected (if condition (then ..) (else ..))", n.line)
	}
	if err := e.one(&n.list[1]); err != nil {
		return err
	}
	e.out = append(e.out, opIf, typeEmpty)
	e.labels = append(e.labels, "")
	err := e.all(n.list[2].list[1:])
	if err == nil && len(n.list) == 4 {
		e.out = append(e.out, opElse)
		err = e.all(n.list[3].list[1:])
	}
	e.labels = e.labels[:len(e.labels)-1]
	e.out = append(e.out, opEnd)
	return err
}
