package subject

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// isRoot says whether servers would change to another user.
func isRoot() bool { return os.Geteuid() == 0 }

func h2o(_ string, s Setup) (Recipe, error) {
	if err := s.refuse("h2o", ""); err != nil {
		return Recipe{}, err
	}
	r := Recipe{
		Args:    func(_ int, config string) []string { return []string{"-m", "worker", "-c", config} },
		Config:  func(port int, dir string) string { return h2oConfig(s, port, dir) },
		Modules: []string{"file"},
		Unequal: []string{"h2o sends a Date, ETag and Vary of its own accord: its replies are some 100 bytes longer than ours"},
	}
	if s.CGI != "" {
		w, err := wrapper()
		if err != nil {
			return Recipe{}, err
		}
		r.Apps, r.Uncounted = append(r.Apps, w), true
		r.Unequal = append(r.Unequal, "h2o can't run CGI programs: fcgiwrap runs them, asked through FastCGI, and does not wait for them, so that their CPU time is lost")
	}
	if s.CGI != "" || len(s.hosted()) > 0 {
		r.Modules = append(r.Modules, "fastcgi")
		r.Unequal = append(r.Unequal, perRequest("h2o"))
	}
	return r, nil
}

func h2oConfig(s Setup, port int, dir string) string {
	var b strings.Builder
	user := ""
	if isRoot() { // else it becomes nobody, who can't read everybody's files
		user = "user: root\n"
	}
	fmt.Fprintf(&b, `num-threads: %[3]d
%[4]smax-connections: 16000
listen:
  host: 127.0.0.1
  port: %[1]d
http1-request-timeout: 3600
`, port, s.Root, s.Workers, user)
	if s.AccessLog != "" {
		fmt.Fprintf(&b, "access-log:\n  path: \"%s\"\n  format: '%%h %%l %%u %%t \"%%r\" %%s %%b'\n", s.AccessLog)
	}
	fmt.Fprintf(&b, "hosts:\n  default:\n    paths:\n")
	connect := func(url, socket string) {
		fmt.Fprintf(&b, "      \"%s\":\n        fastcgi.connect:\n          port: \"%s\"\n          type: unix\n", url, socket)
	}
	// Each program and script has an entry: a path is no pattern.
	each := func(prefix, pattern, socket string) {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			connect(prefix+filepath.Base(f), socket)
			fmt.Fprintf(&b, "        setenv:\n          SCRIPT_FILENAME: \"%s\"\n", f)
		}
	}
	if s.CGI != "" {
		each("/cgi-bin/", filepath.Join(s.CGI, "*"), App{Name: "fcgiwrap"}.socket(dir))
	}
	for _, x := range s.Scripts {
		each("/", filepath.Join(x.Dir, "*"+x.Suffix), x.Host.socket(dir))
	}
	for _, a := range s.Apps {
		connect(a.URL, a.socket(dir))
	}
	fmt.Fprintf(&b, "      \"/\":\n        file.dir: \"%s\"\n", s.Root)
	return b.String()
}
