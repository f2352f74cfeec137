package subject

import (
	"cmp"
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
	Package string // of Debian 12, that brings it; two names for some
	// Keeps says after which replies it keeps a connection, if asked to.
	Keeps Keeps

	program string
	library string   // pattern of a file that the program needs; empty for none
	version []string // arguments that make it print its version; nil if none does
	recipe  func(path string, s Setup) (Recipe, error)
}

// A Keeps is after which replies a server keeps a connection.
type Keeps int

// The kinds of servers.
const (
	KeepsAll   Keeps = iota
	KeepsFiles       // not after the reply of a program
	KeepsNone
)

// Connection says whether the connection is kept after a reply, that of a
// program or a file.
func (k Keeps) Connection(program bool) bool { return k == KeepsAll || k == KeepsFiles && !program }

// Peers returns the real servers that are known here.
func Peers() []Peer {
	return []Peer{
		{Name: "nginx", Package: "nginx", program: "nginx", version: []string{"-v"}, recipe: nginx},
		{Name: "lighttpd", Package: "lighttpd", program: "lighttpd", version: []string{"-v"}, recipe: lighttpdOn("linux-sysepoll")},
		{Name: "lighttpd-poll", Package: "lighttpd", program: "lighttpd", version: []string{"-v"}, recipe: lighttpdOn("poll")},
		{Name: "h2o", Package: "h2o", program: "h2o", version: []string{"--version"}, recipe: h2o},
		{Name: "apache-event", Package: "apache2", program: "apache2", version: []string{"-v"}, recipe: apacheOn("event")},
		{Name: "apache-worker", Package: "apache2", program: "apache2", version: []string{"-v"}, recipe: apacheOn("worker")},
		{Name: "apache-prefork", Package: "apache2", program: "apache2", version: []string{"-v"}, recipe: apacheOn("prefork")},
		{Name: "yaws", Package: "yaws", program: "yaws", version: []string{"--version"}, recipe: yaws},
		{Name: "webrick", Package: "ruby ruby-webrick", program: "ruby", library: webrickGem, version: []string{"-e", `require "webrick"; puts "WEBrick #{WEBrick::VERSION}, Ruby #{RUBY_VERSION}"`}, recipe: webrick},
		{Name: "mini-httpd", Package: "mini-httpd", Keeps: KeepsNone, program: "mini_httpd", version: []string{"-V"}, recipe: miniHTTPD},
		{Name: "webfs", Package: "webfs", Keeps: KeepsFiles, program: "webfsd", recipe: webfs},
		{Name: "caddy", Package: "caddy", program: "caddy", version: []string{"version"}, recipe: caddy},
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
func (p Peer) Here() (path string, err error) {
	if path, err = look(p.program, p.Package); err != nil {
		return "", err
	}
	if found, _ := filepath.Glob(p.library); p.library != "" && len(found) == 0 {
		return "", fmt.Errorf("%s is %w (%s)", p.library, ErrMissing, Source(p.Package))
	}
	return path, nil
}

// Source is a sentence's part about Debian packages, whose names have a blank
// between them.
func Source(packages string) string {
	if names := strings.Fields(packages); len(names) > 1 {
		return "Debian packages " + strings.Join(names, " and ")
	}
	return "Debian package " + packages
}

// Version returns the first line that the program at path says of itself, or
// Debian of its package.
func (p Peer) Version(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, path, p.version...)
	if len(p.version) == 0 {
		command = exec.CommandContext(ctx, "dpkg-query", "--show", p.Package)
	}
	out, _ := command.CombinedOutput() // some end with an error after it
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.Join(strings.Fields(first), " ")
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
	r.Name, r.Path, r.Version, r.Source = p.Name, cmp.Or(r.Path, path), p.Version(path), "the "+Source(p.Package)
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
			return "", fmt.Errorf("%s is %w (%s)", program, ErrMissing, Source(pkg))
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
