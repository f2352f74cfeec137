package wat

import (
	"bytes"
	"context"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
)

// TestBytes: a module as WebAssembly 1.0 section 5.5 spells it, byte by byte.
func TestBytes(t *testing.T) {
	b, err := Assemble(`
		(import "m" "f" (func $f (param i32) (result i32))) ;; a comment
		(memory (export "mem") 2)
		(global $g (mut i32) (i32.const -65))
		(func $add (export "a") (param $x i32) (param $y i32) (result i32) (local $z i32)
		  (local.set $z (i32.add (local.get $x) (local.get $y)))
		  (return (call $f (local.get $z))))
		(data (i32.const 300) "a\0a\n\"")`)
	if err != nil {
		t.Fatal(err)
	}
	want := "0061736d01000000" +
		"010c" + "02" + "60017f017f" + "60027f7f017f" +
		"0207" + "01" + "016d" + "0166" + "0000" +
		"0302" + "01" + "01" +
		"0503" + "01" + "0002" +
		"0607" + "01" + "7f01" + "41bf7f" + "0b" +
		"070b" + "02" + "036d656d" + "0200" + "0161" + "0001" +
		"0a12" + "01" + "10" + "01017f" + "20002001" + "6a" + "2102" + "2002" + "1000" + "0f" + "0b" +
		"0b0b" + "01" + "00" + "41ac02" + "0b" + "04" + "610a0a22"
	if got := hex.EncodeToString(b); got != want {
		t.Errorf("\n%s, want\n%s", got, want)
	}
}

func TestBlocks(t *testing.T) {
	b, err := Assemble(`(func (param $n i32)
		(block $out (loop $again
		  (br_if $out (i32.eqz (local.get $n)))
		  (if (local.get $n) (then (br $again)) (else (br $out))))))`)
	if err != nil {
		t.Fatal(err)
	}
	const want = "0240" + "0340" + "2000450d01" + "20000440" + "0c01" + "05" + "0c02" + "0b" + "0b" + "0b" + "0b"
	if got := hex.EncodeToString(b); !bytes.HasSuffix([]byte(got), []byte(want)) {
		t.Errorf("%s does not end in %s", got, want)
	}
}

func TestMistakes(t *testing.T) {
	for _, text := range []string{
		`(`, `)`, `(func`, `x`, `""`, `(what)`, `(func (nop))`, `(func (i32.add (i32.const 1)))`, `(func (local.get $x))`, `(func (call $f))`, `(func (br $l))`,
		`(func (i32.const x))`, `(func (i32.const 4294967296))`, `(func (i32.const))`, `(func $f) (func $f)`, `(func (param $a i64))`, `(func (param $a i32) (local $a i32))`,
		`(func (if (i32.const 1)))`, `(func (if (i32.const 1) (else)))`, `(memory)`, `(memory 1) (memory 1)`, `(memory x)`, `(global $g i32)`, `(data "x")`, `(data (i32.const 0) x)`,
		`(data (i32.const 0) "\zz")`, `(data (i32.const 0) "\0")`, `(data (i32.const 0) "x`, `(func) (import "a" "b" (func))`, `(import "a" "b")`, `(import a "b" (func))`,
		`(func (export x))`, `(func (export "a" "b"))`, "\x00", `(func "x")`, `(func ())`, `(memory (export "m"))`,
	} {
		if b, err := Assemble(text); err == nil {
			t.Errorf("%s: %x, want an error", text, b)
		}
	}
}

// TestPrograms: the sample programs are modules for another's parser, and, if
// there is another assembler, for that too.
func TestPrograms(t *testing.T) {
	common, err := os.ReadFile("../programs/common.wat")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	for _, name := range []string{"echo", "hello", "mirror", "send"} {
		text, err := os.ReadFile("../programs/" + name + ".wat")
		if err != nil {
			t.Fatal(err)
		}
		b, err := Assemble(string(common), string(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 2000 {
			t.Errorf("%s has %d bytes", name, len(b))
		}
		if _, err := r.CompileModule(ctx, b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		other, err := exec.LookPath("wat2wasm")
		if err != nil {
			continue // no other is needed: the parser above has judged
		}
		file := filepath.Join(t.TempDir(), "x.wat")
		if err := os.WriteFile(file, []byte("(module\n"+string(common)+string(text)+")\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(other, file, "-o", filepath.Join(t.TempDir(), "x.wasm")).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// FuzzAssemble: no text makes the assembler panic.
func FuzzAssemble(f *testing.F) {
	for _, name := range []string{"common", "echo", "send"} {
		text, err := os.ReadFile("../programs/" + name + ".wat")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`(func (export "a") (param $x i32) (if (local.get $x) (then (drop (i32.const -1)))))`)
	f.Fuzz(func(t *testing.T, text string) { Assemble(text) })
}
