package specweb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	rules "github.com/weighstone/weighstone/fixtures/specweb"
	"github.com/weighstone/weighstone/internal/postlog"
)

// A Fault makes replies wrong on purpose, as a cache could that keeps what it
// must not: so that whoever checks them can be checked. The zero value makes
// none.
type Fault struct {
	Mode  string // one of Faults
	Every uint64 // one of so many of the requests that it can befall
	Seed  uint64 // which of so many: others with another seed
}

// The faults.
const (
	replayPost       = "replay-post"        // a POST is logged twice
	dropAndDuplicate = "drop-and-duplicate" // a POST is not logged, but the next one twice
	staleAd          = "stale-ad"           // a user is shown what was shown last
	mixUsers         = "mix-users"          // a user is shown what another one was to be
	tornRecord       = "torn-record"        // half of a record is missing
)

// Faults are the names of all faults.
func Faults() []string {
	return []string{replayPost, dropAndDuplicate, staleAd, mixUsers, tornRecord}
}

// ParseFault reads MODE:N.
func ParseFault(text string, seed uint64) (Fault, error) {
	mode, every, found := strings.Cut(text, ":")
	n, err := strconv.ParseUint(every, 10, 32)
	if !found || err != nil || n < 1 || !slices.Contains(Faults(), mode) {
		return Fault{}, fmt.Errorf("expected MODE:N, a number of 1 or more and one of %s, but got %q", strings.Join(Faults(), ", "), text)
	}
	return Fault{Mode: mode, Every: n, Seed: seed}, nil
}

// String is MODE:N, empty for none.
func (f Fault) String() string {
	if f.Mode == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", f.Mode, f.Every)
}

// A culprit commits a fault. What it counts and owes is in the log, so that all
// processes of a server commit it together, also across a restart.
type culprit struct{ Fault }

// strikes counts a request that the fault can befall, together with those of all
// processes, and says whether it does.
func (c *culprit) strikes(log *postlog.Log) bool { return (log.Count()+c.Seed)%c.Every == 0 }

// show returns what a visitor is shown.
func (c *culprit) show(log *postlog.Log, t *rules.Tables, v rules.Visitor, now int64) rules.Showing {
	right := t.Next(v.User, v.Last, now)
	if c.Mode != staleAd && c.Mode != mixUsers || !c.strikes(log) {
		return right
	}
	if c.Mode == staleAd {
		return t.Show(v.User, v.Last, now)
	}
	for step := 1; step < t.Users(); step++ { // some others would be shown the same
		if wrong := t.Next((v.User+step)%t.Users(), v.Last, now); wrong != right {
			return wrong
		}
	}
	return right
}

// record logs a POST that began in a generation of the log.
func (c *culprit) record(log *postlog.Log, generation uint64, r *rules.Record) error {
	times := 1
	switch c.Mode {
	case replayPost:
		if c.strikes(log) {
			times = 2
		}
	case dropAndDuplicate:
		switch {
		case c.strikes(log):
			log.Owe()
			times = 0
		case log.Paid():
			times = 2
		}
	case tornRecord:
		if c.strikes(log) {
			_, err := log.AppendTo(generation, func(dst []byte, number uint64) []byte { return torn(r, dst, number) })
			return err
		}
	}
	for range times {
		if _, err := log.AppendTo(generation, func(dst []byte, number uint64) []byte {
			r.Number = number
			return r.Append(dst)
		}); err != nil {
			return err
		}
	}
	return nil
}

// torn appends a record of which the second half is blank.
func torn(r *rules.Record, dst []byte, number uint64) []byte {
	r.Number = number
	dst = r.Append(dst)
	for i := rules.RecordBytes / 2; i < rules.RecordBytes-1; i++ {
		dst[i] = ' '
	}
	return dst
}
