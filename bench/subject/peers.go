package subject

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Peer is a real server that is measured beside ours where it is installed.
type Peer struct {
	Name    string
	Package string // of Debian, that brings it
	// Keepalive is false for a server that closes its connection after each
	// reply, whatever the client asks for.
	Keepalive bool

	program string
	version []string // arguments that make it print its version
	recipe  func(path string, s Setup) (Recipe, error)
}

// Peers returns the real servers that are known here.
func Peers() []Peer {
	return []Peer{
		{"nginx", "nginx", true, "nginx", []string{"-v"}, nginx},
		{"lighttpd", "lighttpd", true, "lighttpd", []string{"-v"}, lighttpdOn("linux-sysepoll")},
		{"lighttpd-poll", "lighttpd", true, "lighttpd", []string{"-v"}, lighttpdOn("poll")},
		{"h2o", "h2o", true, "h2o", []string{"--version"}, h2o},
		{"apache-event", "apache2", true, "apache2", []string{"-v"}, apacheOn("event")},
		{"apache-worker", "apache2", true, "apache2", []string{"-v"}, apacheOn("worker")},
		{"apache-prefork", "apache2", true, "apache2", []string{"-v"}, apacheOn("prefork")},
	}
}

// FindPeer returns the real server of a name.
func FindPeer(name string) (Peer, error) {
	var names []string
	for _, p := range Peers() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Peer{}, fmt.Errorf("no subject %q: there are %s, and NAME=URL for a server that runs already", name, strings.Join(names, ", "))
}

// Here returns the path of the peer's program. It fails with [ErrMissing],
// naming the package.
func (p Peer) Here() (path string, err error) { return look(p.program, p.Package) }

// Version returns the first line that the program at path says of itself.
func (p Peer) Version(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, path, p.version...).CombinedOutput()
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first
}

// Find returns the recipe of a peer that serves what s says. It fails with
// [ErrMissing] when the program or a module that s asks for is not installed,
// naming the package, and with [ErrUnable] when the server can't do it.
func (p Peer) Find(s Setup) (Recipe, error) {
	path, err := p.Here()
	if err != nil {
		return Recipe{}, err
	}
	if s, err = s.absolute(); err != nil {
		return Recipe{}, err
	}
	r, err := p.recipe(path, s)
	if err != nil {
		return Recipe{}, err
	}
	r.Name, r.Path, r.Version, r.Source = p.Name, path, p.Version(path), "the Debian package "+p.Package
	for _, a := range s.hosted() {
		if !slices.ContainsFunc(r.Apps, func(b App) bool { return a.Name == b.Name }) {
			r.Apps = append(r.Apps, a)
		}
	}
	return r, nil
}

// look returns the path of a program, which may be where Debian puts servers.
func look(program, pkg string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		if path, err = exec.LookPath(filepath.Join("/usr/sbin", program)); err != nil {
			return "", fmt.Errorf("%s is %w (Debian package %s)", program, ErrMissing, pkg)
		}
	}
	return path, nil
}

// A Module is a part of a real server, or a program beside it, that a setup may
// ask for.
type Module struct {
	Name, Package string
	pattern       string // of its file
}

// Modules returns what setups may need beside the servers.
func Modules() []Module {
	return []Module{
		{"mod_php", "libapache2-mod-php", apacheModules + "/libphp*.so"},
		{"mod_perl", "libapache2-mod-perl2", apacheModules + "/mod_perl.so"},
		{"fcgiwrap", "fcgiwrap", "/usr/sbin/fcgiwrap"},
	}
}

// Here returns the path of the module's file. It fails with [ErrMissing],
// naming the package.
func (m Module) Here() (path string, err error) {
	found, _ := filepath.Glob(m.pattern)
	if len(found) == 0 {
		return "", fmt.Errorf("%s is %w (Debian package %s)", m.Name, ErrMissing, m.Package)
	}
	return found[len(found)-1], nil
}

func module(name string) (path string, err error) {
	for _, m := range Modules() {
		if m.Name == name {
			return m.Here()
		}
	}
	return "", fmt.Errorf("%s is %w", name, ErrMissing)
}
