package subject

import (
	"fmt"
	"path/filepath"
	"strings"
)

// apacheModules is where Debian has the modules.
const apacheModules = "/usr/lib/apache2/modules"

// An apache is one configuration of the server.
type apache struct {
	Setup
	mpm     string
	modules []loaded
}

// A loaded is a module with its file.
type loaded struct{ name, file string }

// apacheOn returns the adapter of Apache with a multi-processing module: event,
// worker or prefork.
//
// Apache refuses to serve as root, and the user it changes to could not read
// everybody's files. So it is not root's from the start ([Recipe.Unprivileged]),
// and its User and Group have no meaning.
func apacheOn(mpm string) func(string, Setup) (Recipe, error) {
	return func(_ string, s Setup) (Recipe, error) {
		a := &apache{Setup: s, mpm: mpm}
		a.load("mpm_" + mpm)
		a.load("authz_core", "dir", "mime", "alias")
		unequal := []string{"Apache opens, maps and closes the file for each request: it has no cache of open files that is recommended for use"}
		if err := a.gateways(&unequal); err != nil {
			return Recipe{}, err
		}
		if err := a.interpreters(); err != nil {
			return Recipe{}, err
		}
		switch mpm {
		case "prefork":
			unequal = append(unequal, fmt.Sprintf("Apache prefork has a process for each connection, %d of them", s.Connections))
		case "worker":
			unequal = append(unequal, fmt.Sprintf("Apache worker has a thread for each connection, %d of them in %d processes", s.Connections, s.Workers))
		case "event":
			unequal = append(unequal, fmt.Sprintf("Apache event has %d threads in %d processes, beside the one that watches idle connections", s.Connections, s.Workers))
		}
		var names []string
		for _, m := range a.modules {
			names = append(names, m.name)
		}
		return Recipe{
			Args:         func(_ int, config string) []string { return []string{"-f", config, "-DFOREGROUND"} },
			Config:       a.config,
			Unprivileged: true, Uncounted: a.cgid(), Modules: names, Unequal: unequal,
		}, nil
	}
}

// load adds modules of Apache's own.
func (a *apache) load(names ...string) {
	for _, n := range names {
		a.modules = append(a.modules, loaded{n, filepath.Join(apacheModules, "mod_"+n+".so")})
	}
}

func (a *apache) gateways(unequal *[]string) error {
	switch {
	case a.CGI == "":
	case !a.cgid():
		a.load("cgi")
	default:
		a.load("cgid")
		*unequal = append(*unequal, "Apache's mod_cgid does not wait for CGI programs, so that their CPU time is lost")
	}
	if len(a.hosted()) > 0 {
		a.load("proxy", "proxy_fcgi")
		*unequal = append(*unequal, perRequest("Apache"))
	}
	return nil
}

// cgid says whether mod_cgid runs the CGI programs: its daemon starts them.
func (a *apache) cgid() bool { return a.CGI != "" && (a.mpm != "prefork" || a.CGID) }

// interpreters loads those that run in the server's process.
func (a *apache) interpreters() error {
	for _, x := range a.Scripts {
		if x.Host.Path != "" {
			continue
		}
		name := map[string]string{".php": "php", ".pl": "perl"}[x.Suffix]
		if name == "" {
			return unable("Apache", "an interpreter of scripts that end in "+x.Suffix)
		}
		if name == "php" && a.mpm != "prefork" {
			return unable("apache-"+a.mpm, "mod_php, which Debian builds without threads: apache-prefork has it")
		}
		file, err := module("mod_" + name)
		if err != nil {
			return err
		}
		a.modules = append(a.modules, loaded{name, file})
	}
	return nil
}

