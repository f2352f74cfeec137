package admin

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weighstone/weighstone"
)

// Facts are what the metrics tell at one moment.
type Facts struct {
	Variant  string
	Restarts int64
	Crashes  int64 // processes of the server that ended badly
	Stats    weighstone.Stats
}

// A collector turns a server's counters into metrics when it is asked, so
// that serving costs nothing more than counting.
type collector struct {
	facts func() Facts

	connections, workers, info                                *prometheus.Desc
	accepted, requests, responses, sent, waits, events, again *prometheus.Desc
	refused, cached, fetched, crashes                         *prometheus.Desc
}

func newCollector(facts func() Facts) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("weighstone_"+name, help, labels, nil)
	}
	return &collector{
		facts:       facts,
		info:        desc("info", "The architecture that serves.", "variant"),
		connections: desc("connections", "Connections now, by state.", "state"),
		workers:     desc("workers", "Loops, threads or processes that serve."),
		accepted:    desc("connections_accepted_total", "Connections accepted."),
		refused:     desc("connections_refused_total", "Connections closed at accept, since their address had its number."),
		cached:      desc("requests_cached_total", "Requests answered from a cache of replies."),
		fetched:     desc("file_reads_fetched_total", "Reads of files that helpers made, since the bytes were not in memory."),
		requests:    desc("requests_total", "Requests answered, whatever the answer."),
		responses:   desc("responses_total", "Responses by the class of their status.", "class"),
		sent:        desc("sent_bytes_total", "Bytes sent, heads and bodies."),
		waits:       desc("loop_waits_total", "Returns of the event loops' waits."),
		events:      desc("loop_events_total", "Events that those waits reported."),
		again:       desc("restarts_total", "Graceful restarts."),
		crashes:     desc("crashes_total", "Processes of the server that ended badly."),
	}
}

// Describe sends what there is to collect; see [prometheus.Collector].
func (c *collector) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, to) }

// Collect sends the counters as they are now; see [prometheus.Collector].
func (c *collector) Collect(to chan<- prometheus.Metric) {
	f := c.facts()
	send := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	send(c.info, gauge, 1, f.Variant)
	for state, n := range f.Stats.Conns {
		send(c.connections, gauge, float64(n), weighstone.ConnState(state).String())
	}
	for class := 1; class < len(f.Stats.Responses); class++ {
		send(c.responses, counter, float64(f.Stats.Responses[class]), strconv.Itoa(class)+"xx")
	}
	send(c.workers, gauge, float64(f.Stats.Workers))
	send(c.accepted, counter, float64(f.Stats.Accepted))
	send(c.refused, counter, float64(f.Stats.Refused))
	send(c.cached, counter, float64(f.Stats.Cached))
	send(c.fetched, counter, float64(f.Stats.Fetched))
	send(c.requests, counter, float64(f.Stats.Requests))
	send(c.sent, counter, float64(f.Stats.BytesSent))
	send(c.waits, counter, float64(f.Stats.Waits))
	send(c.events, counter, float64(f.Stats.Events))
	send(c.again, counter, float64(f.Restarts))
	send(c.crashes, counter, float64(f.Crashes))
}
