package site

import (
	"fmt"
	"os/exec"
	"path/filepath"

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
	Routes  []string
	Dir     string // of the scripts, below bin
	path    string // empty for not here
	wanted  bool   // the scripts are here
}

// List returns the interpreters that there are routes for.
func (i Interpreters) List() []Interpreter {
	return []Interpreter{
		{"php-cgi", "php-cgi", []string{"/hello.php", "/phpinfo.php"}, "php", i.PHPPath, i.PHPDir != ""},
		{"perl", "perl", []string{"/hello.pl", "/perl/"}, "perl", i.PerlPath, i.PerlDir != "" && i.PerlHost != ""},
	}
}

// openInterpreters makes the gateways to the scripts.
func (c *Content) openInterpreters(i Interpreters, o upstream.Options) error {
	for n, open := range []func(path string, i Interpreters, o upstream.Options) error{c.openPHP, c.openPerl} {
		it := i.List()[n]
		if !it.wanted || it.path == "" {
			continue // a Lack answers
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
