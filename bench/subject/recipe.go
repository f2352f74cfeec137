package subject

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"syscall"
)

// A Recipe says how a server program is started. It is plain data; a value can
// serve for many subjects.
type Recipe struct {
	Name string
	Path string // of the program
	// Args are the arguments for a port and, where there is a Config, the
	// name of the file it was written to.
	Args func(port int, config string) []string
	// Config is the text of the configuration for a port and a directory for
	// the server's own files; nil for servers without.
	Config func(port int, dir string) string
	// Prepare, if set, makes what else the server needs in that directory
	// before it is started on a port. Only for recipes with a Config.
	Prepare func(port int, dir string) error
	// Env are variables added to those of this process, for that directory.
	Env func(dir string) []string
	// Apps are the applications that the server asks, in the order of their
	// start: before it. Only for recipes with a Config.
	Apps []App
	// Announces is set for programs that print a line with "ready URL" on
	// stdout when they listen.
	Announces bool
	Version   string
	// StopSignal asks the program to end in good order; 0 means SIGTERM.
	StopSignal syscall.Signal
	// Unprivileged starts the program as nobody where we are root.
	Unprivileged bool

	// Modules are the parts of the server that were loaded for the setup.
	Modules []string
	// Unequal are sentences about what could not be made the same as for the
	// other servers. They stand beside every result.
	Unequal []string
	// Uncounted is set where the CPU time of programs is lost: who starts them
	// ignores their end, and then the kernel adds it to nobody's
	// (wait(2), SIGCHLD and SIG_IGN).
	Uncounted bool
	// Source is what brings the program, for advice; empty for our own.
	Source string
}

// facts are taken with port 0, so that they are the same for every start.
func (r Recipe) facts() []Fact {
	config := ""
	if r.Config != nil {
		config = "CONFIG"
	}
	facts := []Fact{
		{"version", r.Version},
		{"command", strings.Join(append([]string{r.Path}, r.Args(0, config)...), " ")},
	}
	if r.Config != nil {
		sum := sha256.Sum256([]byte(r.Config(0, "DIR")))
		facts = append(facts, Fact{"config_sha256", hex.EncodeToString(sum[:])})
	}
	for _, a := range r.Apps {
		facts = append(facts, Fact{"application." + a.Name, a.String()})
	}
	if len(r.Modules) > 0 {
		facts = append(facts, Fact{"modules", strings.Join(r.Modules, " ")})
	}
	return facts
}
