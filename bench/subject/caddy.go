package subject

import (
	"fmt"
	"strings"
)

func caddy(_ string, s Setup) (Recipe, error) {
	if err := s.refuse("Caddy", ""); err != nil {
		return Recipe{}, err
	}
	r := Recipe{
		Args: func(_ int, config string) []string {
			return []string{"run", "--config", config, "--adapter", "caddyfile"}
		},
		Config: func(port int, dir string) string { return caddyConfig(s, port, dir) },
		Env: func(dir string) []string {
			return []string{fmt.Sprintf("GOMAXPROCS=%d", s.Workers), "HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}
		},
		Modules: []string{"http.handlers.file_server"},
		Unequal: []string{"Caddy opens the file for each request: it has no cache of them; GOMAXPROCS is its number of workers"},
	}
	if s.CGI != "" {
		w, err := wrapper()
		if err != nil {
			return Recipe{}, err
		}
		r.Apps, r.Uncounted = append(r.Apps, w), true
		r.Unequal = append(r.Unequal, "Caddy can't run CGI programs: fcgiwrap runs them, asked through FastCGI, and does not wait for them, so that their CPU time is lost")
	}
	if s.CGI != "" || len(s.hosted()) > 0 {
		r.Modules = append(r.Modules, "http.reverse_proxy.transport.fastcgi")
		r.Unequal = append(r.Unequal, perRequest("Caddy"))
	}
	if s.AccessLog != "" {
		r.Unequal = append(r.Unequal, "Caddy writes its access log in JSON: it has no common format")
	}
	return r, nil
}

func caddyConfig(s Setup, port int, dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{
	admin off
	auto_https off
	log {
		output stderr
		level WARN
	}
	servers {
		timeouts {
			idle 1h
		}
	}
}
http://127.0.0.1:%d {
	bind 127.0.0.1
	root * %s
`, port, s.Root)
	if s.AccessLog != "" {
		fmt.Fprintf(&b, "\tlog {\n\t\toutput file %s {\n\t\t\troll_disabled\n\t\t}\n\t\tlevel INFO\n\t}\n", s.AccessLog)
	}
	// A path is cut after its first split, and without one at its start.
	pass := func(socket, root, split string) {
		const indent = "\t\t"
		fmt.Fprintf(&b, "%[1]sreverse_proxy unix/%[2]s {\n%[1]s\ttransport fastcgi {\n", indent, socket)
		if root != "" {
			fmt.Fprintf(&b, "%[1]s\t\troot %[2]s\n%[1]s\t\tsplit %[3]s\n", indent, root, split)
		}
		fmt.Fprintf(&b, "%[1]s\t}\n%[1]s}\n", indent)
	}
	if s.CGI != "" {
		b.WriteString("\thandle_path /cgi-bin/* {\n")
		pass(App{Name: "fcgiwrap"}.socket(dir), s.CGI, ".cgi")
		b.WriteString("\t}\n")
	}
	for _, a := range s.Apps {
		fmt.Fprintf(&b, "\thandle %s {\n", a.URL)
		pass(a.socket(dir), "", "")
		b.WriteString("\t}\n")
	}
	for _, x := range s.Scripts {
		name := strings.TrimPrefix(x.Suffix, ".")
		fmt.Fprintf(&b, "\t@%s path_regexp ^/[^/]+\\%s$\n\thandle @%[1]s {\n", name, x.Suffix)
		pass(x.Host.socket(dir), x.Dir, x.Suffix)
		b.WriteString("\t}\n")
	}
	b.WriteString("\thandle {\n\t\tfile_server\n\t}\n}\n")
	return b.String()
}
