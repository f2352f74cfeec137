package wat

import (
	"errors"
	"fmt"
	"strings"
)

// A module is what the fields of the texts come to.
type module struct {
	types   []string // encoded, each once
	imports []byte
	nimport int
	funcs   []*function
	memory  []byte
	globals []byte
	exports []byte
	data    []byte

	nglobal, nexport, ndata int
	funcIndex, globalIndex  map[string]int
}

// A function is one that the module defines.
type function struct {
	kind   int // index of its type
	body   []node
	locals map[string]int
	params int
	more   int // locals beside the parameters
	line   int
}

// Assemble makes a module of the fields in all texts together. Imports come
// first.
func Assemble(texts ...string) ([]byte, error) {
	m := &module{funcIndex: map[string]int{}, globalIndex: map[string]int{}}
	for _, text := range texts {
		fields, err := read(text)
		if err != nil {
			return nil, fmt.Errorf("assemble: %w", err)
		}
		for i := range fields {
			if err := m.field(&fields[i]); err != nil {
				return nil, fmt.Errorf("assemble: line %d: %w", fields[i].line, err)
			}
		}
	}
	b, err := m.encode()
	if err != nil {
		return nil, fmt.Errorf("assemble: %w", err)
	}
	return b, nil
}

// field takes in one field of the module.
func (m *module) field(n *node) error {
	switch n.op() {
	case "import":
		return m.addImport(n)
	case "memory":
		return m.addMemory(n)
	case "global":
		return m.addGlobal(n)
	case "data":
		return m.addData(n)
	case "func":
		return m.addFunc(n)
	}
	return fmt.Errorf("unknown field %q", n.op())
}

// addImport takes (import "module" "name" (func $name (param ..) (result ..))).
func (m *module) addImport(n *node) error {
	if len(n.list) != 4 || n.list[3].op() != "func" {
		return errors.New("expected (import \"module\" \"name\" (func ..))")
	}
	if len(m.funcs) > 0 {
		return errors.New("an import after a function")
	}
	from, err := unquote(n.list[1])
	if err != nil {
		return err
	}
	name, err := unquote(n.list[2])
	if err != nil {
		return err
	}
	f, own, _, err := m.signature(n.list[3].list[1:])
	if err != nil {
		return err
	}
	m.imports = appendString(appendString(m.imports, from), name)
	m.imports = appendUint(append(m.imports, 0), uint32(f.kind))
	if err := m.name(m.funcIndex, own, m.nimport); err != nil {
		return err
	}
	m.nimport++
	return nil
}

// addMemory takes (memory (export "name") pages).
func (m *module) addMemory(n *node) error {
	if m.memory != nil || len(n.list) < 2 {
		return errors.New("expected one (memory pages)")
	}
	pages, err := number(n.list[len(n.list)-1])
	if err != nil {
		return err
	}
	m.memory = appendUint([]byte{0}, uint32(pages))
	return m.export(n.list[1:len(n.list)-1], 2, 0)
}

// export takes (export "name") fields of something of a kind.
func (m *module) export(fields []node, kind byte, index int) error {
	for _, f := range fields {
		if f.op() != "export" || len(f.list) != 2 {
			return errors.New("expected (export \"name\")")
		}
		name, err := unquote(f.list[1])
		if err != nil {
			return err
		}
		m.exports = appendUint(append(appendString(m.exports, name), kind), uint32(index))
		m.nexport++
	}
	return nil
}

// addGlobal takes (global $name (mut i32) (i32.const n)).
func (m *module) addGlobal(n *node) error {
	if len(n.list) != 4 || n.list[2].op() != "mut" || n.list[3].op() != "i32.const" || len(n.list[3].list) != 2 {
		return errors.New("expected (global $name (mut i32) (i32.const n))")
	}
	v, err := number(n.list[3].list[1])
	if err != nil {
		return err
	}
	m.globals = append(appendInt(append(m.globals, typeI32, 1, opI32Const), v), opEnd)
	m.nglobal++
	return m.name(m.globalIndex, n.list[1].word, m.nglobal-1)
}

