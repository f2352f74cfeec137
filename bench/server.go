package bench

// A Server is what the server's side used in a run, so far as it is known: as
// one number in a [Run], as a [Metric] over all runs in a [Cell]. It explains
// differences; nothing is judged by it. Children count as the server.
type Server[T any] struct {
	UserMicros   *T `json:"user_us_per_request"` // the kernel splits by ticks of 10 ms
	SystemMicros *T `json:"system_us_per_request"`

	VoluntarySwitches   *T `json:"voluntary_switches_per_request"` // context switches: it waited
	InvoluntarySwitches *T `json:"involuntary_switches_per_request"`
	MinorFaults         *T `json:"minor_faults_per_request"`

	RSSBytes  *T `json:"rss_bytes"` // at the end
	Threads   *T `json:"threads"`
	Processes *T `json:"processes"`

	// FirstMS is how long the first request by a cell's handler took, on a server
	// started afresh: what the mechanism takes to start. WorkerBytes is by how
	// much the server and its children had grown from before that request to the
	// run's end, for each process that had come, or in all if none had. Nil where
	// nobody looked.
	FirstMS     *T `json:"first_ms"`
	WorkerBytes *T `json:"worker_bytes"`

	BytesPerReply *T `json:"bytes_per_reply"` // head and body
	// EventsPerWait is how many events one wait of the server's loops returned:
	// nil for a server that does not count them.
	EventsPerWait *T `json:"events_per_wait"`
}

// Syscalls are the system calls of a server and its children under a cell's
// load. They are counted in a pass of their own, since counting them slows a
// server down several times, which makes its batches deeper.
type Syscalls struct {
	PerRequest map[string]float64 `json:"per_request"` // by name; null when they could not be counted
	Requests   uint64             `json:"requests"`    // in that pass
	Note       string             `json:"note"`        // why they could not be counted
}

// A Design is how a document's runs were laid out.
type Design struct {
	Repetitions int    `json:"repetitions"`
	Quick       bool   `json:"quick"` // fewer and shorter runs than a claim deserves
	Seed        uint64 `json:"seed"`
	Order       string `json:"order"`
}

// A Noise is how far a figure of one server differed from that of the same
// server: what a comparison must exceed to be claimed.
type Noise struct {
	Subject string   `json:"subject"`
	Metric  string   `json:"metric"`
	Ratio   *float64 `json:"ratio"`
	Lo      *float64 `json:"lo"`
	Hi      *float64 `json:"hi"`
	// Spread is the larger distance of an end of the interval from 1, as a
	// factor above 1; nil without an interval.
	Spread *float64 `json:"spread"`
}

// A Ceiling is the rate that the client reaches against a server that does
// next to nothing.
type Ceiling struct {
	Server       string  `json:"server"`
	Load         Load    `json:"load"`
	RequestsPerS *Metric `json:"requests_per_s"`
}

// A Ranking orders cells by a metric as far as their intervals allow: best
// first, those of a group not distinguished.
type Ranking struct {
	Metric string     `json:"metric"`
	Groups [][]string `json:"groups"` // names of cells
}
