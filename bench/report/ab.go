package report

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench"
	"github.com/weighstone/weighstone/bench/load"
	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/bench/tally"
)

// An Indexing says which of the sorted times stands for a percentile in the
// report of [AB].
type Indexing bool

const (
	// Exact takes the smallest time that the share of all does not exceed,
	// and as the median of an even number the mean of the middle two.
	Exact Indexing = false
	// ABCompatible takes what ab 2.4 takes: of n times the one with index n*p/100
	// from 0, and as the median that with index n/2, but the mean of it and the
	// next where n is odd.
	ABCompatible Indexing = true
)

// AB writes results in the form of the report of ApacheBench 2.4, one after
// another: its labels, order, number formats and definitions. Where ab cannot
// have what a result has:
//
//   - Complete requests are all replies whose head was complete, the wrong
//     ones included, and so are the rates, as ab counts; but the times are those
//     of good replies. The time taken lasts until the last of them.
//   - Failed requests: Connect are connections that failed, for whatever
//     reason; Receive are replies that were reset, cut short or too late;
//     Length those of the wrong length; Exceptions malformed ones and those
//     with the wrong content, which ab does not check. A status other than 2xx is
//     no failure but has its own line.
//   - Of a plan with several files, the first one asked for is named, and the
//     length is Variable.
//
// Unlike ab's, the percentages are always nine, however few samples there are.
func AB(w io.Writer, ix Indexing, results ...*load.Result) error {
	var b bytes.Buffer
	for i, r := range results {
		if i > 0 {
			b.WriteString("\n\n")
		}
		a := newABReport(&b, r, ix)
		a.asked()
		a.counted()
		a.connectionTimes()
		a.percentages()
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// An abReport is one report on its way.
type abReport struct {
	*bytes.Buffer
	r      *load.Result
	ix     Indexing
	method string
	path   string
	done   uint64 // complete replies
	failed [4]uint64
	non2xx uint64
}

func newABReport(b *bytes.Buffer, r *load.Result, ix Indexing) *abReport {
	a := &abReport{Buffer: b, r: r, ix: ix, method: "GET"}
	if r.Config.Plan != nil {
		var first bench.Ask
		r.Config.Plan.Script(0).Next(&first)
		a.path = string(first.Target)
		if first.Method != "" {
			a.method = first.Method
		}
	}
	f := &r.Tally.Faults
	a.failed = [4]uint64{
		f[bench.FaultRefused] + f[bench.FaultLocal],
		f[bench.FaultReset] + f[bench.FaultShort] + f[bench.FaultTimeout],
		f[bench.FaultLength],
		f[bench.FaultMalformed] + f[bench.FaultContent],
	}
	for status, n := range r.Tally.Status {
		a.done += n
		if status/100 != 2 {
			a.non2xx += n
		}
	}
	return a
}

// line writes a label and what it is about.
func (a *abReport) line(label, format string, args ...any) {
	fmt.Fprintf(a, "%-24s"+format+"\n", append([]any{label + ":"}, args...)...)
}

func (a *abReport) asked() {
	host, port := a.r.Config.URL, "80"
	if h, _, err := plan.SplitURL(a.r.Config.URL); err == nil {
		host = h
	}
	if h, p, err := net.SplitHostPort(host); err == nil {
		host, port = h, p
	}
	software, _, _ := strings.Cut(a.r.Software, " ")
	a.line("Server Software", "%s", software)
	a.line("Server Hostname", "%s", host)
	a.line("Server Port", "%s", port)
	a.WriteByte('\n')
	a.line("Document Path", "%s", a.path)
	if s := &a.r.Tally.Content; s.N > 0 && s.Min != s.Max {
		a.line("Document Length", "Variable")
	} else {
		a.line("Document Length", "%d bytes", s.Max)
	}
	a.WriteByte('\n')
}

func (a *abReport) counted() {
	t := a.r.Tally
	// Replies count that ended after the window, so their time does too.
	seconds := max(a.r.Elapsed, t.Last-t.Config.From).Seconds()
	var failed uint64
	for _, n := range a.failed {
		failed += n
	}
	a.line("Concurrency Level", "%d", a.r.Config.Clients)
	a.line("Time taken for tests", "%.3f seconds", seconds)
	a.line("Complete requests", "%d", a.done)
	a.line("Failed requests", "%d", failed)
	if failed > 0 {
		fmt.Fprintf(a, "   (Connect: %d, Receive: %d, Length: %d, Exceptions: %d)\n", a.failed[0], a.failed[1], a.failed[2], a.failed[3])
	}
	if a.non2xx > 0 {
		a.line("Non-2xx responses", "%d", a.non2xx)
	}
	if a.r.Config.Keepalive {
		a.line("Keep-Alive requests", "%d", a.r.Kept)
	}
	a.line("Total transferred", "%d bytes", t.BytesIn)
	switch a.method {
	case "POST":
		a.line("Total body sent", "%d", a.r.Sent)
	case "PUT":
		a.line("Total PUT", "%d", a.r.Sent)
	}
	a.line("HTML transferred", "%d bytes", t.Body)
	if a.done == 0 || seconds == 0 {
		return
	}
	each := seconds * 1000 / float64(a.done)
	a.line("Requests per second", "%.2f [#/sec] (mean)", float64(a.done)/seconds)
	a.line("Time per request", "%.3f [ms] (mean)", float64(a.r.Config.Clients)*each)
	a.line("Time per request", "%.3f [ms] (mean, across all concurrent requests)", each)
	a.line("Transfer rate", "%.2f [Kbytes/sec] received", float64(t.BytesIn)/1024/seconds)
	if a.method == "POST" {
		fmt.Fprintf(a, "%24s%.2f kb/s sent\n", "", float64(a.r.Sent)/1024/seconds)
		fmt.Fprintf(a, "%24s%.2f kb/s total\n", "", (float64(a.r.Sent)+float64(t.BytesIn))/1024/seconds)
	}
}

// connectionTimes writes the four rows, and ab's remarks on them.
func (a *abReport) connectionTimes() {
	t := a.r.Tally
	if t.Latency.N == 0 {
		return
	}
	// A request on a connection that stood already has connected in no time.
	connect := t.Connect.Padded(t.Latency.N - min(t.Connect.N, t.Latency.N))
	rows := []struct {
		label, what string
		times       *tally.Times
	}{
		{"Connect:", "the initial connection time", &connect},
		{"Processing:", "the processing time", &t.Processing},
		{"Waiting:", "the waiting time", &t.First},
		{"Total:", "the total time", &t.Latency},
	}
	a.WriteString("\nConnection Times (ms)\n              min  mean[+/-sd] median   max\n")
	var remarks strings.Builder
	for _, row := range rows {
		mean, _ := row.times.Mean()
		sd, middle := row.times.SD()/1e6, a.median(row.times)
		fmt.Fprintf(a, "%-11s %5d %4d %5.1f %6d %7d\n", row.label, rounded(row.times.Min), rounded(mean), sd, rounded(middle), rounded(row.times.Max))
		switch apart := float64(max(rounded(mean)-rounded(middle), rounded(middle)-rounded(mean))); {
		case apart > 2*sd:
			fmt.Fprintf(&remarks, "ERROR: The median and mean for %s are more than twice the standard\n       deviation apart. These results are NOT reliable.\n", row.what)
		case apart > sd:
			fmt.Fprintf(&remarks, "WARNING: The median and mean for %s are not within a normal deviation\n        These results are probably not that reliable.\n", row.what)
		}
	}
	a.WriteString(remarks.String())
}

func (a *abReport) percentages() {
	t := &a.r.Tally.Latency
	if t.N < 2 {
		return
	}
	a.WriteString("\nPercentage of the requests served within a certain time (ms)\n")
	for _, p := range []uint64{50, 66, 75, 80, 90, 95, 98, 99} {
		rank := (t.N*p + 99) / 100
		if a.ix == ABCompatible {
			rank = t.N*p/100 + 1
		}
		fmt.Fprintf(a, "  %d%%  %5d\n", p, rounded(ranked(t, rank)))
	}
	fmt.Fprintf(a, " 100%%  %5d (longest request)\n", rounded(t.Max))
}

func (a *abReport) median(t *tally.Times) time.Duration {
	low, high := (t.N+1)/2, t.N/2+1
	if a.ix == ABCompatible {
		low, high = t.N/2+1, t.N/2+1
		if t.N > 1 && t.N%2 == 1 {
			high++
		}
	}
	return (ranked(t, low) + ranked(t, high)) / 2
}

// ranked is the k-th smallest time, from 1; the maximum for one above 60 s,
// where nothing is known but that.
func ranked(t *tally.Times, k uint64) time.Duration {
	if v, ok := t.Rank(k); ok {
		return v
	}
	return t.Max
}

// rounded is d in milliseconds, as ab rounds its microseconds.
func rounded(d time.Duration) int64 { return (d.Microseconds() + 500) / 1000 }
