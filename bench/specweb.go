package bench

// A Specweb is what a run of the SPECweb99-style workload came to, beside its
// figures.
type Specweb struct {
	Connections int `json:"connections"`            // attempted
	Conforming  int `json:"conforming_connections"` // of them
	LineRate    int `json:"line_bits_per_s"`        // of each; 0 for as fast as replies come
	Directories int `json:"directories"`
	Processors  int `json:"processors,omitempty"` // of the server, where they were set for it
	// Passed says that the load conforms and the server kept its integrity; Why,
	// what was wrong if not.
	Passed bool   `json:"passed"`
	Why    string `json:"why,omitempty"`
	// ClientBytes is what the generator's memory grew by, its sockets' buffers
	// aside.
	ClientBytes int `json:"client_bytes"`
	// Rates are those of the connections, from the slowest to the fastest, in
	// bit/s: the quantiles at 0, 1, ... 100 %.
	Rates []float64 `json:"rates_bits_per_s"`

	Posts        int      `json:"posts"`              // sent
	Unanswered   int      `json:"posts_unanswered"`   // of them: they may be logged or not
	Records      int      `json:"records"`            // of the server's log
	Lost         int      `json:"lost"`               // answered, but not logged
	Duplicated   int      `json:"duplicated"`         // logged again
	Reordered    int      `json:"reordered"`          // logged behind one that was sent when it had been answered
	Corrupted    int      `json:"corrupted"`          // not as it was sent
	Foreign      int      `json:"foreign"`            // never sent
	WrongReplies int      `json:"wrong_replies"`      // by their contents
	Findings     []string `json:"findings,omitempty"` // the first of each kind
}

// Broken is how many findings there are against the server's integrity.
func (s *Specweb) Broken() int {
	return s.Lost + s.Duplicated + s.Reordered + s.Corrupted + s.Foreign + s.WrongReplies
}
