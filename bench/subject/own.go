package subject

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
)

// Weighstone is the recipe for a variant of the weighstone program at binary,
// with further flags of its serve command.
func Weighstone(binary, variant string, flags ...string) Recipe {
	return Recipe{
		Name: variant,
		Path: binary,
		Args: func(port int, _ string) []string {
			return append([]string{"serve", variant, "--addr", fmt.Sprintf("127.0.0.1:%d", port)}, flags...)
		},
		Announces: true,
		Version:   Digest(binary),
	}
}

// WeighstoneAsking is the recipe for one of our servers that asks an application
// that is apart, at its path.
func WeighstoneAsking(app App, binary, variant string, flags ...string) Recipe {
	r := Weighstone(binary, variant, flags...)
	plain := r.Args
	r.Config = func(int, string) string { return "" } // for a directory, where the socket is
	r.Args = func(port int, config string) []string {
		prefix := path.Dir(app.URL) + "/"
		return append(plain(port, config), "--fastcgi", prefix+"=unix:"+app.socket(filepath.Dir(config)), "--fcgi-connections", strconv.Itoa(app.processes()))
	}
	r.Apps = []App{app}
	return r
}

// Floor is the recipe for one of the floor programs, which answer everything
// with file, on kept connections or (closing) one connection a request. It is
// called as [FloorName] says.
func Floor(program, file string, closing bool) Recipe {
	return Recipe{
		Name: FloorName(filepath.Base(program)),
		Path: program,
		Args: func(port int, _ string) []string {
			args := []string{strconv.Itoa(port), file}
			if closing {
				args = append([]string{"-c"}, args...)
			}
			return args
		},
		Announces: true,
		Version:   Digest(program),
	}
}

// FloorName is what the floor program of this name is called in results: the
// event loop is the floor, the others are floors of their architectures.
func FloorName(program string) string {
	if program == "floor" {
		return program
	}
	return "floor of " + program
}

// Digest names a program that has no version by its bytes.
func Digest(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "unknown"
	}
	return "sha256 " + hex.EncodeToString(h.Sum(nil)[:6])
}
