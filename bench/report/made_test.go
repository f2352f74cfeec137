package report

import (
	"fmt"
	"math"
	"time"

	"github.com/weighstone/weighstone/bench"
)

// climbed is a document with a ladder of clients: two subjects, two handlers,
// with runs and what the client knows of each.
func climbed() *bench.Document {
	d := &bench.Document{
		Schema: bench.Schema, Command: []string{"weighstone", "bench", "api-vs-cgi", "--quick"},
		Environment: bench.Environment{
			Kernel: "Linux 6.18.0 x86_64", CPU: "A processor", Cores: 2, Clock: "tsc", Go: "go1.26", Fixtures: "46909b", Container: "virtual machine",
			Sysctls: map[string]string{"net.core.somaxconn": "4096", "net.ipv4.tcp_tw_reuse": "2"},
			Facts:   map[string]string{"network": "loopback", "server_cores": "[0]", "client_cores": "[1]", "epoll.version": "sha256 0123"},
		},
		Verdict: bench.ClientBound, Reasons: []string{"epoll, heavy api is client-bound: the client's core was 88 % busy & <hot>"},
		Comparisons: []bench.Comparison{
			{Name: "epoll, heavy: api to cgi", A: "epoll heavy api", B: "epoll heavy cgi", Metric: "requests_per_s", Ratio: num(10.94), Lo: num(10.5), Hi: num(11.3), P: num(0.002), Published: num(4.476), Agrees: yes(), Source: "IIS, ISAPI to CGI, 94 to 21 connections/s, WebStone 1.1, Shiloh 1996"},
			{Name: "epoll, static: the same twice", Metric: "server_cpu_us_per_request", Ratio: num(1.003), Lo: num(.98), Hi: num(1.02), P: num(0.7)},
			{Name: "poll to epoll, 10 active", Metric: "server_cpu_us_per_request", Ratio: num(0.9), Lo: num(.85), Hi: num(.95), P: num(0.01), Published: num(1.4), Agrees: no(), Source: "1.2 to 1.6 with lighttpd 1.4.69, Linux 6.18, loopback"},
		},
	}
	position := 0
	for s, subject := range []string{"epoll", "goroutines"} {
		for h, handler := range []string{"api/send", "cgi-bin/send"} {
			for _, clients := range []int{16, 32, 64, 128} {
				peak := 12000 / float64(1+9*h) * (1 - .2*float64(s))
				rate := peak * (1 - math.Exp(-float64(clients)/40))
				c := bench.Cell{Variant: subject, Handler: handler, Load: bench.Load{Clients: clients, Arrival: "closed"}, Verdict: bench.Valid, Reasons: []string{}}
				for run := range 3 {
					c.Runs = append(c.Runs, madeRun(rate*(1+.05*float64(run)), clients, position))
					position++
				}
				c.Metrics = madeMetrics(c.Runs)
				d.Cells = append(d.Cells, c)
			}
		}
	}
	d.Cells[3].Verdict, d.Cells[3].Reasons = bench.ClientBound, []string{"the client's core was 88 % busy & <hot>"}
	d.Cells[8].Runs[0].Discarded = "warming up"
	return d
}