func (a *apache) config(port int, dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `ServerRoot "%[2]s"
DefaultRuntimeDir "%[2]s"
PidFile "%[2]s/pid"
ServerName localhost
Listen 127.0.0.1:%[1]d
ListenBackLog 4096
ErrorLog /dev/stderr
LogLevel warn
`, port, dir)
	for _, m := range a.modules {
		fmt.Fprintf(&b, "LoadModule %s_module %s\n", m.name, m.file)
	}
	b.WriteString(a.processes())
	override := "None"
	if a.Override {
		override = "All"
	}
	fmt.Fprintf(&b, `TypesConfig /dev/null
AddType text/html .html
ServerTokens Prod
Timeout 3600
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 3600
EnableSendfile On
DirectoryIndex index.html
DocumentRoot "%[1]s"
<Directory "/">
	AllowOverride None
	Options FollowSymLinks
	Require all denied
</Directory>
<Directory "%[1]s">
	AllowOverride %[2]s
	Require all granted
</Directory>
`, a.Root, override)
	if a.AccessLog != "" {
		fmt.Fprintf(&b, "CustomLog \"%s\" \"%%h %%l %%u %%t \\\"%%r\\\" %%>s %%b\"\n", a.AccessLog)
	}
	a.programs(&b, dir)
	for _, x := range a.Scripts {
		a.scripts(&b, x, dir)
	}
	return b.String()
}

// processes is how many there are, and threads in each: as many as are wanted
// from the start, and none is started or ended for want of work.
func (a *apache) processes() string {
	if a.mpm == "prefork" {
		return fmt.Sprintf(`StartServers %[1]d
ServerLimit %[1]d
MaxRequestWorkers %[1]d
MinSpareServers 1
MaxSpareServers %[1]d
MaxConnectionsPerChild 0
`, a.Connections)
	}
	threads := (a.Connections + a.Workers - 1) / a.Workers
	text := fmt.Sprintf(`StartServers %[1]d
ServerLimit %[1]d
ThreadLimit %[2]d
ThreadsPerChild %[2]d
MaxRequestWorkers %[3]d
MinSpareThreads 1
MaxSpareThreads %[3]d
MaxConnectionsPerChild 0
`, a.Workers, threads, threads*a.Workers)
	if a.mpm == "event" { // idle connections for each idle thread
		text += "AsyncRequestWorkerFactor 200\n"
	}
	return text
}

// programs are CGI programs and applications.
func (a *apache) programs(b *strings.Builder, dir string) {
	if a.CGI != "" {
		fmt.Fprintf(b, "ScriptAlias /cgi-bin/ \"%[1]s/\"\n<Directory \"%[1]s\">\n\tRequire all granted\n</Directory>\n", a.CGI)
		if a.cgid() {
			fmt.Fprintf(b, "ScriptSock \"%s/cgid\"\n", dir)
		}
	}
	for _, app := range a.Apps {
		fmt.Fprintf(b, "ProxyPass \"%s\" \"unix:%s|fcgi://%s/\"\n", app.URL, app.socket(dir), app.Name)
	}
}

// scripts are those of one language, below / and nowhere else.
func (a *apache) scripts(b *strings.Builder, x Scripts, dir string) {
	handler := "\tSetHandler application/x-httpd-php\n"
	switch {
	case x.Host.Path != "":
		handler = fmt.Sprintf("\tSetHandler \"proxy:unix:%s|fcgi://%s\"\n\tProxyFCGIBackendType GENERIC\n", x.Host.socket(dir), x.Host.Name)
	case x.Suffix == ".pl":
		handler = "\tSetHandler perl-script\n\tPerlResponseHandler ModPerl::Registry\n\tPerlOptions +ParseHeaders\n\tOptions +ExecCGI\n"
	}
	at := `^/([^/]+\` + x.Suffix + ")$"
	fmt.Fprintf(b, "AliasMatch \"%[1]s\" \"%[2]s/$1\"\n<Directory \"%[2]s\">\n\tRequire all granted\n</Directory>\n", at, x.Dir)
	// By the URL: the same directory may have programs for CGI.
	fmt.Fprintf(b, "<LocationMatch \"%s\">\n%s</LocationMatch>\n", at, handler)
}
