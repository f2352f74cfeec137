package servertest_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers"
	"github.com/weighstone/weighstone/servers/process"
	"github.com/weighstone/weighstone/servers/thread"
)

// workerRole is that of a process of a process architecture. Its arguments are
// a place, and what its master says.
const workerRole = "worker"

// worker serves as its master says.
func worker() int {
	if err := work(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		return 1
	}
	return 0
}

func work(about, config string) error {
	var p place
	if err := json.Unmarshal([]byte(about), &p); err != nil {
		return err
	}
	w, err := process.Inherit(config)
	if err != nil {
		return err
	}
	site, close, err := p.site()
	if err != nil {
		return err
	}
	defer close()
	engine := map[string]func(weighstone.Options) weighstone.Server{
		process.SoleEngine: thread.NewSole, process.GivenEngine: thread.NewGiven,
	}[w.Config.Engine]
	if engine == nil {
		v, err := servers.Find(w.Config.Engine)
		if err != nil {
			return err
		}
		engine = v.New
	}
	o := w.Options(slog.New(slog.DiscardHandler), nil)
	if p.Lines != "" {
		o.Access = lineCount(p.Lines)
	}
	return w.Run(engine(o), site, func() {})
}

// openTellings makes a named pipe and opens it. Its writing end is kept open
// too, so that no handler's end is the end of the pipe.
func openTellings(t *testing.T, name string) *tellings {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	return &tellings{t: t, pipe: pipe}
}
