package cgi

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone/cgi/keeper"
)

// throughHelper says whether a test is one of [TestThroughHelper].
func throughHelper(t *testing.T) bool { return strings.HasPrefix(t.Name(), "TestThroughHelper") }

// newKeeper has this program run as the helper.
func newKeeper(t *testing.T, log *slog.Logger) *keeper.Keeper {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k, err := keeper.New(self, log)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestThroughHelper: whatever holds for programs that the server starts holds
// for those of the helper.
func TestThroughHelper(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"Replies": TestReplies, "Head": TestHead, "LocalRedirect": TestLocalRedirectKeepsFieldsDropsBody,
		"ProgramFindsACleanPlace": TestProgramFindsACleanPlace, "SignalsAreDefault": TestSignalsAreDefault,
		"TimeLimit": TestTimeLimit, "ClientLeaves": TestClientLeaves, "HalfClosedClient": TestHalfClosedClient,
		"ClosedStream": TestClosedStreamEndsProgram, "CloseOfHandler": TestCloseOfHandlerEndsPrograms,
		"GrandchildHoldsOutput": TestGrandchildHoldsOutput, "DaemonMayStay": TestDaemonMayStay,
		"ClosedOutputGoesOn": TestClosedOutputGoesOn, "TooManyProcesses": TestTooManyProcesses,
		"StandardError": TestStandardError, "EarlyOutput": TestEarlyOutputIsNotHeldBack, "StreamedLength": TestStreamedLength,
		"ManyAtOnce": TestManyAtOnce, "Find": TestFind, "WhatCannotStart": TestWhatCannotStart,
	} {
		t.Run(name, test)
	}
}

// helperPid waits until a helper runs, other than that of before, and returns
// its number. The programs are its children and not ours.
func helperPid(t *testing.T, before int) (pid int) {
	t.Helper()
	soon(t, "a helper runs", func() bool {
		lists, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range lists {
			b, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
			if err != nil {
				continue // it has ended
			}
			for _, word := range strings.Fields(string(b)) {
				if _, err := fmt.Sscan(word, &pid); err == nil && pid != before && alive(pid) {
					return true
				}
			}
		}
		return false
	})
	return pid
}

// TestThroughHelperThatIsKilled: requests in flight get 502, or what has begun
// breaks off; the next ones are answered, by programs of another helper.
func TestThroughHelperThatIsKilled(t *testing.T) {
	h := newHost(t, Options{})
	h.script("silent", `echo $$ >> pids; exec sleep 60`)
	h.script("begun", `echo $$ >> pids; printf 'Content-Type: a/b\n\nbegun'; exec sleep 60`)
	h.script("quick", `printf 'Content-Type: a/b\n\nhello'`)
	if a := h.get("quick"); a.status != 200 || a.body != "hello" {
		t.Fatalf("%d %q", a.status, a.body)
	}
	silent := make(chan answer)
	go func() { silent <- h.get("silent") }()
	h.pids("pids")
	begun := h.begin(call{target: "/cgi-bin/begun"})
	first := helperPid(t, 0)
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if a := <-silent; a.status != 502 {
		t.Errorf("before the reply: status %d, want 502", a.status)
	}
	if b, err := io.ReadAll(begun.Out.Body.Stream); string(b) != "begun" || err == nil {
		t.Errorf("during the reply: %q, and no error", b)
	}
	begun.Out.Body.Close()
	h.expectDead("pids")
	if a := h.get("quick"); a.status != 200 || a.body != "hello" {
		t.Errorf("after it: %d %q", a.status, a.body)
	}
	helperPid(t, first)
	if !strings.Contains(h.log.String(), "the CGI helper ended") {
		t.Errorf("nothing in the log: %s", h.log)
	}
}

// TestThroughHelperThatCannotRun: requests are answered 502 and do not wait.
func TestThroughHelperThatCannotRun(t *testing.T) {
	h := newHost(t, Options{Timeout: time.Minute})
	h.script("quick", `printf 'Content-Type: a/b\n\nhello'`)
	h.keeper.Close()
	for range 2 {
		if a := h.get("quick"); a.status != 502 {
			t.Errorf("status %d, want 502", a.status)
		}
	}
}
