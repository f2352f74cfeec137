package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/internal/testproc"
)

// patience bounds every wait.
const patience = 20 * time.Second

// until waits for a condition.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// command is this test binary in a role.
func command(playing string) *weighstone.WorkerCommand {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return &weighstone.WorkerCommand{Path: self, Env: append([]string{role + "=" + playing}, os.Environ()...)}
}

// A run is a master in this process.
type run struct {
	t      *testing.T
	server *server
	addr   string
	log    *testproc.Journal
	served chan error
}

// begin starts a master whose workers play a role, and waits until they serve.
func begin(t *testing.T, playing string, o weighstone.Options) *run {
	t.Helper()
	return beginAs(t, NewSymped, playing, o)
}

func beginAs(t *testing.T, create func(weighstone.Options) weighstone.Server, playing string, o weighstone.Options) *run {
	t.Helper()
	fd, err := sys.Listen("127.0.0.1:0", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{t: t, addr: sys.LocalAddr(fd).String(), log: new(testproc.Journal), served: make(chan error, 1)}
	started := make(chan struct{})
	o.Worker = command(playing)
	o.Worker.Started = func() { close(started) }
	o.Log = slog.New(slog.NewTextHandler(r.log, nil))
	r.server = create(o).(*server)
	go func() { r.served <- r.server.Serve([]int{fd}, nil) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.server.Drain(ctx); err != nil {
			t.Errorf("drain: %v", err)
		}
		sys.Close(fd)
	})
	select {
	case <-started:
	case <-time.After(patience):
		t.Fatal("the workers do not serve")
	}
	return r
}

// ask returns the process id of the worker that answers.
func (r *run) ask() (int, error) {
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + r.addr + "/")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(b))
}

// TestCrash: a worker that is killed under load takes its own connections with
// it and no other's, and is replaced.
func TestCrash(t *testing.T) {
	r := begin(t, goodRole, weighstone.Options{Workers: 3})
	first := childrenOf(os.Getpid())
	if len(first) != 3 {
		t.Fatalf("the workers are %v", first)
	}
	victim, err := r.ask()
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var load sync.WaitGroup
	var mu sync.Mutex
	var failed, answered int
	for range 4 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, err := r.ask()
				mu.Lock()
				answered++
				if err != nil {
					failed++
				}
				mu.Unlock()
			}
		})
	}
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "three workers again", func() bool {
		now := childrenOf(os.Getpid())
		return len(now) == 3 && !slices.Contains(now, victim)
	})
	before := r.server.Stats().Requests
	until(t, "requests go on", func() bool { return r.server.Stats().Requests > before+100 })
	close(stop)
	load.Wait()
	// What the victim had in hand is lost: a connection of each client at most.
	if failed > 4 {
		t.Errorf("%d of %d requests failed", failed, answered)
	}
	until(t, "no connection is counted", func() bool { return r.server.Stats().Conns == [weighstone.NumStates]int64{} })
	if !strings.Contains(r.log.String(), "a worker died and is replaced") {
		t.Errorf("the log says %s", r.log)
	}
	if n := r.server.crashes(); n != 1 {
		t.Errorf("%d crashes are counted, want 1", n)
	}
}

// TestFrail: workers that die with each request are replaced ever more slowly,
// and the master goes on.
func TestFrail(t *testing.T) {
	r := begin(t, frailRole, weighstone.Options{Workers: 1})
	const deaths = 4
	for n := range deaths {
		until(t, "a worker", func() bool { return len(childrenOf(os.Getpid())) == 1 })
		if pid, err := r.ask(); err == nil {
			t.Fatalf("worker %d answers", pid)
		}
		until(t, "death", func() bool { return strings.Count(r.log.String(), "a worker died") == n+1 })
	}
	for n, rest := range []string{"100ms", "200ms", "400ms", "800ms"} {
		line := strings.Split(r.log.String(), "\n")[n]
		if !strings.Contains(line, `fate="exit status 4"`) {
			t.Errorf("line %d of the log: %s", n, line)
		}
		if i := strings.Index(line, " in="); i < 0 {
			t.Errorf("line %d of the log: %s", n, line)
		} else if d, err := time.ParseDuration(line[i+4:]); err != nil || fmt.Sprint(d.Round(100*time.Millisecond)) != rest {
			t.Errorf("the rest after death %d is %s, want %s", n+1, line[i+4:], rest)
		}
	}
}

// TestFlawed: when the first workers can't live, Serve says so and ends.
func TestFlawed(t *testing.T) {
	fd, err := sys.Listen("127.0.0.1:0", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close(fd)
	s := NewSymped(weighstone.Options{Workers: 2, Worker: command(flawedRole)})
	if err := s.Serve([]int{fd}, nil); err == nil || !strings.Contains(err.Error(), "ended before it served: exit status 3") {
		t.Errorf("serve: %v", err)
	}
	for name, worker := range map[string]*weighstone.WorkerCommand{"none": nil, "absent": {Path: filepath.Join(t.TempDir(), "none")}} {
		if err := NewSymped(weighstone.Options{Worker: worker}).Serve([]int{fd}, nil); err == nil {
			t.Errorf("%s: a master without a program serves", name)
		}
	}
	if left := childrenOf(os.Getpid()); len(left) > 0 {
		t.Errorf("children are left: %v", left)
	}
}

// TestMasterKilled: the workers of a master that is killed -9 end too.
func TestMasterKilled(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{role + "=" + masterRole}, os.Environ()...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	workers := childrenOf(cmd.Process.Pid)
	if len(workers) != masterWorkers {
		t.Fatalf("the workers are %v", workers)
	}
	// One of them has a handler at work.
	c, err := net.Dial("tcp", strings.TrimSpace(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range workers {
		until(t, fmt.Sprintf("worker %d ends", pid), func() bool { return !lives(pid) })
	}
}

// masterWorkers is how many workers the master of its own process has.
const masterWorkers = 3

// beMaster serves until it is killed.
func beMaster() error {
	fd, err := sys.Listen("127.0.0.1:0", 0, false)
	if err != nil {
		return err
	}
	o := weighstone.Options{Workers: masterWorkers, Worker: command(goodRole)}
	o.Worker.Started = func() { fmt.Println(sys.LocalAddr(fd)) }
	return NewSymped(o).Serve([]int{fd}, nil)
}

// childrenOf are the living children of a process.
func childrenOf(pid int) []int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var all []int
	for _, list := range lists {
		b, _ := os.ReadFile(list) // none, if the thread has ended
		for _, word := range strings.Fields(string(b)) {
			if child, err := strconv.Atoi(word); err == nil && lives(child) {
				all = append(all, child)
			}
		}
	}
	return all
}

// lives says whether a process runs, and is no zombie.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
