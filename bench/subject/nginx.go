package subject

import (
	"fmt"
	"strings"
)

// nginx runs as one process without a master while it has one worker: the same
// loop, and nothing left behind when it is killed.
func nginx(_ string, s Setup) (Recipe, error) {
	if err := s.refuse("nginx", ""); err != nil {
		return Recipe{}, err
	}
	r := Recipe{
		Args:    func(_ int, config string) []string { return []string{"-c", config, "-e", "stderr"} },
		Modules: []string{"ngx_http_core"},
		Unequal: []string{"nginx has a cache of open files, sendfile and its own time-outs as its manual recommends; ours keeps small files in memory"},
	}
	if s.CGI != "" {
		w, err := wrapper()
		if err != nil {
			return Recipe{}, err
		}
		r.Apps, r.Uncounted = append(r.Apps, w), true
		r.Unequal = append(r.Unequal, "nginx can't run CGI programs: fcgiwrap runs them, asked through FastCGI, and does not wait for them, so that their CPU time is lost")
	}
	if s.CGI != "" || len(s.hosted()) > 0 {
		r.Modules = append(r.Modules, "ngx_http_fastcgi")
		if s.perRequest() {
			r.Unequal = append(r.Unequal, perRequest("nginx"))
		}
	}
	r.Config = func(port int, dir string) string { return nginxConfig(s, port, dir) }
	return r, nil
}

func nginxConfig(s Setup, port int, dir string) string {
	master := "off"
	if s.Workers > 1 {
		master = "on"
	}
	user := ""
	if s.Workers > 1 && isRoot() { // else workers become nobody, who can't read everybody's files
		user = "user root;\n"
	}
	log := "off"
	if s.AccessLog != "" {
		log = s.AccessLog + " common"
	}
	var places strings.Builder
	place := func(match, at, script string, more ...string) {
		fmt.Fprintf(&places, "\t\tlocation %s {\n\t\t\tfastcgi_pass %s;\n", match, at)
		for _, directive := range more {
			fmt.Fprintf(&places, "\t\t\t%s;\n", directive)
		}
		for _, p := range nginxParams() {
			fmt.Fprintf(&places, "\t\t\tfastcgi_param %s %s;\n", p[0], p[1])
		}
		if script != "" {
			fmt.Fprintf(&places, "\t\t\tfastcgi_param SCRIPT_FILENAME %s;\n", script)
		}
		places.WriteString("\t\t}\n")
	}
	if s.CGI != "" {
		place("~ ^/cgi-bin/(?<program>[^/]+)$", "unix:"+App{Name: "fcgiwrap"}.socket(dir), s.CGI+"/$program")
	}
	var kept strings.Builder // upstreams with kept connections
	for _, a := range s.Apps {
		if !a.Apart {
			place("= "+a.URL, "unix:"+a.socket(dir), "")
			continue
		}
		fmt.Fprintf(&kept, "\tupstream %s { server unix:%s; keepalive %d; keepalive_requests 1000000000; }\n", a.Name, a.socket(dir), a.processes())
		place("= "+a.URL, a.Name, "", "fastcgi_keep_conn on")
	}
	for _, x := range s.Scripts {
		place("~ ^/[^/]+\\"+x.Suffix+"$", "unix:"+x.Host.socket(dir), x.Dir+"$uri")
	}
	return fmt.Sprintf(`daemon off;
master_process %[4]s;
%[7]sworker_processes %[5]d;
worker_rlimit_nofile 16384;
error_log stderr warn;
pid %[2]s/pid;
events { worker_connections 16000; }
http {
	log_format common '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent';
	access_log %[6]s;
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
%[9]s	server {
		listen 127.0.0.1:%[1]d backlog=4096;
		root %[3]s;
%[8]s	}
}
`, port, dir, s.Root, master, s.Workers, log, user, places.String(), kept.String())
}

// nginxParams are the variables of CGI as nginx's own file fastcgi_params has
// them: by itself it sends an application none.
func nginxParams() [][2]string {
	return [][2]string{
		{"QUERY_STRING", "$query_string"}, {"REQUEST_METHOD", "$request_method"}, {"CONTENT_TYPE", "$content_type"},
		{"CONTENT_LENGTH", "$content_length"}, {"SCRIPT_NAME", "$fastcgi_script_name"}, {"REQUEST_URI", "$request_uri"},
		{"DOCUMENT_ROOT", "$document_root"}, {"SERVER_PROTOCOL", "$server_protocol"}, {"GATEWAY_INTERFACE", "CGI/1.1"},
		{"SERVER_SOFTWARE", "nginx/$nginx_version"}, {"REMOTE_ADDR", "$remote_addr"}, {"REMOTE_PORT", "$remote_port"},
		{"SERVER_ADDR", "$server_addr"}, {"SERVER_PORT", "$server_port"}, {"SERVER_NAME", "$server_name"},
	}
}