func madeRun(rate float64, clients, position int) bench.Run {
	mean := float64(clients) / rate * 1000
	k := &bench.Client{Seconds: []bench.Second{}, Connections: 100, Workers: 1, Pages: 50,
		ConnectTimeMS: bench.Moments{N: 100, Mean: num(.1), SD: num(.02), Min: num(.05), Max: num(.4)},
		ReplyTimeMS:   bench.Moments{N: uint64(rate), Mean: num(mean), SD: num(mean / 4), Min: num(mean / 2), Max: num(mean * 8)},
		ReplyBytes:    bench.Moments{N: uint64(rate), Mean: num(6600), SD: num(2000), Min: num(1200), Max: num(205000)},
		BodyBytes:     bench.Moments{N: uint64(rate), Mean: num(6395), SD: num(2000), Min: num(1024), Max: num(204800)},
	}
	for _, q := range []float64{.01, .1, .25, .5, .75, .9, .95, .99, .995, .999, 1} {
		k.Spectrum = append(k.Spectrum, bench.Point{Q: q, MS: mean * (.5 + .5*math.Pow(1-min(q, .9999), -.25))})
	}
	for i := range 8 {
		wave := 1 + .03*math.Sin(float64(i+position))
		k.Seconds = append(k.Seconds, bench.Second{AtS: float64(i), ForS: 1, Good: uint64(rate * wave), P50: num(mean), P99: num(mean * 3 * wave), Max: num(mean * 6)})
	}
	r := bench.Run{Requests: uint64(rate * 8), ElapsedS: 8, Position: position, Client: k}
	r.RequestsPerS, r.ConnectionsPerS, r.ThroughputMbitS = num(rate), num(rate), num(rate*6600*8/1e6)
	r.LatencyMS = bench.Quantiles[float64]{P50: num(mean), P90: num(mean * 1.4), P99: num(mean * 2), P999: num(mean * 4), Max: num(mean * 6), Mean: num(mean)}
	r.ErrorsPerS, r.Little = num(0), num(float64(clients)-.1)
	r.ServerCPUPercent, r.ServerCPUMicros, r.ClientCPUPercent = num(98), num(1e6*.98/rate), num(45)
	return r
}

// madeMetrics sums up three runs or more whose figures grow from one to the
// next.
func madeMetrics(runs []bench.Run) (out bench.Figures[bench.Metric]) {
	low, middle, high := &runs[0].Figures, &runs[len(runs)/2].Figures, &runs[len(runs)-1].Figures
	of := func(pick func(*bench.Figures[float64]) *float64) *bench.Metric {
		return &bench.Metric{Median: pick(middle), Lo: pick(low), Hi: pick(high), N: len(runs)}
	}
	out.RequestsPerS = of(func(f *bench.Figures[float64]) *float64 { return f.RequestsPerS })
	out.ThroughputMbitS = of(func(f *bench.Figures[float64]) *float64 { return f.ThroughputMbitS })
	out.ErrorsPerS = of(func(f *bench.Figures[float64]) *float64 { return f.ErrorsPerS })
	out.Little = of(func(f *bench.Figures[float64]) *float64 { return f.Little })
	out.ServerCPUPercent = of(func(f *bench.Figures[float64]) *float64 { return f.ServerCPUPercent })
	out.ClientCPUPercent = of(func(f *bench.Figures[float64]) *float64 { return f.ClientCPUPercent })
	out.LatencyMS.Mean = of(func(f *bench.Figures[float64]) *float64 { return f.LatencyMS.Mean })
	// What falls as the rate grows has its bounds the other way round.
	falling := func(pick func(*bench.Figures[float64]) *float64) *bench.Metric {
		m := of(pick)
		m.Lo, m.Hi = m.Hi, m.Lo
		return m
	}
	out.ServerCPUMicros = falling(func(f *bench.Figures[float64]) *float64 { return f.ServerCPUMicros })
	out.LatencyMS.P50 = falling(func(f *bench.Figures[float64]) *float64 { return f.LatencyMS.P50 })
	out.LatencyMS.P99 = falling(func(f *bench.Figures[float64]) *float64 { return f.LatencyMS.P99 })
	out.LatencyMS.Max = falling(func(f *bench.Figures[float64]) *float64 { return f.LatencyMS.Max })
	return out
}

// hostile is a document whose every text wants to be markup, and is long.
func hostile() *bench.Document {
	const evil = `</style></svg><script>alert("x")</script>&amp;'`
	d := climbed()
	d.Verdict, d.Reasons = bench.RepliesWrong, []string{evil + "\n\tand a second line", fmt.Sprint(time.Second, evil)}
	d.Command = []string{"weighstone", evil}
	d.Environment.Kernel, d.Environment.Facts[evil] = evil, evil
	for i := range d.Cells {
		d.Cells[i].Variant += evil
		d.Cells[i].Handler += "/a-rather-long-handler-name-without-any-space-in-it-" + evil
		d.Cells[i].Reasons = []string{evil}
	}
	for i := range d.Comparisons {
		d.Comparisons[i].Name += evil
		d.Comparisons[i].Source = evil
	}
	return d
}
