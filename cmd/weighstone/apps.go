package main

import (
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"

	"github.com/weighstone/weighstone/cmd/internal/site"
	"github.com/weighstone/weighstone/handlers/gateway/upstream"
)

// appFlags are the flags of what is asked through FastCGI and SCGI.
type appFlags struct {
	FastCGI     []string `name:"fastcgi" sep:"none" placeholder:"PREFIX=ADDR" help:"Ask the FastCGI application at ADDR, unix:PATH or HOST:PORT, for what is below PREFIX. May be repeated."`
	SCGI        []string `name:"scgi" sep:"none" placeholder:"PREFIX=ADDR" help:"The same for an SCGI application."`
	Workers     int      `name:"fcgi-workers" default:"4" help:"Processes for each program that is started here."`
	Connections int      `name:"fcgi-connections" default:"16" help:"Connections to each application that is not."`
	Queue       int      `name:"fcgi-queue" default:"1024" help:"Requests that wait for an application while it is busy; the rest get 503."`
	PHP         string   `default:"cgi" enum:"cgi,fastcgi" help:"Run /hello.php and /phpinfo.php through cgi, or fastcgi."`
	Perl        string   `default:"cgi" enum:"cgi,fastcgi" help:"Run /hello.pl through cgi, or fastcgi as /perl/ always is."`
}

// reserved are the prefixes that no application can take.
var reserved = []string{"/api/", "/cgi-bin/", "/cgi-helper/", "/fcgi-bin/", "/scgi-bin/", "/perl/", "/db/", "/lua/", "/wasm/", "/server-status/"}

// check refuses what no value can mean.
func (f *appFlags) check() error {
	switch {
	case f.Workers < 1:
		return fmt.Errorf("--fcgi-workers: the value is too small")
	case f.Connections < 1:
		return fmt.Errorf("--fcgi-connections: the value is too small")
	case f.Queue < 0:
		return fmt.Errorf("--fcgi-queue: the value is too small")
	}
	seen := map[string]bool{}
	for _, m := range append(mounts("--fastcgi", f.FastCGI), mounts("--scgi", f.SCGI)...) {
		if err := m.check(); err != nil {
			return fmt.Errorf("%s %s: %w", m.flag, m.text, err)
		}
		if seen[m.prefix] {
			return fmt.Errorf("%s %s: %s is taken already", m.flag, m.text, m.prefix)
		}
		seen[m.prefix] = true
	}
	return nil
}

// A mount is a value of --fastcgi or --scgi.
type mount struct{ flag, text, prefix, address string }

func mounts(flag string, values []string) []mount {
	var all []mount
	for _, v := range values {
		prefix, address, _ := strings.Cut(v, "=")
		all = append(all, mount{flag, v, prefix, address})
	}
	return all
}

func (m *mount) check() error {
	if len(m.prefix) < 3 || m.prefix[0] != '/' || m.prefix[len(m.prefix)-1] != '/' {
		return fmt.Errorf("want PREFIX=ADDR, PREFIX a path that begins and ends with a slash")
	}
	for _, r := range reserved {
		if strings.HasPrefix(m.prefix, r) {
			return fmt.Errorf("%s is ours", r)
		}
	}
	if path, ok := strings.CutPrefix(m.address, "unix:"); ok && path != "" {
		return nil
	}
	if _, port, err := net.SplitHostPort(m.address); err != nil || port == "" {
		return fmt.Errorf("address %q is neither unix:PATH nor HOST:PORT", m.address)
	}
	return nil
}

// apps returns the choices as the site takes them.
func (f *appFlags) apps(log *slog.Logger) site.Apps {
	a := site.Apps{
		Programs: builtin("fcgi", log), Workers: f.Workers, Connections: f.Connections, Queue: f.Queue,
		Interpreters: f.interpreters(log),
	}
	for _, m := range mounts("", f.FastCGI) {
		a.Mounts = append(a.Mounts, site.Mount{Protocol: upstream.FastCGI, Prefix: m.prefix, Address: m.address})
	}
	for _, m := range mounts("", f.SCGI) {
		a.Mounts = append(a.Mounts, site.Mount{Protocol: upstream.SCGI, Prefix: m.prefix, Address: m.address})
	}
	return a
}

// interpreters says how scripts are run, and where they are.
func (f *appFlags) interpreters(log *slog.Logger) site.Interpreters {
	i := site.Interpreters{PHP: f.PHP, Perl: f.Perl, PHPDir: builtin("php", log), PerlDir: builtin("cgi", log)}
	if dir := builtin("perl", log); dir != "" {
		i.PerlHost = filepath.Join(dir, "perlhost.pl")
	}
	return i
}
