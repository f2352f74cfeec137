package specweb

import "fmt"

// A Step is a load that a search tried.
type Step struct {
	Load   int  `json:"connections"`
	Passed bool `json:"passed"`
}

// String is the load, with what came of it.
func (s Step) String() string {
	if s.Passed {
		return fmt.Sprintf("%d passed", s.Load)
	}
	return fmt.Sprintf("%d failed", s.Load)
}

// Search finds the highest load that passes, to within step: it doubles the load
// from low until one fails or most is reached, halves the interval between the
// highest that passed and the lowest that failed, and tries both ends again. An
// end that does not hold moves the interval. try is asked for one load; shown,
// of each. The answer is 0 when nothing passes. It is not confirmed when its ends
// still did not hold after [maxConfirmations] rounds: then the server, or the
// machine, is at one time so and at another otherwise.
func Search(low, most, step int, try func(load int) (bool, error), shown func(Step)) (best int, confirmed bool, err error) {
	passed, failed := 0, most+step
	ask := func(load int) (bool, error) {
		ok, err := try(load)
		if err != nil {
			return false, fmt.Errorf("search at %d connections: %w", load, err)
		}
		shown(Step{load, ok})
		if ok {
			passed = max(passed, load)
		} else {
			failed = min(failed, load)
		}
		return ok, nil
	}
	for load := low; load <= most; load = min(2*load, max(most, load+1)) {
		ok, err := ask(load)
		if err != nil {
			return 0, false, err
		}
		if !ok || load == most {
			break
		}
	}
	for range maxConfirmations {
		for failed-passed > step {
			if _, err := ask(min(passed+(failed-passed)/2, most)); err != nil {
				return 0, false, err
			}
		}
		upper, lower := failed, passed
		if upper <= most {
			ok, err := ask(upper)
			if err != nil {
				return 0, false, err
			}
			if ok { // its failure was a chance
				best, passed, failed = upper, upper, min(most+step, 2*upper)
				continue
			}
		}
		if lower == 0 {
			return 0, true, nil
		}
		best = lower
		ok, err := ask(lower)
		if err != nil {
			return 0, false, err
		}
		if ok {
			return lower, true, nil
		}
		passed, failed = 0, lower // its pass was
	}
	return best, false, nil
}

// maxConfirmations bounds how often a search goes on with an end that did not
// hold.
const maxConfirmations = 4
