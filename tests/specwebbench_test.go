package tests

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
)

// specwebBench judges a server with the SPECweb99-style workload, and returns
// what the program said and its status.
func specwebBench(t *testing.T, flags ...string) (out string, status int) {
	t.Helper()
	cmd := exec.Command(built.program, append([]string{"bench", "specweb99-style", "--fixtures", built.fixtures, "--dirs", "1", "--iterations", "1"}, flags...)...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	b, err := cmd.Output()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(b) + complaints.String(), cmd.ProcessState.ExitCode()
}

// TestSpecwebFaults: a cache that cheats, also once in a thousand, is caught in a
// run that tests integrity, and what it does is called by its name; one that
// does not cheat is not suspected.
func TestSpecwebFaults(t *testing.T) {
	const wrongReplies = ` 0 lost, 0 duplicated, 0 reordered, 0 corrupted, 0 foreign; [1-9]\d* replies wrong`
	for _, c := range []struct{ fault, posts, want string }{
		{"", "300", `integrity kept`},
		{"drop-and-duplicate:1000", "1100", ` [1-9]\d* lost, [1-9]\d* duplicated, 0 reordered, 0 corrupted, 0 foreign; 0 replies wrong`},
		{"stale-ad:1000", "500", wrongReplies},
		{"mix-users:1000", "500", wrongReplies},
		{"replay-post:1000", "1100", ` 0 lost, [1-9]\d* duplicated, 0 reordered, 0 corrupted, 0 foreign; 0 replies wrong`},
		{"torn-record:1000", "1100", ` [1-9]\d* lost, 0 duplicated, 0 reordered, [1-9]\d* corrupted, 0 foreign; 0 replies wrong`},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			flags := []string{"--integrity", "-c", "8", "--variants", "accel", "--posts", c.posts}
			if c.fault != "" {
				flags = append(flags, "--fault", c.fault)
			}
			out, status := specwebBench(t, flags...)
			if wrong := c.fault != ""; !regexp.MustCompile(c.want).MatchString(out) || (status == 1) != wrong || strings.Contains(out, "replies-wrong") != wrong {
				t.Errorf("status %d, want %s in:\n%s", status, c.want, out)
			}
		})
	}
}

// TestSpecwebBench: a load is judged and its knobs told; a server without the
// set, and flags that contradict each other, are refused.
func TestSpecwebBench(t *testing.T) {
	out, status := specwebBench(t, "-c", "5", "-d", "2s", "--warmup", "500ms", "--line-rate", "4000000", "--http", "1.0", "--variants", "prefork")
	want := `\ASPECweb99-style: 5 connections (do not )?conform\nserver +prefork\n`
	knobs := `(?m)^knobs +5 connections, line rate 4000000 bit/s, 1 directories \(5 MB\), 1 x 2s after 500ms of warm-up, HTTP/1.0, 10000 users, seed 1$`
	if status != 0 || !regexp.MustCompile(want).MatchString(out) || !regexp.MustCompile(knobs).MatchString(out) || !strings.Contains(out, "0 lost, 0 duplicated, 0 reordered, 0 corrupted, 0 foreign; 0 replies wrong") {
		t.Errorf("status %d:\n%s", status, out)
	}
	out, status = specwebBench(t, "-c", "20", "-d", "1s", "--warmup", "0s", "--line-rate", "0", "--arrival", "poisson", "--rate", "200", "--conditional", "0.5")
	if status != 0 || !strings.Contains(out, "50 % of the static requests ask whether") || !strings.Contains(out, "open loop: poisson, 200 a second") || strings.Contains(out, "failed;") && !strings.Contains(out, " 0 failed;") {
		t.Errorf("status %d:\n%s", status, out)
	}
	out, status = specwebBench(t, "-c", "4", "-d", "1s", "--warmup", "0s", "--line-rate", "0", "--delay", "20ms")
	if status != 0 || !strings.Contains(out, "the generator adds 20ms there and back") {
		t.Errorf("status %d:\n%s", status, out)
	}
	for _, bad := range [][]string{
		{"--delay", "-1s"}, {"--delay", "1s", "--line-rate", "0", "--arrival", "poisson", "--rate", "10"}, {"--netem", "1s", "--subject", "x=http://127.0.0.1:1"},
		{"--conditional", "2"}, {"--arrival", "poisson", "--rate", "10"}, {"--rate", "10"}, {"-c", "0"}, {"--dirs", "100001"}, {"--search", "--line-rate", "0"}, {"--search", "--most", "1"},
		{"--fault", "replay-post:10"}, {"--fault", "replay-post:10", "--variants", "epoll"}, {"--variants", "none"}, {"--subject", "x"},
	} {
		if out, status := specwebBench(t, bad...); status != 2 {
			t.Errorf("%v: status %d: %s", bad, status, out)
		}
	}
	s := serve(t, "epoll")
	if out, status := specwebBench(t, "--subject", fmt.Sprintf("other=http://%s", s.addr), "--dirs", "2"); status != 1 {
		t.Errorf("a server with too small a set: status %d: %s", status, out)
	}
}

