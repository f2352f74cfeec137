package site

import (
	"github.com/weighstone/weighstone/handlers/status"
	"github.com/weighstone/weighstone/internal/scoreboard"
)

// Report is what /server-status tells of a variant: what all processes have
// counted on the board. pid is the process that serves, or the master of those
// that do.
func Report(variant string, pid int, board *scoreboard.Board) status.Report {
	return status.Report{
		Variant: variant, PID: pid,
		Started: board.Started(), Restarts: int(board.Restarts()), Crashes: int(board.Crashes()), Stats: board.Sum(),
		Workers: func() []status.Worker { return pictured(board) },
	}
}

// pictured are the workers as the status page draws them.
func pictured(board *scoreboard.Board) []status.Worker {
	var all []status.Worker
	for _, w := range board.Workers() {
		all = append(all, status.Worker(w))
	}
	return all
}
