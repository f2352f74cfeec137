package tests

import (
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestCrashesAreCounted: a process of the server that is killed is counted, a
// worker or one that answers for a gateway, and the server goes on.
func TestCrashesAreCounted(t *testing.T) {
	on(t, []string{"epoll", "prefork", "symped", "prefork-reuseport", "fork", "inetd"}, func(t *testing.T, variant string) {
		s := serve(t, variant)
		if n := status(t, s.addr)["crashes"]; n != 0.0 {
			t.Errorf("%v crashes are counted, want none", n)
		}
		c, err := dial(s.addr, false) // of some, the process is started for it
		if err == nil {
			err = c.send(get("/fcgi-bin/constant"))
		}
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		if _, err := c.in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		var victims []int
		eventually(t, "the processes run", func() bool {
			victims = processes(t, s.pid)[1:]
			if slices.Contains(perConnection, variant) {
				return len(victims) == 1 // and that of the status has ended
			}
			return len(victims) > 0 || variant == "epoll"
		})
		if variant == "epoll" {
			victims = workersOf(t, s.pid)
		}
		if err := syscall.Kill(victims[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		// What has come to the victim meanwhile is lost: nothing is asked before
		// its end is known.
		eventually(t, "its end is logged", func() bool {
			return strings.Contains(s.stderr.String(), "pid="+strconv.Itoa(victims[0])+" ")
		})
		eventually(t, "the crash is counted", func() bool { return status(t, s.addr)["crashes"] == 1.0 })
		c.close()
		s.stop()
	})
}