// TestSpecwebDocument: each load that a search tries is a cell of the document
// with its iterations and knobs, and one that fails says by what; a cache that
// cheats is replies-wrong; a search that is interrupted keeps what it tried. How
// many conform is a matter of the machine.
func TestSpecwebDocument(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, status := specwebBench(t, "-c", "2", "-d", "300ms", "--warmup", "0s", "--line-rate", "4000000", "--search", "--most", "4", "--step", "2",
		"--variants", "epoll", "--serve-flag=--max-conns=3", "--serve-flag=--backlog=1", "--timeout", "2s", "--quick", "--out", dir)
	if status != 0 {
		t.Fatalf("status %d: %s", status, out)
	}
	d := searched(t, dir)
	if d.Verdict.Failed() || len(d.Search.Steps) != len(d.Cells) {
		t.Fatalf("%s: %+v, %d cells", d.Verdict, d.Search, len(d.Cells))
	}
	for i, step := range d.Search.Steps {
		c := &d.Cells[i]
		if c.Load.Clients != step.Connections || c.Load.Arrival != "closed" || len(c.Runs) != 1 || c.Metrics.RequestsPerS == nil ||
			step.Passed != (step.Why == "") || c.Knobs["server_version"] == "" || c.Knobs["generator_version"] == "" || c.Knobs["line_bits_per_s"] != 4e6 {
			t.Errorf("step %d: %+v is %+v", i, step, c)
		} else if run := c.Runs[0].Specweb; run.Passed != step.Passed || run.Why != step.Why || len(run.Rates) != 101 {
			t.Errorf("step %d: %+v", i, run)
		}
	}
	out, status = specwebBench(t, "--integrity", "-c", "4", "--variants", "accel", "--posts", "60", "--fault", "replay-post:20", "--out", dir)
	d = searched(t, dir)
	if status != 1 || d.Verdict != bench.RepliesWrong || len(d.Cells) != 1 || d.Cells[0].Runs[0].Specweb.Duplicated == 0 ||
		!strings.Contains(strings.Join(d.Reasons, " "), "duplicated") {
		t.Errorf("status %d, %+v: %s", status, d, out)
	}
}

// searched is the document in a directory.
func searched(t *testing.T, dir string) *bench.Document {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "specweb99-style.json"))
	d := &bench.Document{}
	if err == nil {
		err = json.Unmarshal(b, d)
	}
	if err != nil || d.Schema != bench.Schema {
		t.Fatalf("%v: %s", err, b)
	}
	if d.Search == nil {
		d.Search = &bench.Search{}
	}
	return d
}

// TestSpecwebInterrupted: a search that is interrupted keeps what it tried.
func TestSpecwebInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(built.program, "bench", "specweb99-style", "--fixtures", built.fixtures, "--dirs", "1", "--iterations", "1", "-c", "2", "-d", "1s",
		"--warmup", "0s", "--search", "--most", "10000", "--step", "1", "--out", dir)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for tried := 0; lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "SPECweb99-style: ") { // the end of a step
			tried++
		}
		if tried == 1 {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			tried++
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v", err)
	}
	if d := searched(t, dir); d.Verdict != bench.Incomplete || len(d.Cells) == 0 || len(d.Cells) != len(d.Search.Steps) || !strings.Contains(strings.Join(d.Reasons, " "), "interrupted") {
		t.Errorf("%s, %q, %d cells, %+v", d.Verdict, d.Reasons, len(d.Cells), d.Search)
	}
}

// TestSpecwebThousands: three thousand connections, each at its line's rate, are
// one program's work; nothing is lost, and each costs less than 4 KB beside its
// socket's buffers.
func TestSpecwebThousands(t *testing.T) {
	few, many := 500, 3000
	grown := func(connections int) int {
		out, status := specwebBench(t, "-c", fmt.Sprint(connections), "-d", "2s", "--warmup", "2s", "--timeout", "2m", "-o", "json")
		var doc bench.Document
		from, to := strings.Index(out, "{"), strings.LastIndex(out, "}")
		if status != 0 || from < 0 || json.Unmarshal([]byte(out[from:to+1]), &doc) != nil || len(doc.Cells) != 1 || len(doc.Cells[0].Runs) != 1 {
			t.Fatalf("status %d: %s", status, out)
		}
		r := doc.Cells[0].Runs[0]
		if r.Specweb == nil || r.Specweb.Connections != connections || r.Specweb.Broken() > 0 || r.Errors.Total() > 0 || r.Client.Connections < uint64(connections) {
			t.Fatalf("%+v, errors %v", r.Specweb, r.Errors)
		}
		return r.Specweb.ClientBytes
	}
	each := (grown(many) - grown(few)) / (many - few)
	t.Logf("%d bytes a connection", each)
	if each < 500 || each > 4096 {
		t.Errorf("%d bytes a connection", each)
	}
}

// A bucket lets so many bytes pass in a second, for all that share it: each in
// its turn.
type bucket struct {
	mu   sync.Mutex
	rate float64
	next time.Time // when all that was let through has passed
}

