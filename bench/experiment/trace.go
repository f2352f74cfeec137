package experiment

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/load"
	"github.com/weighstone/weighstone/internal/proc"
)

// traceTime is how long a server is loaded while its system calls are counted.
const traceTime = 400 * time.Millisecond

// traced says whether the system calls of a cell are counted. With idle
// connections they are the same as without, and opening thousands under strace
// takes longer than the run; a fixed number of requests, or a server that fails
// some, is not about what one costs.
func (c *cell) traced() bool {
	return c.subject != nil && c.load.idle == 0 && c.load.requests == 0 && !c.load.limited && !c.load.open()
}

// traces counts the system calls of every cell, when all runs are over: never
// while anything is timed.
func (s *session) traces(ctx context.Context) error {
	for _, c := range s.design.cells() {
		if !c.traced() {
			continue
		}
		s.tell(StageTrace, c.name)
		calls, err := s.lab.trace(ctx, c)
		if ctx.Err() != nil {
			return errors.Join(errInterrupted, s.lab.down())
		}
		if err != nil {
			calls = &bench.Syscalls{Note: "system calls were not counted: " + err.Error()}
		}
		c.syscalls = calls
		s.clock.spent += traceCost
	}
	return s.lab.down()
}

// traceCost is what counting a cell's system calls takes, with the start.
const traceCost = traceTime + 400*time.Millisecond

// trace counts the system calls of a cell's server under the cell's load.
func (l *lab) trace(ctx context.Context, c *cell) (*bench.Syscalls, error) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return nil, errors.New("strace is not installed (Debian package strace)")
	}
	base, err := l.up(ctx, c.subject)
	if err != nil {
		return nil, err
	}
	pid, err := c.subject.Pid()
	if err != nil {
		return nil, err
	}
	p, err := c.plan(base)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(l.temp, "strace")
	defer os.Remove(out)
	tracer, err := l.attach(ctx, strace, out, pid)
	if err != nil {
		return nil, err
	}
	result, err := load.Run(ctx, load.Config{
		URL: base, Plan: p, Clients: c.load.clients, Keepalive: c.load.keepalive, HTTP10: c.load.http10, Heads: c.load.heads,
		Duration: traceTime, Timeout: l.patience, Workers: len(l.clientCPUs), CPUs: l.clientCPUs,
	})
	soon, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := errors.Join(err, tracer.Stop(soon), c.subject.Died()); err != nil {
		return nil, err
	}
	f, err := os.Open(out)
	if err != nil {
		return nil, fmt.Errorf("read what strace counted: %w", err)
	}
	defer f.Close()
	return syscallsOf(f, result.Good()+result.Bad())
}

// attach starts strace on a process with its threads and descendants, and
// returns when it has them.
func (l *lab) attach(ctx context.Context, strace, out string, pid int) (*proc.Process, error) {
	args := []string{"-c", "-f", "-o", out, "-p", strconv.Itoa(pid)}
	for _, child := range proc.Descendants(pid) {
		args = append(args, "-p", strconv.Itoa(child))
	}
	tracer, err := l.spawner.Start(proc.Command{Path: strace, Args: args, StopSignal: syscall.SIGINT})
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for !attached(pid) {
		select {
		case <-tracer.Done():
			return nil, tracer.Died()
		case <-limited.Done():
			now, stop := context.WithTimeout(context.Background(), time.Second)
			defer stop()
			return nil, errors.Join(fmt.Errorf("strace did not attach to process %d", pid), tracer.Stop(now))
		case <-time.After(10 * time.Millisecond):
		}
	}
	return tracer, nil
}

// attached says whether all threads of a process are traced.
func attached(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(raw), "TracerPid:\t0\n") {
			return false
		}
	}
	return len(files) > 0
}

// rarely is how seldom a system call may be a request to be left out.
const rarely = 0.001

// syscallsOf reads the table that strace -c writes.
func syscallsOf(r io.Reader, requests uint64) (*bench.Syscalls, error) {
	s := &bench.Syscalls{PerRequest: map[string]float64{}, Requests: requests}
	if requests == 0 {
		return nil, errors.New("no request was answered while they were counted")
	}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		// % time, seconds, usecs/call, calls, errors (may be empty), syscall
		words := strings.Fields(lines.Text())
		if len(words) != 5 && len(words) != 6 || words[len(words)-1] == "total" {
			continue
		}
		calls, err := strconv.ParseUint(words[3], 10, 64)
		if err != nil {
			continue // the headings
		}
		if per := float64(calls) / float64(requests); per >= rarely {
			s.PerRequest[words[len(words)-1]] = per
		}
	}
	if len(s.PerRequest) == 0 {
		return nil, errors.New("strace printed no table")
	}
	return s, nil
}
