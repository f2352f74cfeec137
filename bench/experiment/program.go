package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/internal/proc"
)

// A program is a measurement made by another program: the floor of CGI, which
// runs a CGI program again and again and counts.
type program struct {
	name  string
	path  string
	child string // the CGI program
	n     int    // how often to run it; 0 until it is known how fast it goes
}

// spawn makes the program that starts the CGI program child.
func (l *lab) spawn(child string) (*program, error) {
	path, err := l.floorProgram("spawn")
	if err != nil {
		return nil, err
	}
	return &program{name: "spawn", path: path, child: filepath.Join(l.CGIDir, child)}, nil
}

// firstRuns is how often the child is run to find out how fast it goes.
const firstRuns = 100

// measure runs the child for about d, on the servers' cores.
func (p *program) measure(ctx context.Context, l *lab, d time.Duration) (bench.Run, error) {
	if p.n == 0 {
		first, err := p.once(ctx, l, firstRuns)
		if err != nil {
			return first, err
		}
		p.n = max(firstRuns, int(*first.RequestsPerS*d.Seconds()))
	}
	return p.once(ctx, l, p.n)
}

// once runs the child n times.
func (p *program) once(ctx context.Context, l *lab, n int) (bench.Run, error) {
	child, err := l.spawner.Start(proc.Command{Path: p.path, Args: []string{strconv.Itoa(n), p.child}, CPUs: l.serverCPUs})
	if err != nil {
		return bench.Run{}, err
	}
	stop := func() error {
		soon, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return child.Stop(soon)
	}
	// Even a slow machine runs fifty a second.
	limited, cancel := context.WithTimeout(ctx, 10*time.Second+time.Duration(n)*20*time.Millisecond)
	defer cancel()
	line, err := child.Line(limited)
	if err != nil {
		return bench.Run{}, errors.Join(err, stop())
	}
	select { // it has nothing left to do but exit
	case <-child.Done():
	case <-limited.Done():
	}
	if err := stop(); err != nil {
		return bench.Run{}, err
	}
	return parseSpawn(line)
}

// parseSpawn reads the line that spawn prints.
func parseSpawn(line string) (bench.Run, error) {
	var n, bytes uint64
	var seconds, rate, user, system float64
	_, err := fmt.Sscanf(line, "runs %d seconds %g runs_per_s %g user_s %g system_s %g bytes %d", &n, &seconds, &rate, &user, &system, &bytes)
	if err != nil || n == 0 || seconds <= 0 {
		return bench.Run{}, fmt.Errorf("the program spawn printed %q, which is not its line", line)
	}
	if bytes == 0 {
		return bench.Run{}, errors.New("the CGI program printed nothing")
	}
	r := bench.Run{Requests: n, ElapsedS: seconds}
	r.RequestsPerS = bench.Number(rate)
	r.ThroughputMbitS = bench.Number(float64(bytes) * 8 / seconds / 1e6)
	r.ServerCPUPercent = bench.Number((user + system) / seconds * 100)
	r.ServerCPUMicros = bench.Number((user + system) * 1e6 / float64(n))
	return r, nil
}
