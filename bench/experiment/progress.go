package experiment

import "time"

// A Progress says how far a run is.
type Progress struct {
	Experiment string
	Stage      Stage
	Done       int           // runs made
	Total      int           // runs in all
	Left       time.Duration // estimate; at [StageBegin], of the whole
	Cell       string        // that runs next, or is being proved
	Rate       float64       // good replies a second in the run before
}

// A Stage is a part of a run.
type Stage int

// The stages.
const (
	StageBegin      Stage = iota // nothing has run: Left is the estimate
	StageProof                   // Cell shows that it answers right
	StageRun                     // Cell runs
	StageEnd                     // nothing more to come
	StagePilot                   // it is found out what Cell can do
	StageTrace                   // the system calls of Cell are counted
	StageTranscript              // another tool measures Cell
)

// A clock estimates what is left of a run.
type clock struct {
	begun       time.Time
	cost, spent time.Duration // by the design's own estimate
}

// left scales the estimate of what is to come by how wrong it was so far.
func (c *clock) left() time.Duration {
	if c.spent == 0 {
		return c.cost
	}
	factor := float64(time.Since(c.begun)) / float64(c.spent)
	return max(0, time.Duration(factor*float64(c.cost-c.spent)))
}
