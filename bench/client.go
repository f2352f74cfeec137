package bench

// A Client is what only the load generator knows of a run, and what shows how
// far it can be believed.
type Client struct {
	ServiceMS Quantiles[float64] `json:"service_ms"` // from the client's start, not from when the request was due
	LagMS     Quantiles[float64] `json:"lag_ms"`     // how much later than it could the client began

	Late    uint64 `json:"late"`    // sent more than a millisecond after they were due
	Lagged  uint64 `json:"lagged"`  // of them, by the client's own lag and not for want of a free connection
	Dropped uint64 `json:"dropped"` // due but never sent
	Over60S uint64 `json:"over_60s"`

	Connections    uint64 `json:"connections"`
	ClosedByServer uint64 `json:"closed_by_server"` // first
	ClosedByClient uint64 `json:"closed_by_client"`
	Stale          uint64 `json:"stale"` // kept connections found closed, whose request was sent again
	Stray          uint64 `json:"stray"` // connections that brought bytes nobody had asked for, and were dropped
	IdleOpened     int    `json:"idle_opened"`
	IdleLost       int    `json:"idle_lost"`

	Sources       int    `json:"sources"`          // local addresses that connections came from
	Ports         int    `json:"ports_per_source"` // that the kernel chooses from; 0 when not known
	MostPerSource uint64 `json:"most_connections_per_source"`
	NoPort        uint64 `json:"no_port"` // connections that found no free port

	Workers    int     `json:"workers"`
	CPUUserS   float64 `json:"cpu_user_s"`
	CPUSystemS float64 `json:"cpu_system_s"`
	CPUWaitedS float64 `json:"cpu_waited_s"` // ready to run, but without a core
	CPUMicros  float64 `json:"cpu_us_per_request"`
	// BusyPercent is how much the client used of what it got of its cores; null
	// without any.
	BusyPercent *float64 `json:"busy_percent"`
	Interrupted bool     `json:"interrupted"`

	Mix        *Mix     `json:"mix"` // null for a plan with one class
	FirstError string   `json:"first_error"`
	Excerpt    string   `json:"first_error_excerpt"` // the beginning of that reply
	Seconds    []Second `json:"seconds"`
	// Steps are how many good replies ended in each 100 ms, the warm-up left
	// out: of runs of up to a minute.
	Steps []uint32 `json:"good_per_100ms,omitempty"`

	// Of good replies. A reply's time is from when its request was due and
	// includes the connection that was made for it.
	ConnectTimeMS Moments `json:"connect_time_ms"`
	ReplyTimeMS   Moments `json:"reply_time_ms"`
	ReplyBytes    Moments `json:"reply_bytes"` // head and body as read
	BodyBytes     Moments `json:"body_bytes"`
	Pages         uint64  `json:"pages"`    // whose last file came; 0 for a plan without pages
	Spectrum      []Point `json:"spectrum"` // of the latency, ascending; the last is the maximum
}

// Moments are the mean of N values, their sample standard deviation and their
// bounds; null where there are too few.
type Moments struct {
	N    uint64   `json:"n"`
	Mean *float64 `json:"mean"`
	SD   *float64 `json:"sd"`
	Min  *float64 `json:"min"`
	Max  *float64 `json:"max"`
}

// A Point says that a share Q of a distribution, from 0 to 1, is at most MS.
type Point struct {
	Q  float64 `json:"q"`
	MS float64 `json:"ms"`
}

// A Mix is how far the requests of a run were from their plan's weights, by
// Pearson's chi-squared test.
type Mix struct {
	ChiSquared float64 `json:"chi_squared"`
	Freedom    int     `json:"degrees_of_freedom"`
	// P is how often a fair draw would be as far off, or farther.
	P     float64 `json:"p"`
	Draws uint64  `json:"draws"`
	// Dynamic is the share of requests that programs answered, from 0 to 1.
	Dynamic float64 `json:"dynamic"`
}

// A Second is a stretch of a run of about a second, by when replies ended. Its
// quantiles have few samples and are for looking at.
type Second struct {
	AtS    float64  `json:"at_s"` // where it begins, since the start of the run
	ForS   float64  `json:"for_s"`
	Good   uint64   `json:"good"`
	Faults uint64   `json:"faults"`
	P50    *float64 `json:"p50_ms"`
	P99    *float64 `json:"p99_ms"`
	Max    *float64 `json:"max_ms"`
}
