package subject

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// yawsCode is where Debian has the server's modules.
const yawsCode = "/usr/lib/yaws/ebin"

// yaws is started as its own start script does it, without a shell and without
// a name in the network: then nothing else runs beside it.
func yaws(_ string, s Setup) (Recipe, error) {
	if err := s.refuse("Yaws", "a way to ask FastCGI applications on a Unix socket"); err != nil {
		return Recipe{}, err
	}
	erl, err := look("erl", "erlang-base")
	if err != nil {
		return Recipe{}, err
	}
	r := Recipe{
		Path: erl,
		Args: func(_ int, config string) []string {
			return []string{"-noshell", "-noinput", "+K", "true", "+S", fmt.Sprintf("%[1]d:%[1]d", s.Workers),
				"-pa", yawsCode, "-yaws", "conf", `"` + config + `"`, "-s", "yaws", "start"}
		},
		Config:  func(port int, dir string) string { return yawsConfig(s, port, dir) },
		Prepare: func(port int, dir string) error { return yawsFiles(s, port, dir) },
		// On SIGTERM it takes a second to end.
		StopSignal: syscall.SIGQUIT,
		// It keeps a control file below the home directory.
		Env:     func(dir string) []string { return []string{"HOME=" + dir} },
		Modules: []string{"yaws_server"},
		Unequal: []string{fmt.Sprintf("Yaws has a lightweight process for each connection, on %d schedulers of Erlang, and keeps small files in memory as ours does", s.Workers)},
	}
	if s.CGI != "" {
		r.Modules = append(r.Modules, "yaws_appmod_cgi")
	}
	return r, nil
}

func yawsConfig(s Setup, port int, dir string) string {
	root, programs := s.Root, ""
	if s.CGI != "" {
		root, programs = tree(dir), "\tappmods = <cgi-bin, yaws_appmod_cgi>\n"
	}
	return fmt.Sprintf(`logdir = %[2]s
max_connections = nolimit
keepalive_maxuses = nolimit
keepalive_timeout = infinity
acceptor_pool_size = 8
trace = false
copy_error_log = false
log_wrap_size = 0
log_resolve_hostname = false
fail_on_bind_err = true
pick_first_virthost_on_nomatch = true
max_num_cached_files = 4000
max_num_cached_bytes = 104857600
max_size_cached_file = 1048576
cache_refresh_secs = 3600
<server localhost>
	port = %[1]d
	listen = 127.0.0.1
	listen_backlog = 4096
	docroot = %[3]s
	access_log = %[4]t
	auth_log = false
	index_files = index.html
%[5]s</server>
`, port, dir, root, s.AccessLog != "", programs)
}

// yawsFiles makes the tree, and leads the access log, whose name Yaws makes up,
// to where it is wanted.
func yawsFiles(s Setup, port int, dir string) error {
	if s.CGI != "" {
		if err := plant(s, dir); err != nil {
			return err
		}
	}
	if s.AccessLog == "" {
		return nil
	}
	return os.Symlink(s.AccessLog, filepath.Join(dir, fmt.Sprintf("localhost:%d.access", port)))
}

// tree is the document root, below a server's own directory, of servers whose
// programs must be in it.
func tree(dir string) string { return filepath.Join(dir, "tree") }

// plant makes that: links to all that is in the root, and to the programs.
func plant(s Setup, dir string) error {
	entries, err := os.ReadDir(s.Root)
	if err != nil {
		return err
	}
	links := map[string]string{"cgi-bin": s.CGI}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			links[e.Name()] = filepath.Join(s.Root, e.Name())
		}
	}
	if err := os.Mkdir(tree(dir), 0o755); err != nil {
		return err
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(tree(dir), name)); err != nil {
			return err
		}
	}
	return nil
}
