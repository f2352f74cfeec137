package load

import "context"

// Ladder makes a run for each number of clients, one after another, and
// returns the results of those that were made: fewer than the steps when ctx
// ends.
func Ladder(ctx context.Context, config Config, clients []int) ([]*Result, error) {
	var all []*Result
	for _, n := range clients {
		config.Clients = n
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
