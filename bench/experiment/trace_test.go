package experiment

import (
	"context"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/weighstone/weighstone/internal/proc"
)

// straced is what strace 6.1 -c prints.
const straced = `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 52.17    0.000012           0      2000           write
 34.78    0.000008           0      2100       100 read
 13.04    0.000003           1         1           setsockopt
------ ----------- ----------- --------- --------- ----------------
100.00    0.000023           0      4101       100 total
`

func TestSyscallsOf(t *testing.T) {
	s, err := syscallsOf(strings.NewReader(straced), 2000)
	if err != nil || len(s.PerRequest) != 2 || s.PerRequest["write"] != 1 || s.PerRequest["read"] != 1.05 || s.Requests != 2000 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := syscallsOf(strings.NewReader(straced), 0); err == nil {
		t.Error("system calls for no request")
	}
	if _, err := syscallsOf(strings.NewReader("nothing\n"), 5); err == nil {
		t.Error("a table that is none is read")
	}
}

func TestTrace(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	l := testLab(t, options(t))
	c := floorCell(t, l, "a", "", l.Fixtures+hundred)
	s, err := l.trace(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	// The floor makes one read and one write a request, and waits now and then.
	for call, want := range map[string]float64{"read": 1, "write": 1} {
		if math.Abs(s.PerRequest[call]-want) > 0.1 {
			t.Errorf("%s: %.2f a request, want %v; all: %v", call, s.PerRequest[call], want, s.PerRequest)
		}
	}
	if s.PerRequest["epoll_wait"] == 0 || s.Requests == 0 {
		t.Errorf("got %+v", s)
	}
	if err := l.down(); err != nil {
		t.Error(err)
	}
}

func TestTraceSaysWhyNot(t *testing.T) {
	l := testLab(t, options(t))
	c := floorCell(t, l, "a", "", l.Fixtures+hundred)
	t.Setenv("PATH", t.TempDir())
	if _, err := l.trace(context.Background(), c); err == nil || !strings.Contains(err.Error(), "strace is not installed") {
		t.Errorf("without strace: %v", err)
	}
	if _, err := l.attach(context.Background(), "/bin/false", "", 1<<30); err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("a strace that fails: %v", err)
	}
}

func TestExplain(t *testing.T) {
	used := proc.Usage{CPU: 2 * time.Second, User: 500 * time.Millisecond, System: 1500 * time.Millisecond,
		Voluntary: 50_000, Involuntary: 1000, MinorFaults: 200_000, RSS: 1 << 20, Threads: 3, Processes: 2}
	s := explain(used, 20, 100_000, 33_500_000)
	for name, v := range map[string][2]float64{
		"user": {*s.UserMicros, 5}, "system": {*s.SystemMicros, 15}, "voluntary": {*s.VoluntarySwitches, 0.5}, "involuntary": {*s.InvoluntarySwitches, 0.01},
		"faults": {*s.MinorFaults, 2}, "bytes": {*s.BytesPerReply, 335}, "threads": {*s.Threads, 3}, "processes": {*s.Processes, 2}, "memory": {*s.RSSBytes, 1 << 20},
	} {
		if math.Abs(v[0]-v[1]) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, v[0], v[1])
		}
	}
	if s.EventsPerWait != nil || explain(used, 20, 0, 0) != nil {
		t.Error("something is known that nobody can know")
	}
	if v := (waits{30, 75}).per(waits{10, 15}); v == nil || *v != 3 {
		t.Errorf("events per wait: %v", v)
	}
	if (waits{10, 15}).per(waits{10, 15}) != nil {
		t.Error("events of no wait")
	}
}

func TestRoundRate(t *testing.T) {
	for rate, want := range map[float64]float64{7.4: 7, 12.4: 12, 1234: 1200, 14_950: 15_000, 0.3: 0} {
		if got := roundRate(rate); got != want {
			t.Errorf("%v: %v, want %v", rate, got, want)
		}
	}
}
