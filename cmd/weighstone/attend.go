package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// signals are what an operator can tell a serving process.
type signals struct {
	end, restart, reopen, empty chan os.Signal
}

func catchSignals() *signals {
	s := &signals{end: make(chan os.Signal, 2), restart: make(chan os.Signal, 1), reopen: make(chan os.Signal, 1), empty: make(chan os.Signal, 1)}
	signal.Notify(s.end, syscall.SIGTERM, syscall.SIGINT)
	signal.Notify(s.restart, syscall.SIGHUP)
	signal.Notify(s.reopen, syscall.SIGUSR1)
	signal.Notify(s.empty, syscall.SIGUSR2)
	return s
}

func (s *signals) stop() {
	signal.Stop(s.end)
	signal.Stop(s.restart)
	signal.Stop(s.reopen)
	signal.Stop(s.empty)
}

// errCut fails a server that was told twice to end, and so has cut off what
// was in flight.
var errCut = errors.New("ended at once, before all replies were sent")

// echo is how soon after the first the same signal to end is taken for an echo: timeout(1) and shells signal a process and then its whole group.
const echo = 50 * time.Millisecond

// attend waits for signals while the server serves, and drains it.
func (v *service) attend(sig *signals, served <-chan error) error {
	var restarts sync.WaitGroup
	defer restarts.Wait()
	for {
		select {
		case err := <-served:
			v.serving = false
			return err // it could not go on
		case <-sig.reopen:
			v.reopen()
		case <-sig.empty:
			v.emptyCache()
		case <-sig.restart:
			restarts.Go(v.restart)
		case first := <-sig.end:
			v.handoff.Stop()
			return v.drain(sig, served, first)
		case <-v.handoff.Replaced():
			v.log.Info("a successor serves; draining")
			v.closeAdmin() // the successor's answers count
			return v.drain(sig, served, nil)
		}
	}
}

// reopen opens the access log again, or has the workers do so.
func (v *service) reopen() {
	if master, ok := v.server.(interface{ Reopen() }); ok && v.cmd.AccessLog != "" {
		master.Reopen()
	}
	if v.access == nil {
		return
	}
	if err := v.access.Reopen(); err != nil {
		v.log.Error(err.Error())
		return
	}
	v.log.Info("the access log was opened again")
}

// emptyCache forgets the replies that are kept, where the variant keeps any.
func (v *service) emptyCache() {
	server, ok := v.server.(interface{ EmptyCache() })
	if !v.variant.Caches || !ok {
		v.log.Warn("no cache to empty: " + v.variant.Name + " keeps no replies")
		return
	}
	server.EmptyCache()
	v.log.Info("the cache of replies is empty")
}

func (v *service) restart() {
	if err := v.handoff.Restart(); err != nil {
		v.log.Error("not restarted; this process goes on serving", "reason", err)
	}
}

// drain ends the server gently, unless a signal comes or the time runs out.
// first is the signal that began it, nil if it was none.
func (v *service) drain(sig *signals, served <-chan error, first os.Signal) error {
	v.draining.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), v.cmd.Drain)
	defer cancel()
	drained := make(chan error, 1)
	go func() { drained <- v.server.Drain(ctx) }()
	told := time.Now()
	for {
		select {
		case second := <-sig.end:
			if second == first && time.Since(told) < echo {
				continue
			}
			return errCut
		case <-sig.reopen:
			v.reopen()
		case <-sig.empty:
			v.emptyCache()
		case <-sig.restart:
			v.log.Error("not restarted: this process is draining")
		case err := <-drained:
			// Handlers that were cut off may run on to the end of this process,
			// and count: nothing is taken from under them.
			v.serving = err != nil
			if err != nil {
				v.log.Warn("not all was sent in the time to drain", "error", err)
			}
			return <-served
		}
	}
}
