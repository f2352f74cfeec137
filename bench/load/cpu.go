package load

import (
	"time"

	"github.com/weighstone/weighstone/internal/sys"
)

// A cpuClock measures what its thread uses of a core, the warm-up left out.
type cpuClock struct {
	running             bool
	at                  time.Duration // since the start of the run
	user0, system0      time.Duration
	waited0, waited     time.Duration // ready to run, but without a core
	user, system, given time.Duration // used, and the time it could have used
}

// begin starts measuring when from has come.
func (c *cpuClock) begin(now, from time.Duration) {
	if c.running || now < from {
		return
	}
	c.running, c.at = true, now
	c.user0, c.system0 = sys.ThreadCPU()
	c.waited0 = sys.ThreadWaited()
}

func (c *cpuClock) end(now time.Duration) {
	if !c.running {
		return
	}
	user, system := sys.ThreadCPU()
	c.user, c.system, c.given = user-c.user0, system-c.system0, now-c.at
	c.waited = min(max(sys.ThreadWaited()-c.waited0, 0), c.given)
}
