package process

import (
	"fmt"
	"runtime"
	"time"
)

// tick is how often an elastic number of workers is thought over.
const tick = 100 * time.Millisecond

// shrinkEvery is how long there are too many idle workers before one of them
// ends, and then the next: Apache's second.
const shrinkEvery = time.Second

// cutGrace is how long workers that were told to end at once may take to write
// their logs, before they are killed.
const cutGrace = time.Second

// run is the life of the master. It returns when no worker is left.
func (s *server) run() error {
	runtime.LockOSThread() // see spawn
	defer runtime.UnlockOSThread()
	if s.acceptor != nil {
		s.accept()
	}
	s.adjust(time.Now())
	drain, cut := s.drain, s.cut
	var kill <-chan time.Time
	for !s.finished() {
		next := time.NewTimer(s.rest(time.Now()))
		select {
		case e := <-s.events:
			s.heed(e)
		case conn := <-s.next():
			s.pending = append(s.pending, conn)
		case err := <-s.accepted:
			s.accepting = false
			if err != nil {
				s.fail(err)
			}
		case <-next.C:
		case <-s.reopen:
			s.reopenLogs()
		case <-drain:
			drain = nil
			if s.acceptor != nil {
				s.stopAccepting()
			}
			s.end(msgDrain)
		case <-cut:
			cut, s.over = nil, true
			s.end(msgCut)
			kill = time.After(cutGrace)
		case <-kill:
			for _, c := range s.children {
				c.kill()
			}
		}
		next.Stop()
		s.adjust(time.Now())
	}
	return s.err
}

func (s *server) finished() bool {
	return s.draining && len(s.children) == 0 && len(s.pending) == 0 && !s.accepting
}

// idleRest is how long the master sleeps when nothing but an event changes
// anything.
const idleRest = time.Hour

// rest is when to think the number of workers over, at the latest.
func (s *server) rest(now time.Time) time.Duration {
	wait := s.backoff.wait(now)
	switch {
	case wait > 0 && len(s.pending) > 0:
		return wait
	case s.draining:
		return idleRest
	case wait > 0:
		return wait
	case s.acceptor == nil && s.model.bounds.elastic():
		return tick
	}
	return idleRest
}

// adjust starts the workers that are missing and ends one that is too many.
func (s *server) adjust(now time.Time) {
	if s.acceptor != nil {
		s.launch(now)
		return
	}
	starting := !s.begun && len(s.children) > 0 // and the first workers tell whether any can live
	if s.draining || starting || s.backoff.wait(now) > 0 {
		return
	}
	want := s.model.bounds.start
	if s.begun {
		want = s.model.bounds.change(s.count())
	}
	if want > 0 {
		s.changed = now
	}
	if want < 0 && now.Sub(s.changed) >= shrinkEvery {
		s.changed = now
		s.dismiss()
	}
	for range want {
		c, err := s.spawn(s.vacancy(), noConn)
		if err != nil {
			s.spawnFailed(now, err)
			return
		}
		s.children[c.position] = c
	}
}

// count returns how many workers there are, and how many of these could take a
// connection: those that are just starting among them.
func (s *server) count() (live, idle int) {
	for _, c := range s.children {
		live++
		if !c.ending && c.idle() {
			idle++
		}
	}
	return live, idle
}

// vacancy is the first position without a worker.
func (s *server) vacancy() int {
	for i := 0; ; i++ {
		if s.children[i] == nil {
			return i
		}
	}
}

// dismiss has the last idle worker end.
func (s *server) dismiss() {
	var last *child
	for _, c := range s.children {
		if c.ready && !c.ending && c.idle() && (last == nil || c.position > last.position) {
			last = c
		}
	}
	if last != nil {
		last.ending = true
		last.tell(msgRetire)
	}
}

// spawnFailed rests after a worker could not be started, or gives up when none
// ever was.
func (s *server) spawnFailed(now time.Time, err error) {
	if !s.begun {
		s.fail(err)
		return
	}
	s.backoff.pause(now)
	s.log.Error(err.Error(), "next_try_in", s.backoff.wait(now))
}

// fail ends a master that can't begin.
func (s *server) fail(err error) {
	if s.err == nil {
		s.err = err
	}
	s.end(msgDrain)
}

// end tells all workers to end, and replaces none any more.
func (s *server) end(msg byte) {
	s.draining = true
	for _, c := range s.children {
		c.ending = true
	}
	s.broadcast(msg)
}

func (s *server) broadcast(msg byte) {
	for _, c := range s.children {
		c.tell(msg)
	}
}

// heed does what an event asks for.
func (s *server) heed(e event) {
	c := e.child
	switch e.what {
	case msgReady:
		c.ready = true
		s.begin()
	case msgReopened:
		c.reopening = false
		s.reopened()
	case gone:
		c.control.Close()
		delete(s.children, c.position)
		s.board.Return(c.slot)
		if s.acceptor != nil {
			s.acceptor.Release()
			s.backoff.until = time.Time{} // there may be room now for what waits
		}
		s.mourn(c)
		s.reopened()
	}
}

// reopenLogs has every worker open the access log again.
func (s *server) reopenLogs() {
	s.reopening = true
	for _, c := range s.children {
		c.reopening = true
	}
	s.broadcast(msgReopen)
	s.reopened()
}

// reopened tells when no worker writes to the old access log any more.
func (s *server) reopened() {
	for _, c := range s.children {
		if c.reopening {
			return
		}
	}
	if s.reopening {
		s.reopening = false
		s.log.Info("the access log was opened again")
	}
}

// begin tells, once, when all of the first workers serve.
func (s *server) begin() {
	for _, c := range s.children {
		if !c.ready {
			return
		}
	}
	if s.begun || s.draining {
		return
	}
	s.begun = true
	if s.options.Worker.Started != nil {
		s.options.Worker.Started()
	}
}

// mourn takes note of a worker that has ended without having been told to, or
// badly.
func (s *server) mourn(c *child) {
	if c.ending || s.acceptor != nil {
		if c.status.Signaled() || c.status.ExitStatus() != 0 {
			s.log.Warn("a worker ended badly", "pid", c.pid, "fate", c.fate())
			if !s.over { // else it was ended
				s.board.Crashed()
			}
		}
		return
	}
	s.board.Crashed()
	if !s.begun {
		s.fail(fmt.Errorf("worker %d ended before it served: %s", c.pid, c.fate()))
		return
	}
	now := time.Now()
	s.backoff.died(now, now.Sub(c.started))
	s.log.Error("a worker died and is replaced", "pid", c.pid, "fate", c.fate(), "in", s.backoff.wait(now))
}
