package wasm

import (
	"embed"
	"io/fs"
	"path"
	"strings"

	"github.com/weighstone/weighstone/handlers/script/wasm/wat"
)

//go:embed programs/*.wat
var programs embed.FS

// commonName is what all built-in programs begin with.
const commonName = "common"

// builtins is a file system of the built-in programs as modules, which are
// assembled when they are read: that takes a fraction of a millisecond.
type builtins struct{}

// Open opens nothing: modules are read whole.
func (builtins) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadFile assembles a program.
func (b builtins) ReadFile(name string) ([]byte, error) {
	base := strings.TrimSuffix(name, ".wasm")
	text, err := programs.ReadFile(path.Join("programs", base+".wat"))
	if err != nil || base == commonName {
		return nil, fs.ErrNotExist
	}
	common, err := programs.ReadFile(path.Join("programs", commonName+".wat"))
	if err != nil {
		return nil, err
	}
	return wat.Assemble(string(common), string(text))
}
