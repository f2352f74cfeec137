package testproc

import (
	"bytes"
	"sync"
)

// A Journal keeps what several goroutines write, as a log or the output of a
// process. The zero value is empty.
type Journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the journal. It never fails.
func (j *Journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// String is all that was written.
func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}
