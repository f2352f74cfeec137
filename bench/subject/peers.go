package subject

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// A Peer is a real server that is measured beside ours where it is installed.
type Peer struct {
	Name    string
	Package string // of Debian, that brings it
	version []string
	recipe  func(path, root string) Recipe
}

// Peers returns the real servers that are known here.
func Peers() []Peer {
	return []Peer{
		{"nginx", "nginx", []string{"-v"}, nginx},
		{"lighttpd", "lighttpd", []string{"-v"}, lighttpd},
		{"h2o", "h2o", []string{"--version"}, h2o},
	}
}

// Find returns the recipe of a peer that serves root, with one process and one
// event loop. It fails, naming the package, when the program is neither on
// PATH nor where Debian puts servers.
func (p Peer) Find(root string) (Recipe, error) {
	path, err := exec.LookPath(p.Name)
	if err != nil {
		if path, err = exec.LookPath(filepath.Join("/usr/sbin", p.Name)); err != nil {
			return Recipe{}, fmt.Errorf("%s is not installed (Debian package %s)", p.Name, p.Package)
		}
	}
	if root, err = filepath.Abs(root); err != nil {
		return Recipe{}, fmt.Errorf("find %s: %w", p.Name, err)
	}
	r := p.recipe(path, root)
	r.Name, r.Path = p.Name, path
	out, _ := exec.Command(path, p.version...).CombinedOutput()
	r.Version, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	return r, nil
}

// nginx runs as one process without a master: the same loop, and nothing left
// behind when it is killed.
func nginx(_, root string) Recipe {
	return Recipe{
		Args: func(_ int, config string) []string { return []string{"-c", config, "-e", "stderr"} },
		Config: func(port int, dir string) string {
			return fmt.Sprintf(`daemon off;
master_process off;
worker_processes 1;
worker_rlimit_nofile 16384;
error_log stderr warn;
pid %[2]s/pid;
events { worker_connections 16000; }
http {
	access_log off;
	server_tokens off;
	default_type text/html;
	sendfile on;
	tcp_nodelay on;
	open_file_cache max=4000 inactive=3600s;
	open_file_cache_valid 3600s;
	keepalive_timeout 3600s;
	keepalive_requests 1000000000;
	client_body_temp_path %[2]s/body;
	proxy_temp_path %[2]s/proxy;
	fastcgi_temp_path %[2]s/fastcgi;
	uwsgi_temp_path %[2]s/uwsgi;
	scgi_temp_path %[2]s/scgi;
	server {
		listen 127.0.0.1:%[1]d backlog=4096;
		root %[3]s;
	}
}
`, port, dir, root)
		},
	}
}

func lighttpd(_, root string) Recipe {
	return Recipe{
		StopSignal: syscall.SIGINT, // after SIGTERM it ends with status 1 if a connection was open
		Args:       func(_ int, config string) []string { return []string{"-D", "-f", config} },
		Config: func(port int, _ string) string {
			return fmt.Sprintf(`server.bind = "127.0.0.1"
server.port = %d
server.document-root = "%s"
server.modules = ()
server.event-handler = "linux-sysepoll"
server.max-fds = 16384
server.max-connections = 8000
server.listen-backlog = 4096
server.max-keep-alive-requests = 65535
server.max-keep-alive-idle = 3600
index-file.names = ( "index.html" )
mimetype.assign = ( ".html" => "text/html" )
`, port, root)
		},
	}
}

func h2o(_, root string) Recipe {
	user := ""
	if os.Getuid() == 0 { // else it becomes nobody, who can't read everybody's files
		user = "user: root\n"
	}
	return Recipe{
		Args: func(_ int, config string) []string { return []string{"-m", "worker", "-c", config} },
		Config: func(port int, _ string) string {
			return fmt.Sprintf(`num-threads: 1
%[3]smax-connections: 16000
listen:
  host: 127.0.0.1
  port: %[1]d
http1-request-timeout: 3600
hosts:
  default:
    paths:
      "/":
        file.dir: "%[2]s"
`, port, root, user)
		},
	}
}
