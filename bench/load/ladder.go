package load

import "context"

// Ladder makes a run for each number of clients, one after another, and
// returns the results of those that were made: fewer than the steps when ctx
// ends.
func Ladder(ctx context.Context, config Config, clients []int) ([]*Result, error) {
	var all []*Result
	show := config.Progress
	for i, n := range clients {
		config.Clients = n
		if show != nil {
			config.Progress = func(p Progress) {
				p.Step, p.Steps = i+1, len(clients)
				show(p)
			}
		}
		r, err := Run(ctx, config)
		if err != nil {
			return all, err
		}
		all = append(all, r)
		if r.Interrupted {
			break
		}
	}
	return all, nil
}
