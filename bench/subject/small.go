package subject

import (
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
)

// miniHTTPD forks for each connection, and closes it after the reply.
func miniHTTPD(_ string, s Setup) (Recipe, error) {
	if err := s.refuse("mini-httpd", "a way to ask FastCGI applications"); err != nil {
		return Recipe{}, err
	}
	r := Recipe{
		StopSignal: syscall.SIGUSR2, // those that it catches end it with status 1
		Args:       func(_ int, config string) []string { return []string{"-D", "-C", config} },
		Config:     func(port int, dir string) string { return miniConfig(s, port, dir) },
		Modules:    []string{"files"},
		Unequal: []string{
			"mini-httpd has a process for each connection and no keep-alive: it is measured with one connection a request only",
			"mini-httpd has its backlog compiled in: 1,024 connections, where the others have 4,096",
		},
	}
	if s.CGI != "" {
		r.Modules = append(r.Modules, "cgi")
		r.Prepare = func(_ int, dir string) error { return plant(s, dir) }
	}
	if s.AccessLog != "" {
		r.Unequal = append(r.Unequal, "mini-httpd writes its access log in the combined format, and no line for a CGI program")
	}
	return r, nil
}

func miniConfig(s Setup, port int, dir string) string {
	text := fmt.Sprintf("host=127.0.0.1\nport=%d\npidfile=%s/pid\n", port, dir)
	if isRoot() { // else it becomes nobody, who can't read everybody's files
		text += "user=root\n"
	}
	if s.AccessLog != "" {
		text += "logfile=" + s.AccessLog + "\n"
	}
	if s.CGI != "" {
		return text + "cgipat=cgi-bin/*\ndir=" + tree(dir) + "\n"
	}
	return text + "dir=" + s.Root + "\n"
}

// webfs is a single process around select.
func webfs(_ string, s Setup) (Recipe, error) {
	if err := s.refuse("webfs", "a way to ask FastCGI applications"); err != nil {
		return Recipe{}, err
	}
	if s.Workers > 1 {
		return Recipe{}, unable("webfs", "more than one process")
	}
	r := Recipe{
		Args:    func(port int, config string) []string { return webfsArgs(s, port, config) },
		Config:  func(int, string) string { return "text/html html\n" }, // its table of MIME types
		Modules: []string{"files"},
		Unequal: []string{"webfs waits with select: it has at most 1,000 connections"},
	}
	if s.CGI != "" {
		r.Modules = append(r.Modules, "cgi")
		r.Prepare = func(_ int, dir string) error { return plant(s, dir) }
		r.Unequal = append(r.Unequal, "webfs closes the connection after the reply of a CGI program",
			"webfs does not wait for CGI programs, so that their CPU time is lost")
		r.Uncounted = true
	}
	return r, nil
}

func webfsArgs(s Setup, port int, config string) []string {
	args := []string{"-F", "-4", "-i", "127.0.0.1", "-p", strconv.Itoa(port), "-n", "localhost", "-f", "index.html", "-j", "-m", config, "-c", "1000", "-t", "3600"}
	if s.AccessLog != "" {
		args = append(args, "-l", s.AccessLog)
	}
	if s.CGI != "" {
		return append(args, "-r", tree(filepath.Dir(config)), "-x", "/cgi-bin")
	}
	return append(args, "-r", s.Root)
}
