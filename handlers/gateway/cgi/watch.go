package cgi

import (
	"os"
	"time"

	"github.com/weighstone/weighstone/handlers/gateway"
)

// Watch starts the goroutines that watch over a program that takes its time:
// one for the time limit and the client, one for its end, one for its
// standard error. The goroutine of the exchange calls it.
func (r *run) Watch() {
	if r.watched {
		return
	}
	r.watched = true
	var errs *os.File
	if r.p.Stderr >= 0 {
		errs = os.NewFile(uintptr(r.p.Stderr), "stderr of a script")
		r.p.Stderr = -1
		r.logging.Add(1)
		go func() {
			defer r.logging.Done()
			r.copyErrors(errs)
		}()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !r.p.Await(time.Now().Add(time.Hour)) {
		}
	}()
	go r.oversee(ended, errs)
}

// oversee waits for the end of the program, and brings it about when the time
// limit is reached or the client is gone.
func (r *run) oversee(ended <-chan struct{}, errs *os.File) {
	gateway.Watch{Limit: r.limit, Gone: r.gone, Detached: r.detached, Progress: &r.progress, Kill: r.Kill}.Until(ended)
	r.bury(errs)
}

// bury waits a moment for whoever reads the output, then ends the rest of the
// group, so that the output ends, and reaps the program.
func (r *run) bury(errs *os.File) {
	t := time.NewTimer(straggle)
	defer t.Stop()
	if _, reaped := r.p.Reaped(); !reaped && !r.isKilled() {
		select {
		case <-t.C:
		case <-r.detached:
		}
	}
	r.mu.Lock()
	if r.state == running {
		r.state = draining
		r.p.Stdout.SetReadDeadline(time.Now()) // wakes a reader, who then looks
	}
	r.mu.Unlock()
	r.p.Kill()
	r.p.Reap()
	if errs != nil {
		errs.SetReadDeadline(time.Now().Add(straggle))
		r.logging.Wait()
		errs.Close()
	}
	r.ended()
}
