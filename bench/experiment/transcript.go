package experiment

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench"
)

// asAB says whether a cell is what ab measures: a number of requests for one
// URL, from a server that is not stopped meanwhile and refuses nobody, since ab
// ends at the first connection that is reset.
func (c *cell) asAB() bool {
	return c.load.requests > 0 && c.load.planName == "" && c.load.pause == 0 && !c.load.limited
}

// transcripts has the real ab, where it is installed, put the cells' load on,
// when all runs are over, and keeps its reports.
func (s *session) transcripts(ctx context.Context) error {
	var cells []*cell
	for _, c := range s.design.cells() {
		if c.asAB() {
			cells = append(cells, c)
		}
	}
	if len(cells) == 0 {
		return nil
	}
	ab, err := exec.LookPath("ab")
	if err != nil {
		s.design.remark("ab itself is not installed (Debian package apache2-utils): its reports stand here in its form only")
		return nil
	}
	for _, c := range cells {
		s.tell(StageTranscript, c.name)
		text, err := s.lab.ab(ctx, ab, c)
		if ctx.Err() != nil {
			return errors.Join(errInterrupted, s.lab.down())
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", c.name, err), s.lab.down())
		}
		c.transcripts = append(c.transcripts, bench.Transcript{Cell: c.name, Tool: "ab itself", Text: text})
	}
	return s.lab.down()
}

// abPatience is how long a run of ab may take. Its own patience with a reply is
// 30 s.
const abPatience = time.Minute

// ab runs ab against a cell's server, wherever the kernel puts it, and returns
// its report: it is for reading, and no figure is taken from it.
func (l *lab) ab(ctx context.Context, program string, c *cell) (string, error) {
	base, err := l.up(ctx, c.subject)
	if err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, abPatience)
	defer cancel()
	args := []string{"-q", "-n", fmt.Sprint(c.load.requests), "-c", fmt.Sprint(c.load.clients)}
	if c.load.keepalive {
		args = append(args, "-k")
	}
	out, err := exec.CommandContext(limited, program, append(args, base+c.path)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ab failed: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}
