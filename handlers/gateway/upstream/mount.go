package upstream

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
	"github.com/weighstone/weighstone/handlers/gateway"
)

// A Mount answers by an application that somebody else runs.
type Mount struct {
	prefix string
	app    *app
	files  gateway.Dirs // DOCUMENT_ROOT
	root   string
	barren atomic.Int64 // nothing is below root there until then, in Unix nanoseconds
}

// NewMount makes a gateway to the application at address, "unix:PATH" or
// "HOST:PORT", for what is below prefix. Nothing is connected until the first
// request. Its owner closes it after the last exchange.
//
// Where the path leads to a file below o.Root, as interpreters like php-fpm
// expect, that is SCRIPT_FILENAME, and SCRIPT_NAME its path; what follows is
// PATH_INFO. Else SCRIPT_NAME is the prefix, and SCRIPT_FILENAME where the
// file would be.
func NewMount(o Options, prefix, address string) (*Mount, error) {
	if !strings.HasPrefix(prefix, "/") || !strings.HasSuffix(prefix, "/") {
		return nil, fmt.Errorf("mount application: prefix %q does not begin and end with a slash", prefix)
	}
	network, at := "tcp", address
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		network, at = "unix", path
	} else if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("mount application: address %q is neither unix:PATH nor HOST:PORT", address)
	}
	if at == "" {
		return nil, fmt.Errorf("mount application: address %q has no path", address)
	}
	m := &Mount{prefix: prefix}
	o = o.filled()
	if o.Root != "" {
		var err error
		if m.files, err = gateway.OpenDirs(o.Root); err != nil {
			return nil, fmt.Errorf("mount application: %w", err)
		}
		if m.root, err = filepath.Abs(o.Root); err != nil {
			return nil, fmt.Errorf("mount application: %w", err)
		}
	}
	m.app = newApp(address, &o, gateway.NewHost(o.Protocol.String(), o.Log, o.Site), network, at)
	return m, nil
}

// Routes returns the routes to put into a site.
func (m *Mount) Routes() []weighstone.Route {
	const all = weighstone.GET | weighstone.HEAD | weighstone.POST | weighstone.PUT | weighstone.DELETE | weighstone.PATCH
	return []weighstone.Route{route(m.prefix, all, m)}
}

// Serve answers x by the application.
func (m *Mount) Serve(x *weighstone.Exchange) { m.app.serve(x, m.script(x)) }

// Park parks x.
func (m *Mount) Park(x *weighstone.Exchange, wake func()) weighstone.Parked {
	return m.app.park(x, m.script(x), wake)
}

// script returns what x's path leads to.
func (m *Mount) script(x *weighstone.Exchange) cgi.Script {
	path := string(x.In.Path)
	script := cgi.Script{Interface: cgi.Interface, Root: m.root}
	end := 0
	if m.fertile() {
		end = m.files.File(path[1:])
	}
	if end > 0 {
		end++
		script.Name, script.Info = path[:end], path[end:]
		script.File = m.root + script.Name
	} else {
		end = len(m.prefix) - 1
		script.Name, script.Info = path[:end], path[end:]
		if m.root != "" {
			script.File = m.root + path
		}
	}
	return script
}

// fertile says whether a path below the prefix may lead to a file. That there is
// not even a directory is the rule, and looked at once a second.
func (m *Mount) fertile() bool {
	now := time.Now()
	if now.UnixNano() < m.barren.Load() {
		return false
	}
	if m.prefix == "/" || m.files.Has(strings.Trim(m.prefix, "/")) {
		return true
	}
	m.barren.Store(now.Add(time.Second).UnixNano())
	return false
}

// Close hangs up. Requests that are at work go on.
func (m *Mount) Close() error {
	m.app.close()
	m.files.Close()
	return nil
}
