package bench

// A Verdict says what a cell, or a document, can be used for.
type Verdict string

// The verdicts, from best to worst.
const (
	Valid        Verdict = "valid"
	Noisy        Verdict = "noisy"         // the same twice differs too much: A/A spread, drift, steal, throttling
	ClientBound  Verdict = "client-bound"  // the client, not the server, set the rate
	Incomplete   Verdict = "incomplete"    // interrupted, or a run failed
	RepliesWrong Verdict = "replies-wrong" // a status, length or content was wrong
)

func (v Verdict) rank() int {
	for i, known := range []Verdict{Valid, Noisy, ClientBound, Incomplete, RepliesWrong} {
		if v == known {
			return i
		}
	}
	return 0
}

// Worse returns the worse of two verdicts; the empty one is as good as valid.
func (v Verdict) Worse(w Verdict) Verdict {
	if v == "" {
		v = Valid
	}
	if w.rank() > v.rank() {
		return w
	}
	return v
}

// Failed says whether a command with this verdict ends with status 1.
func (v Verdict) Failed() bool { return v == RepliesWrong || v == Incomplete }
