package helper

import (
	"bytes"
	"encoding/binary"
	"errors"
	"syscall"

	"github.com/weighstone/weighstone/cgi/spawn"
)

// Orders, the first byte of what a client sends.
const (
	orderStart   = 'S' // with what startSize and the strings say
	orderSignal  = 'K' // one more byte, the signal
	orderRelease = 'R' // the program that has ended is to be reaped
)

// Verdicts, the first byte of what the helper answers to a start.
const (
	verdictEnded  = 'E' // with the wait status
	verdictFailed = 'F' // with the errno
)

const (
	// startSize is the length of what comes before the strings: the order, a
	// bit for each descriptor that comes along, two bytes unused, the number of
	// arguments and the length of the strings, both in 32 bits.
	startSize = 12
	// verdictSize is that of a verdict: itself, three bytes unused, 32 bits.
	verdictSize = 8
	// maxStrings bounds the strings; execve(2) takes less.
	maxStrings = 4 << 20
)

// errNUL is for a string that no process can be given.
var errNUL = errors.New("a string holds a NUL")

// appendStart appends the order to start cmd with files, of which NoFile do not
// come along.
func appendStart(b []byte, cmd *spawn.Command, files [3]int) ([]byte, error) {
	var mask byte
	for i, fd := range files {
		if fd != spawn.NoFile {
			mask |= 1 << i
		}
	}
	begin := len(b)
	b = append(b, orderStart, mask, 0, 0)
	b = binary.NativeEndian.AppendUint32(b, uint32(len(cmd.Args)))
	b = binary.NativeEndian.AppendUint32(b, 0)
	text := len(b)
	for _, strings := range [][]string{{cmd.Path, cmd.Dir}, cmd.Args, cmd.Env} {
		for _, s := range strings {
			b = append(append(b, s...), 0)
		}
	}
	if n := bytes.Count(b[text:], []byte{0}); n != 2+len(cmd.Args)+len(cmd.Env) {
		return nil, errNUL
	}
	if len(b)-text > maxStrings {
		return nil, syscall.E2BIG
	}
	binary.NativeEndian.PutUint32(b[begin+8:], uint32(len(b)-text))
	return b, nil
}

// errOrder is for what no client of ours sends.
var errOrder = errors.New("malformed order")

// parseStart reads an order to start: n is its length, 0 when more of it is to
// come. The strings of cmd are copies.
func parseStart(b []byte) (cmd spawn.Command, mask byte, n int, err error) {
	if len(b) < startSize {
		return cmd, 0, 0, nil
	}
	args, size := binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[8:])
	if b[0] != orderStart || size > maxStrings || args > size {
		return cmd, 0, 0, errOrder
	}
	if n = startSize + int(size); len(b) < n {
		return cmd, 0, 0, nil
	}
	all := splitStrings(string(b[startSize:n]))
	if len(all) < 2+int(args) {
		return cmd, 0, 0, errOrder
	}
	cmd.Path, cmd.Dir = all[0], all[1]
	cmd.Args, cmd.Env = all[2:2+args], all[2+args:]
	return cmd, b[1], n, nil
}

// splitStrings cuts a text at its NULs, each of which ends a string.
func splitStrings(text string) (all []string) {
	for begin, i := 0, 0; i < len(text); i++ {
		if text[i] == 0 {
			all = append(all, text[begin:i])
			begin = i + 1
		}
	}
	return all
}

// verdict renders what became of a program.
func verdict(what byte, value uint32) (b [verdictSize]byte) {
	b[0] = what
	binary.NativeEndian.PutUint32(b[4:], value)
	return b
}
