package subject

import (
	"fmt"
	"strings"
	"syscall"
)

// lighttpdOn returns the adapter of lighttpd with an event handler:
// linux-sysepoll or poll, the two that the study of 2005 set beside each other.
func lighttpdOn(handler string) func(string, Setup) (Recipe, error) {
	return func(_ string, s Setup) (Recipe, error) {
		if err := s.refuse("lighttpd", ""); err != nil {
			return Recipe{}, err
		}
		modules := []string{"mod_indexfile"} // the order is that in which they are asked
		unequal := []string{"lighttpd answers at most 65,535 requests on a kept connection, and closes it then"}
		if s.CGI != "" {
			modules = append(modules, "mod_alias", "mod_cgi")
		}
		if len(s.hosted()) > 0 {
			modules = append(modules, "mod_fastcgi")
			unequal = append(unequal, perRequest("lighttpd"))
		}
		modules = append(modules, "mod_staticfile")
		if s.AccessLog != "" {
			modules = append(modules, "mod_accesslog")
		}
		return Recipe{
			StopSignal: syscall.SIGINT, // after SIGTERM it ends with status 1 if a connection was open
			Args:       func(_ int, config string) []string { return []string{"-D", "-f", config} },
			Config:     func(port int, dir string) string { return lighttpdConfig(s, handler, modules, port, dir) },
			Modules:    modules, Unequal: unequal,
		}, nil
	}
}

func lighttpdConfig(s Setup, handler string, modules []string, port int, dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `server.bind = "127.0.0.1"
server.port = %d
server.document-root = "%s"
server.modules = ( "%s" )
server.event-handler = "%s"
server.max-fds = 16384
server.max-connections = 8000
server.listen-backlog = 4096
server.max-keep-alive-requests = 65535
server.max-keep-alive-idle = 3600
index-file.names = ( "index.html" )
mimetype.assign = ( ".html" => "text/html" )
`, port, s.Root, strings.Join(modules, `", "`), handler)
	if s.Workers > 1 {
		fmt.Fprintf(&b, "server.max-worker = %d\n", s.Workers)
	}
	if s.AccessLog != "" {
		fmt.Fprintf(&b, "accesslog.filename = \"%s\"\naccesslog.format = \"%%h %%l %%u %%t \\\"%%r\\\" %%>s %%b\"\n", s.AccessLog)
	}
	if s.CGI != "" {
		fmt.Fprintf(&b, "$HTTP[\"url\"] =~ \"^/cgi-bin/\" {\n\talias.url = ( \"/cgi-bin/\" => \"%s/\" )\n\tcgi.assign = ( \"\" => \"\" )\n}\n", s.CGI)
	}
	for _, a := range s.Apps {
		fmt.Fprintf(&b, "$HTTP[\"url\"] == \"%[1]s\" {\n\tfastcgi.server = ( \"%[1]s\" => (( \"socket\" => \"%[2]s\", \"check-local\" => \"disable\" )) )\n}\n", a.URL, a.socket(dir))
	}
	for _, x := range s.Scripts {
		fmt.Fprintf(&b, "$HTTP[\"url\"] =~ \"^/[^/]+\\%[1]s$\" {\n\tserver.document-root = \"%[2]s\"\n\tfastcgi.server = ( \"%[1]s\" => (( \"socket\" => \"%[3]s\" )) )\n}\n", x.Suffix, x.Dir, x.Host.socket(dir))
	}
	return b.String()
}
