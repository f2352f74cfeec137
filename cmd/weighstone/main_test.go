package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weighstone/weighstone/cgi/helper"
	"github.com/weighstone/weighstone/cmd/internal/site"
	"github.com/weighstone/weighstone/cmd/internal/worker"
	"github.com/weighstone/weighstone/fixtures"
	"github.com/weighstone/weighstone/servers"
)

// TestMain makes the test binary the program too, for the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"weighstone": main, workerName: workerMain, site.HelperName: helperMain})
}

// workerMain is the program of cmd/weighstone-worker.
func workerMain() {
	if err := worker.Run(os.Args[1:], worker.Engines(), worker.Elsewhere, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// helperMain is the program of cmd/weighstone-helper.
func helperMain() {
	fmt.Fprintln(os.Stderr, helper.Serve(0))
	os.Exit(1)
}

// TestScript runs the scripts that one variant stands for all in.
func TestScript(t *testing.T) {
	testscript.Run(t, params(t, "script", "epoll"))
}

// TestVariant runs the scripts that must go alike on every variant.
func TestVariant(t *testing.T) {
	for _, v := range servers.All() {
		t.Run(v.Name, func(t *testing.T) { testscript.Run(t, params(t, "variant", v.Name)) })
	}
}

// TestEngine runs the scripts for the engines that processes can be.
func TestEngine(t *testing.T) {
	for _, engine := range []string{"epoll", "nethttp", "fasthttp", "fiber"} {
		t.Run(engine, func(t *testing.T) { testscript.Run(t, params(t, "engine", engine)) })
	}
}

// workers is the flag that asks a variant for two workers, and what matches how
// many there are then. A variant that has no such knob gets a flag that says
// what holds anyhow, and has one worker, or one for each connection: the status
// page's, perhaps the one before it at its end.
func workers(variant string) (flag, many string) {
	if v, err := servers.Find(variant); err == nil && v.Has("--workers") {
		return "--workers=2", "[2-9]"
	}
	return "--drain=10s", "[12]"
}

func params(t *testing.T, dir, variant string) testscript.Params {
	content := filepath.Join(t.TempDir(), "fixtures")
	if err := fixtures.Write(content); err != nil {
		t.Fatal(err)
	}
	return testscript.Params{
		Dir:                 filepath.Join("testdata", dir),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("VARIANT", variant)
			flag, many := workers(variant)
			e.Setenv("WORKERS", flag)
			e.Setenv("MANY", many)
			e.Setenv("FIXTURES", content)
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("TMPDIR", os.TempDir())
			e.Values[lineKey{}] = new(line)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     cmdExits,
			"serve":     cmdServe,
			"restart":   cmdRestart,
			"signal":    cmdSignal,
			"ended":     cmdEnded,
			"get":       cmdGet,
			"operators": cmdOperators,
			"await":     cmdAwait,
		},
	}
}
