package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/alecthomas/kong"
)

// The exit codes of the program.
const (
	exitDone   = 0 // what was asked was done
	exitFailed = 1
	exitUsage  = 2
)

// cli is the command line: each command is a struct whose Run does it.
type cli struct {
	Variants variantsCmd `cmd:"" help:"List the server architectures, or tell of one."`
	Serve    serveCmd    `cmd:"" help:"Serve the site through one architecture."`
	Fixtures fixturesCmd `cmd:"" help:"Write, verify or list the content that is served."`
	Load     loadCmd     `cmd:"" help:"Put load on a server and check the replies: status and length, and content where a plan brings digests."`
	Bench    benchCmd    `cmd:"" help:"Make a comparison: start servers, measure them in turn, judge."`
	Worker   workerCmd   `cmd:"" hidden:"" help:"Be a process of serve."`
	Peers    peersCmd    `cmd:"" help:"List the real servers, load tools and interpreters found here."`
}

// streams are the program's own, as commands get them.
type streams struct {
	in       io.Reader
	out, err io.Writer
	args     []string // the command line, for the documents that tell it
}

// log writes what an operator must know to stderr.
func (s *streams) log() *slog.Logger { return slog.New(slog.NewTextHandler(s.err, nil)) }

// A usageError is a mistake in the command line that only its command can see.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errSilent fails a command that has said why itself.
var errSilent = errors.New("failed")

// exited unwinds from a flag such as --help, which has done its work.
type exited int

// run does what the command line says and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case exited:
			code = int(e)
		default:
			panic(e)
		}
	}()
	parser, err := kong.New(new(cli),
		kong.Name("weighstone"),
		kong.Description("Identical content through every classic web server architecture, and a benchmark that can be believed."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exited(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		return fail(stderr, err)
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		return fail(stderr, usageError{err})
	}
	return fail(stderr, ctx.Run(&streams{in: stdin, out: stdout, err: stderr, args: append([]string{"weighstone"}, args...)}))
}

// fail says in one line what went wrong, if anything did, and returns the exit
// code for it.
func fail(stderr io.Writer, err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errSilent):
		return exitFailed
	}
	fmt.Fprintf(stderr, "weighstone: %v\n", err)
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}
