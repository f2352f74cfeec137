package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long a script waits for what must come.
const patience = 60 * time.Second

// A line is the server that a script has started, and its successors.
type line struct {
	first *exec.Cmd
	ended bool // first has been waited for
	pid   int  // of the process that said ready last
	ready int  // how many have
}

type lineKey struct{}

func lineOf(ts *testscript.TestScript) *line { return ts.Value(lineKey{}).(*line) }

var readyLine = regexp.MustCompile(`(?m)^weighstone [\w-]+ ready (http://\S+) pid (\d+)$`)

// cmdExits is: exits CODE COMMAND ARG... The command's output can be looked at
// by stdout and stderr.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cmdServe is: serve VARIANT FLAG... It starts a server whose output goes to
// the files out and err, waits until it is ready, and sets $URL, $ADDR and
// $PID.
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	l := lineOf(ts)
	*l = line{}
	path, err := exec.LookPath("weighstone")
	ts.Check(err)
	if !hasFlag(args, "--addr") {
		args = append(args, "--addr", "127.0.0.1:0")
	}
	l.first = exec.Command(path, append([]string{"serve"}, args...)...)
	l.first.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		l.first.Env = append(l.first.Env, name+"="+ts.Getenv(name))
	}
	out, err := os.Create(ts.MkAbs("out"))
	ts.Check(err)
	defer out.Close()
	errs, err := os.Create(ts.MkAbs("err"))
	ts.Check(err)
	defer errs.Close()
	l.first.Stdout, l.first.Stderr = out, errs
	ts.Check(l.first.Start())
	ts.Defer(func() { l.kill(ts) })
	l.awaitReady(ts)
}

func hasFlag(args []string, name string) bool {
	for _, a := range args {
		if a == name {
			return true
		}
	}
	return false
}

// awaitReady waits for one more ready line.
func (l *line) awaitReady(ts *testscript.TestScript) {
	var all [][]string
	wait(ts, "ready line", func() bool {
		all = readyLine.FindAllStringSubmatch(ts.ReadFile("out"), -1)
		return len(all) > l.ready
	})
	l.ready = len(all)
	last := all[len(all)-1]
	l.pid, _ = strconv.Atoi(last[2])
	ts.Setenv("URL", last[1])
	ts.Setenv("ADDR", strings.TrimPrefix(last[1], "http://"))
	ts.Setenv("PID", last[2])
}

// kill ends what the script has left running.
func (l *line) kill(ts *testscript.TestScript) {
	if !l.ended {
		l.first.Process.Kill()
		l.first.Wait()
	}
	for _, m := range readyLine.FindAllStringSubmatch(ts.ReadFile("out"), -1) {
		// Not ours if the id has been given to another program since.
		if name, err := os.Readlink("/proc/" + m[2] + "/exe"); err == nil && strings.Contains(name, "weighstone") {
			pid, _ := strconv.Atoi(m[2])
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// cmdRestart is: restart. It makes a successor serve.
func cmdRestart(ts *testscript.TestScript, neg bool, args []string) {
	l := lineOf(ts)
	old := l.pid
	syscall.Kill(l.pid, syscall.SIGHUP)
	l.awaitReady(ts)
	if l.pid == old {
		ts.Fatalf("pid %d is ready again", old)
	}
}

// cmdSignal is: signal NAME. It goes to the serving process.
func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	s, known := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "USR1": syscall.SIGUSR1}[args[0]]
	if !known {
		ts.Fatalf("signal %s is not known here", args[0])
	}
	ts.Check(syscall.Kill(lineOf(ts).pid, s))
}

// cmdEnded is: ended [CODE]. It waits for the end of the first process and
// compares its exit code, and then for the end of the serving one.
func cmdEnded(ts *testscript.TestScript, neg bool, args []string) {
	l := lineOf(ts)
	if len(args) > 0 && !l.ended {
		watchdog := time.AfterFunc(patience, func() { l.first.Process.Kill() })
		l.first.Wait()
		watchdog.Stop()
		l.ended = true
		if got := strconv.Itoa(l.first.ProcessState.ExitCode()); got != args[0] {
			ts.Fatalf("exit code %s, want %s; stderr:\n%s", got, args[0], ts.ReadFile("err"))
		}
	}
	if len(args) > 0 {
		return
	}
	wait(ts, fmt.Sprintf("end of %d", l.pid), func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", l.pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

// cmdGet is: get PATH [STATUS]. The body can be looked at by stdout.
func cmdGet(ts *testscript.TestScript, neg bool, args []string) {
	fetch(ts, ts.Getenv("URL"), args)
}

var adminLine = regexp.MustCompile(`msg=admin address=(http://\S+)`)

// cmdOperators is: operators PATH [STATUS]. It is get on the admin address.
func cmdOperators(ts *testscript.TestScript, neg bool, args []string) {
	m := adminLine.FindStringSubmatch(ts.ReadFile("err"))
	if m == nil {
		ts.Fatalf("no admin address in stderr:\n%s", ts.ReadFile("err"))
	}
	fetch(ts, m[1], args)
}

func fetch(ts *testscript.TestScript, base string, args []string) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	resp, err := client.Get(base + args[0])
	ts.Check(err)
	defer resp.Body.Close()
	_, err = io.Copy(ts.Stdout(), resp.Body)
	ts.Check(err)
	want := "200"
	if len(args) > 1 {
		want = args[1]
	}
	if got := strconv.Itoa(resp.StatusCode); got != want {
		ts.Fatalf("status %s, want %s", got, want)
	}
}

// cmdAwait is: await FILE REGEXP. It waits until the file has a match.
func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	re := regexp.MustCompile("(?m)" + args[1])
	wait(ts, args[1]+" in "+args[0], func() bool {
		b, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && re.Match(b)
	})
}

func wait(ts *testscript.TestScript, what string, done func() bool) {
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			said, _ := os.ReadFile(ts.MkAbs("err"))
			ts.Fatalf("no %s; stderr:\n%s", what, said)
		}
	}
}
