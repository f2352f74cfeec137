package site

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/handlers/gateway/cgi"
	"github.com/weighstone/weighstone/handlers/gateway/upstream"
)

// Ways of running scripts, of [Interpreters].
const (
	ByCGI     = "cgi"     // the interpreter is started for each request
	ByFastCGI = "fastcgi" // it stays
)

// Interpreters says how the scripts of PHP and Perl are run.
type Interpreters struct {
	PHP, Perl string // ByCGI or ByFastCGI
	PHPDir    string // directory of the PHP scripts, or empty
	PerlHost  string // the program that keeps Perl scripts compiled, or empty
	PerlDir   string // directory of the Perl scripts, or empty

	PHPPath, PerlPath string // absolute, as [Interpreters.Find] has found them; empty for not here
}

// Find looks for the interpreters, once for all processes.
func (i *Interpreters) Find() error {
	for _, p := range []struct {
		path    *string
		program string
	}{{&i.PHPPath, "php-cgi"}, {&i.PerlPath, "perl"}} {
		path, err := exec.LookPath(p.program)
		if err != nil {
			continue // what needs it is answered 503
		}
		if *p.path, err = filepath.Abs(path); err != nil {
			return fmt.Errorf("find %s: %w", p.program, err)
		}
	}
	return nil
}

// An Interpreter is a program that scripts need.
type Interpreter struct {
	Program string
	Package string // of Debian, which brings it
	path    string
	routes  []string
	wanted  bool
}

// List returns the interpreters that are needed.
func (i Interpreters) List() []Interpreter {
	return []Interpreter{
		{"php-cgi", "php-cgi", i.PHPPath, []string{"/hello.php", "/phpinfo.php"}, i.PHPDir != ""},
		{"perl", "perl", i.PerlPath, []string{"/hello.pl", "/perl/"}, i.PerlDir != "" && i.PerlHost != ""},
	}
}

// Missing says in a sentence what can't be answered for want of the
// interpreter; it returns "" if that is here.
func (i Interpreter) Missing() string {
	if !i.wanted || i.path != "" {
		return ""
	}
	return fmt.Sprintf("%s and %s need %s, which is not here: the Debian package %s brings it", i.routes[0], i.routes[1], i.Program, i.Package)
}

// unavailable answers for an interpreter that is missing.
type unavailable struct {
	patterns []string
	sentence []byte
}

// Routes returns the routes of the scripts.
func (u *unavailable) Routes() []weighstone.Route {
	var all []weighstone.Route
	for _, p := range u.patterns {
		all = append(all, weighstone.Route{Pattern: p, Methods: weighstone.GET | weighstone.HEAD | weighstone.POST, Handler: u})
	}
	return all
}

// Serve answers 503 and why.
func (u *unavailable) Serve(x *weighstone.Exchange) {
	x.Out.Status = 503
	x.Scratch = append(append(x.Scratch[:0], u.sentence...), ".\n"...)
	x.SendScratch("text/plain; charset=utf-8")
}

// Close does nothing.
func (u *unavailable) Close() error { return nil }

// openInterpreters makes the gateways to the scripts.
func (c *Content) openInterpreters(i Interpreters, o upstream.Options) error {
	for n, open := range []func(path string, i Interpreters, o upstream.Options) error{c.openPHP, c.openPerl} {
		it := i.List()[n]
		if !it.wanted {
			continue
		}
		if it.path == "" {
			c.gateways = append(c.gateways, &unavailable{it.routes, []byte(it.Missing())})
			continue
		}
		if err := open(it.path, i, o); err != nil {
			return err
		}
	}
	return nil
}

func (c *Content) openPHP(php string, i Interpreters, o upstream.Options) error {
	files := map[string]string{"/hello.php": filepath.Join(i.PHPDir, "hello.php"), "/phpinfo.php": filepath.Join(i.PHPDir, "phpinfo.php")}
	if i.PHP == ByFastCGI {
		// By default php-cgi ends after 500 requests, and starts processes of its own.
		o.Env = []string{"PHP_FCGI_MAX_REQUESTS=0", "PHP_FCGI_CHILDREN=0"}
		return c.add(upstream.NewInterpreter(o, upstream.Scripts{Files: files}, php))
	}
	return c.add(cgi.New(cgi.Options{Scripts: files, Interpreter: php, Root: o.Root, Timeout: o.Timeout, Log: o.Log, Site: o.Site}))
}

func (c *Content) openPerl(perl string, i Interpreters, o upstream.Options) error {
	kept := upstream.Scripts{Prefix: "/perl/", Dir: i.PerlDir, Suffix: ".pl"}
	files := map[string]string{"/hello.pl": filepath.Join(i.PerlDir, "hello.pl")}
	if i.Perl == ByFastCGI {
		kept.Files = files
	} else if err := c.add(cgi.New(cgi.Options{Scripts: files, Root: o.Root, Timeout: o.Timeout, Log: o.Log, Site: o.Site})); err != nil {
		return err
	}
	return c.add(upstream.NewInterpreter(o, kept, perl, i.PerlHost))
}

// add adds a gateway, unless it could not be made.
func (c *Content) add(g Part, err error) error {
	if err != nil {
		return err
	}
	c.gateways = append(c.gateways, g)
	return nil
}