// pass waits until n bytes may.
func (b *bucket) pass(n int) {
	b.mu.Lock()
	now := time.Now()
	if idle := now.Add(-20 * time.Millisecond); b.next.Before(idle) {
		b.next = idle // what was not used is lost, but for a moment's worth
	}
	b.next = b.next.Add(time.Duration(float64(n) / b.rate * float64(time.Second)))
	wait := b.next.Sub(now)
	b.mu.Unlock()
	time.Sleep(wait)
}

// before puts the bucket in front of a server, and returns its address.
func (b *bucket) before(t *testing.T, server string) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer client.Close()
				to, err := net.Dial("tcp4", server)
				if err != nil {
					return
				}
				defer to.Close()
				all.Go(func() { io.Copy(to, client); to.(*net.TCPConn).CloseWrite() })
				part := make([]byte, 2048)
				for {
					n, err := to.Read(part)
					if n > 0 {
						b.pass(n)
						if _, err := client.Write(part[:n]); err != nil {
							return
						}
					}
					if err != nil {
						return
					}
				}
			})
		}
	})
	return l.Addr().String()
}

// TestSpecwebSearch: of a server behind a bucket that holds twenty lines at four
// fifths of their rate the search finds just that, to within a step.
func TestSpecwebSearch(t *testing.T) {
	t.Parallel()
	const line, want, step = 2_000_000, 20, 4
	s := serve(t, "epoll")
	b := &bucket{rate: want * 0.8 * line / 8}
	at := b.before(t, s.addr)
	var tried []string
	for range 3 { // what the machine takes away meanwhile is not the server's
		out, status := specwebBench(t, "--subject", "capped=http://"+at, "--search", "-c", "8", "--most", "64", "--step", fmt.Sprint(step),
			"--line-rate", fmt.Sprint(line), "-d", "3s", "--warmup", "1s")
		found := regexp.MustCompile(`capped holds (?:now and then )?(\d+) conforming connections`).FindStringSubmatch(out)
		if status != 0 || found == nil {
			t.Fatalf("status %d: %s", status, out)
		}
		if n, _ := strconv.Atoi(found[1]); n >= want-step && n <= want+step {
			return
		}
		tried = append(tried, out)
	}
	t.Errorf("a server of %d: %s", want, strings.Join(tried, "\n"))
}

// TestSpecwebNetem: the kernel delays the packets, at least as long as it was
// asked to; or, where it can't, that is said, and nothing is measured.
func TestSpecwebNetem(t *testing.T) {
	t.Parallel()
	out, status := specwebBench(t, "-c", "4", "-d", "1s", "--warmup", "0s", "--line-rate", "0", "--netem", "25ms", "-o", "json")
	if status != 0 {
		if status != 1 || !regexp.MustCompile(`\Aweighstone: --netem: (the kernel does not delay packets here|tc is not here)[^\n]+\n\z`).MatchString(out) &&
			!strings.Contains(out, "weighstone: no namespaces of one's own can be made here: ") {
			t.Errorf("status %d: %s", status, out)
		}
		return
	}
	var p50 float64
	for _, m := range regexp.MustCompile(`(?s)"latency_ms": \{\s*"p50": ([\d.]+)`).FindAllStringSubmatch(out, -1) {
		p50, _ = strconv.ParseFloat(m[1], 64)
	}
	if p50 < 50 { // the request's packet and the reply's
		t.Errorf("half of the replies came within %v ms: %s", p50, out)
	}
}

// TestSpecwebMount: the set is served from a mount with the option asked for,
// which no other process sees.
func TestSpecwebMount(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // where nobody else leaves anything
	for _, option := range []string{"ro", "noatime", "atime"} {
		out, status := specwebBench(t, "-c", "4", "-d", "1s", "--warmup", "0s", "--line-rate", "0", "--mount", option, "--serve-flag=--file-cache=none")
		if strings.Contains(out, "weighstone: no namespaces of one's own can be made here: ") && os.Getenv("CI") != "true" {
			t.Skip(out)
		}
		if status != 0 || !strings.Contains(out, "the set is mounted "+option+"\n") || !strings.Contains(out, "without a line rate") {
			t.Errorf("%s: status %d: %s", option, status, out)
		}
	}
	// Nobody is taken to be inside who is not.
	for _, value := range []string{"1", "mnt:[1]"} {
		cmd := exec.Command(built.program, "bench", "specweb99-style", "--mount", "ro", "--fixtures", built.fixtures)
		cmd.Env = append(os.Environ(), "WEIGHSTONE_NAMESPACES="+value)
		if value != "1" {
			own, err := os.Readlink("/proc/self/ns/mnt")
			if err != nil {
				t.Fatal(err)
			}
			cmd.Env = append(os.Environ(), "WEIGHSTONE_NAMESPACES="+own)
		}
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "is not for you to set") {
			t.Errorf("with %s in the environment: %v, %s", value, err, out)
		}
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "weighstone-mount-*")); err != nil || len(left) > 0 {
		t.Errorf("mounts are left: %v, %v", left, err)
	}
	if mounts, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(mounts), "weighstone-mount-") {
		t.Errorf("mounts are seen outside, %v: %s", err, mounts)
	}
}
