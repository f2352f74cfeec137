package bench

// A Study is what came of repeating a published comparison.
type Study struct {
	Name    string   `json:"name"`
	Summary []string `json:"summary"` // what was claimed, what was measured, what holds: three sentences
	// Conclusions are in the order of the study.
	Conclusions []Conclusion `json:"conclusions"`
	Transcripts []Transcript `json:"transcripts,omitempty"`
}

// A Conclusion is a statement of a study, judged by what was measured here.
type Conclusion struct {
	Text   string `json:"text"`
	Figure string `json:"figure"` // what is looked at, in words
	Want   string `json:"want"`   // what the figure must be for the statement to hold
	// Holds is true when the figure's whole interval is as wanted, false when
	// none of it is, and nil when it can't be judged.
	Holds *bool `json:"holds"`
	// Value is the figure with its interval. Where it is known only that the
	// figure is at least or at most so much, the other end is nil.
	Value *float64 `json:"value"`
	Lo    *float64 `json:"lo"`
	Hi    *float64 `json:"hi"`
	N     int      `json:"n"` // runs behind it
	// Margin says how far the nearer end of the interval is from what would
	// change the judgement; Reason, why it can't be judged.
	Margin string `json:"margin,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Published is the same figure from the study's own tables; nil where they
	// do not have it.
	Published *float64 `json:"published"`
}

// A Transcript is the report of another tool, or in its form, as it was.
type Transcript struct {
	Cell string `json:"cell"`
	Tool string `json:"tool"`
	Text string `json:"text"`
}