// addData takes (data (i32.const at) "bytes" ..).
func (m *module) addData(n *node) error {
	if len(n.list) < 3 || n.list[1].op() != "i32.const" || len(n.list[1].list) != 2 {
		return errors.New("expected (data (i32.const at) \"bytes\")")
	}
	at, err := number(n.list[1].list[1])
	if err != nil {
		return err
	}
	var all strings.Builder
	for _, part := range n.list[2:] {
		s, err := unquote(part)
		if err != nil {
			return err
		}
		all.WriteString(s)
	}
	m.data = append(appendInt(append(m.data, 0, opI32Const), at), opEnd)
	m.data = appendString(m.data, all.String())
	m.ndata++
	return nil
}

// addFunc takes (func $name (export "name") (param ..) (result ..) (local ..) instructions).
func (m *module) addFunc(n *node) error {
	f, name, exports, err := m.signature(n.list[1:])
	if err != nil {
		return err
	}
	f.line = n.line
	index := m.nimport + len(m.funcs)
	m.funcs = append(m.funcs, f)
	if err := m.name(m.funcIndex, name, index); err != nil {
		return err
	}
	return m.export(exports, 0, index)
}

// signature takes what stands before a function's instructions.
func (m *module) signature(fields []node) (f *function, name string, exports []node, err error) {
	f = &function{locals: map[string]int{}}
	if len(fields) > 0 && fields[0].list == nil {
		name, fields = fields[0].word, fields[1:]
	}
	results := 0
	for ; len(fields) > 0; fields = fields[1:] {
		switch n := &fields[0]; n.op() {
		case "export":
			exports = append(exports, *n)
			continue
		case "param", "local":
			count := n.op() == "param"
			for _, w := range n.list[1:] {
				if strings.HasPrefix(w.word, "$") {
					if err := m.name(f.locals, w.word, f.params+f.more); err != nil {
						return nil, "", nil, err
					}
				} else if w.word != "i32" {
					return nil, "", nil, fmt.Errorf("unknown type %q", w.word)
				} else if count {
					f.params++
				} else {
					f.more++
				}
			}
			continue
		case "result":
			results = len(n.list) - 1
			continue
		}
		break
	}
	f.body = fields
	f.kind = m.kind(f.params, results)
	return f, name, exports, nil
}

// kind returns the index of a type.
func (m *module) kind(params, results int) int {
	b := appendUint([]byte{0x60}, uint32(params))
	for range params {
		b = append(b, typeI32)
	}
	b = appendUint(b, uint32(results))
	for range results {
		b = append(b, typeI32)
	}
	for i, t := range m.types {
		if t == string(b) {
			return i
		}
	}
	m.types = append(m.types, string(b))
	return len(m.types) - 1
}

// name gives an index a name, unless that is empty.
func (m *module) name(names map[string]int, name string, index int) error {
	if name == "" {
		return nil
	}
	if !strings.HasPrefix(name, "$") {
		return fmt.Errorf("expected a name that begins with $, got %q", name)
	}
	if _, ok := names[name]; ok {
		return fmt.Errorf("%s is there twice", name)
	}
	names[name] = index
	return nil
}

// encode renders the module (WebAssembly 1.0 section 5.5).
func (m *module) encode() ([]byte, error) {
	var kinds, codes, types []byte
	for _, t := range m.types {
		types = append(types, t...)
	}
	for _, f := range m.funcs {
		kinds = appendUint(kinds, uint32(f.kind))
		code, err := m.code(f)
		if err != nil {
			return nil, err
		}
		codes = append(appendUint(codes, uint32(len(code))), code...)
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range []struct {
		id      byte
		n       int
		content []byte
	}{
		{1, len(m.types), types}, {2, m.nimport, m.imports}, {3, len(m.funcs), kinds}, {5, min(len(m.memory), 1), m.memory},
		{6, m.nglobal, m.globals}, {7, m.nexport, m.exports}, {10, len(m.funcs), codes}, {11, m.ndata, m.data},
	} {
		if s.n > 0 {
			content := append(appendUint(nil, uint32(s.n)), s.content...)
			out = append(appendUint(append(out, s.id), uint32(len(content))), content...)
		}
	}
	return out, nil
}

// appendUint appends a number in LEB128.
func appendUint(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// appendInt appends a signed number in LEB128.
func appendInt(b []byte, v int32) []byte {
	for v < -64 || v >= 64 {
		b = append(b, byte(v)&0x7f|0x80)
		v >>= 7
	}
	return append(b, byte(v)&0x7f)
}

// appendString appends a string with its length before it.
func appendString(b []byte, s string) []byte {
	return append(appendUint(b, uint32(len(s))), s...)
}
