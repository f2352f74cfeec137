package subject

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Setup says what the real servers are to serve, and with what: the same for
// each, under the URLs at which ours has the same bytes. Paths are made
// absolute by [Peer.Find]. The zero value of every field but Root serves.
type Setup struct {
	Root string // directory of the files, at /

	// CGI is a directory of programs, at /cgi-bin/, which run for a request
	// each.
	CGI string
	// Apps are FastCGI applications, each at a path of its own.
	Apps []App
	// Scripts are in languages that stay loaded.
	Scripts []Scripts

	// Workers is the number of event loops, or of processes with threads;
	// 0 means 1.
	Workers int
	// Connections is how many connections are served at once by a server that
	// needs a process or a thread for each; 0 means 64.
	Connections int

	// AccessLog is the file of the access log, in the common format; empty:
	// none is written. Errors go to standard error in any case, of which
	// [Subject.Said] has the last lines.
	AccessLog string
	// Override has the server look for a file .htaccess in every directory
	// along the path, as Apache does.
	Override bool
	// CGID has Apache's prefork use mod_cgid, as its threaded siblings do, in
	// place of mod_cgi.
	CGID bool
}

// An App is a FastCGI application (FastCGI specification 1.0, section 2.2):
// programs that answer on the listening socket that is their standard input.
// They are started before the server, share one socket, and end after it; what
// they use counts as the server's.
type App struct {
	Name string // of the socket, without a slash
	URL  string // the path that it answers; empty for one that runs scripts
	Path string // of the program
	Args []string
	Env  []string // added to those of this process
	// Processes is how many there are, each with one request at a time;
	// 0 means 4, which is what ours start.
	Processes int
	// Apart has the processes run on cores of their own
	// ([Options.AppCPUs]), and what they use count as nobody's: for weighing
	// what asking them costs. There must be one for each connection, since the
	// server is to keep those.
	Apart bool
}

// String is the application as facts have it.
func (a App) String() string {
	return fmt.Sprintf("%d x %s", a.processes(), strings.Join(append([]string{a.Path}, a.Args...), " "))
}

func (a App) processes() int { return cmp.Or(a.Processes, 4) }

// socket is the name of the application's socket for a server whose own files
// are in dir.
func (a App) socket(dir string) string { return filepath.Join(dir, a.Name+".sock") }

// Scripts are files of one language, answered at /NAME.SUFFIX.
type Scripts struct {
	Suffix string // ".php" or ".pl"
	Dir    string
	// Host is the FastCGI application that runs them. Without a Path the
	// server's own interpreter does: mod_php or mod_perl.
	Host App
}

// PHP is the application that runs scripts of PHP: php-cgi, with so many
// processes.
func PHP(processes int) (App, error) {
	path, err := look("php-cgi", "php-cgi")
	return App{Name: "php", Path: path, Processes: processes,
		// By default it ends after 500 requests, and starts processes of its own.
		Env: []string{"PHP_FCGI_MAX_REQUESTS=0", "PHP_FCGI_CHILDREN=0"}}, err
}

// Perl is the application that keeps scripts of Perl compiled: perl with the
// program at host, and so many processes.
func Perl(host string, processes int) (App, error) {
	path, err := look("perl", "perl")
	return App{Name: "perl", Path: path, Args: []string{host}, Processes: processes}, err
}

// wrapper is the application that runs CGI programs for servers which can't:
// fcgiwrap, with processes for as many requests at once as a study of CGI has
// clients.
func wrapper() (App, error) {
	path, err := look("fcgiwrap", "fcgiwrap")
	return App{Name: "fcgiwrap", Path: path, Processes: 8}, err
}

// ErrMissing says that a program or module is not installed; the error that
// wraps it names the Debian package.
var ErrMissing = errors.New("not installed")

// ErrUnable says that a server has no way to do what a setup asks for.
var ErrUnable = errors.New("lacks")

func unable(server, what string) error {
	return fmt.Errorf("%s %w %s", server, ErrUnable, what)
}

// refuse says that a server can't do what s asks for: it has neither an
// interpreter nor override files; and, unless it is empty, what it lacks for
// applications.
func (s *Setup) refuse(server, forApps string) error {
	switch {
	case s.inside():
		return unable(server, "an interpreter of PHP or Perl scripts in its process")
	case s.Override:
		return unable(server, "override files in directories")
	case forApps != "" && len(s.hosted()) > 0:
		return unable(server, forApps)
	}
	return nil
}

// perRequest says whether connections to applications can't be kept.
func (s *Setup) perRequest() bool {
	return s.CGI != "" || slices.ContainsFunc(s.hosted(), func(a App) bool { return !a.Apart })
}

// perRequest is what real servers have in common: many processes at one socket
// are asked by connections that end, or a kept one would hold a process idle
// while others wait.
func perRequest(server string) string {
	return server + " opens a connection to the application for each request, where ours keeps one to each of its processes; and it may pass on " +
		"what a program says in chunks"
}

// absolute returns s with defaults for its numbers and with absolute paths,
// since servers change their directory.
func (s Setup) absolute() (Setup, error) {
	s.Workers, s.Connections = cmp.Or(s.Workers, 1), cmp.Or(s.Connections, 64)
	var err error
	abs := func(path *string) {
		if *path != "" && err == nil {
			*path, err = filepath.Abs(*path)
		}
	}
	abs(&s.Root)
	abs(&s.CGI)
	abs(&s.AccessLog)
	s.Apps, s.Scripts = append([]App(nil), s.Apps...), append([]Scripts(nil), s.Scripts...)
	for i := range s.Apps {
		abs(&s.Apps[i].Path)
	}
	for i := range s.Scripts {
		abs(&s.Scripts[i].Dir)
	}
	if err != nil {
		return s, fmt.Errorf("set up a server: %w", err)
	}
	paths := []string{s.Root, s.CGI, s.AccessLog}
	for _, x := range s.Scripts {
		paths = append(paths, x.Dir)
	}
	for _, path := range paths {
		// Such a character would end the path in some configuration.
		if strings.ContainsAny(path, "\"'\\$;{}\n ") {
			return s, fmt.Errorf("set up a server: the path %q has a character that configurations take for something else", path)
		}
	}
	if info, err := os.Stat(s.Root); err != nil || !info.IsDir() {
		return s, fmt.Errorf("set up a server: %s is not a directory", s.Root)
	}
	return s, nil
}

// hosted are the applications of a setup, those that run scripts included.
func (s *Setup) hosted() []App {
	all := append([]App(nil), s.Apps...)
	for _, x := range s.Scripts {
		if x.Host.Path != "" {
			all = append(all, x.Host)
		}
	}
	return all
}

// inside says whether scripts are to run in the server's process.
func (s *Setup) inside() bool {
	for _, x := range s.Scripts {
		if x.Host.Path == "" {
			return true
		}
	}
	return false
}
