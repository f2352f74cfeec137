package main

import (
	"fmt"
	"net"
	"os"

	"github.com/weighstone/weighstone/internal/sys"
)

// listen returns the listeners of a predecessor, else opens one, or where each
// loop or process has its own as many as there are of these.
func (v *service) listen(workers int) ([]int, error) {
	fds, err := v.handoff.Listeners(listenerName)
	if err != nil {
		return fds, err
	}
	if len(fds) == 0 {
		n := 1
		if v.variant.Sockets || v.variant.Loops() && !v.variant.Acceptor && !v.cmd.Knobs.Exclusive {
			n = workers
		}
		if fds, err = openListeners(v.cmd.Addr, v.cmd.Backlog, n); err != nil {
			return fds, err
		}
	}
	if v.cmd.Knobs.DeferAccept {
		for _, fd := range fds {
			if err := sys.DeferAccept(fd, v.cmd.HeaderTimeout); err != nil {
				return fds, err
			}
		}
	}
	v.handoff.ShareListeners(listenerName, fds)
	return fds, nil
}

// openListeners opens n listeners on addr. More than one need SO_REUSEPORT,
// with which a port that is another server's can be bound too; so a plain one
// is tried first, and also settles which port 0 means.
func openListeners(addr string, backlog, n int) ([]int, error) {
	fd, err := sys.Listen(addr, backlog, false)
	if err != nil {
		return nil, err
	}
	if n == 1 {
		return []int{fd}, nil
	}
	addr = sys.LocalAddr(fd).String()
	sys.Close(fd)
	var fds []int
	for range n {
		fd, err := sys.Listen(addr, backlog, true)
		if err != nil {
			return fds, err
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

// checkAddr refuses what is no host:port. Whether the host is one of this
// machine, only listening can tell.
func checkAddr(flag, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fmt.Errorf("%s: expected host:port, but got %q", flag, addr)
	}
	return nil
}

// announce prints the one line that says where this process serves, and logs
// which routes lack something.
func (v *service) announce(s *streams) error {
	for _, lack := range v.about.Lacks() {
		v.log.Warn(lack.Why)
	}
	_, err := fmt.Fprintf(s.out, "weighstone %s ready http://%s pid %d\n", v.variant.Name, sys.LocalAddr(v.listeners[0]), os.Getpid())
	return err
}
