package site

import (
	"errors"
	"fmt"

	"github.com/weighstone/weighstone/handlers/gateway/upstream"
)

// A Mount is an application that somebody else runs.
type Mount struct {
	Protocol upstream.Protocol
	Prefix   string // of the paths that it answers
	Address  string // unix:PATH or HOST:PORT
}

// Apps says what is asked through FastCGI and SCGI.
type Apps struct {
	Programs    string  // directory of the built-in programs, or empty
	Mounts      []Mount // applications that somebody else runs
	Workers     int     // processes for each program
	Connections int     // to each application that somebody else runs, at most
	Queue       int     // requests that wait for an application, at most

	Interpreters Interpreters
}

// openApps makes the gateways to applications. o is what they have in common.
func (c *Content) openApps(a Apps, o upstream.Options) error {
	o.Workers, o.Connections, o.Queue = a.Workers, a.Connections, a.Queue
	if o.Queue == 0 {
		o.Queue = -1
	}
	for _, p := range []struct {
		protocol upstream.Protocol
		prefix   string
	}{{upstream.FastCGI, "/fcgi-bin/"}, {upstream.SCGI, "/scgi-bin/"}} {
		if a.Programs == "" {
			break // a Lack answers
		}
		o.Protocol = p.protocol
		if err := c.add(upstream.NewPrograms(o, p.prefix, a.Programs)); err != nil {
			return err
		}
	}
	for _, m := range a.Mounts {
		o.Protocol = m.Protocol
		if err := c.add(upstream.NewMount(o, m.Prefix, m.Address)); err != nil {
			return fmt.Errorf("%s=%s: %w", m.Prefix, m.Address, err)
		}
	}
	o.Protocol = upstream.FastCGI
	return c.openInterpreters(a.Interpreters, o)
}

// closeGateways ends all programs.
func (c *Content) closeGateways() error {
	var errs []error
	for _, g := range c.gateways {
		errs = append(errs, g.Close())
	}
	return errors.Join(errs...)
}
