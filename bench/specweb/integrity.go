package specweb

import (
	"fmt"
	"strings"

	rules "github.com/weighstone/weighstone/fixtures/specweb"
)

// An Integrity is how a server's log compares with the POSTs that were sent.
type Integrity struct {
	Sent    int `json:"sent"`    // POSTs in all
	Unknown int `json:"unknown"` // of them, those without a reply: they may be logged or not
	Records int `json:"records"` // of the log

	Lost       Findings `json:"lost"`       // answered, but not logged
	Duplicated Findings `json:"duplicated"` // logged again
	Reordered  Findings `json:"reordered"`  // logged after one that was sent when it had been answered
	Corrupted  Findings `json:"corrupted"`  // not a record, out of line, or with other contents than were sent
	Foreign    Findings `json:"foreign"`    // never sent
}

// Findings are how often something was found, and the first few.
type Findings struct {
	N     int      `json:"n"`
	First []string `json:"first"`
}

// maxFindings is how many are shown.
const maxFindings = 5

func (f *Findings) add(format string, args ...any) {
	f.N++
	if len(f.First) < maxFindings {
		f.First = append(f.First, fmt.Sprintf(format, args...))
	}
}

// Whole says whether nothing was found.
func (i *Integrity) Whole() bool {
	return i.Lost.N+i.Duplicated.N+i.Reordered.N+i.Corrupted.N+i.Foreign.N == 0
}

// Why names what was found, each with the first of its kind; empty if nothing was.
func (i *Integrity) Why() string {
	var all []string
	for _, k := range i.kinds() {
		if k.of.N > 0 {
			all = append(all, fmt.Sprintf("%d %s (%s)", k.of.N, k.name, k.of.First[0]))
		}
	}
	return strings.Join(all, ", ")
}

// A kind is a sort of findings and its name.
type kind struct {
	name string
	of   *Findings
}

func (i *Integrity) kinds() []kind {
	return []kind{{"lost", &i.Lost}, {"duplicated", &i.Duplicated}, {"reordered", &i.Reordered}, {"corrupted", &i.Corrupted}, {"foreign", &i.Foreign}}
}

// A comparison goes through a log, record by record.
type comparison struct {
	*Integrity
	sessions []*session
	seen     [][]int // the record of each POST, from 1; 0 for none yet
	latest   post    // of those seen, the one that began last
	id       uint64  // its
}

// Compare compares a log with what the plan's clients sent, POST by POST.
func (p *Plan) Compare(log []byte) *Integrity {
	c := comparison{Integrity: &Integrity{Records: len(log) / rules.RecordBytes}, sessions: p.sessions, seen: make([][]int, len(p.sessions))}
	for client, s := range p.sessions {
		c.seen[client] = make([]int, len(s.posts))
		c.Sent += len(s.posts)
	}
	for n, at := 1, 0; at < len(log); n, at = n+1, at+rules.RecordBytes {
		c.record(n, log[at:min(at+rules.RecordBytes, len(log))])
	}
	c.missing()
	return c.Integrity
}

// record looks at the n-th record of the log.
func (c *comparison) record(n int, b []byte) {
	r, ok := rules.ParseRecord(b)
	if !ok {
		c.Corrupted.add("record %d: %q", n, b)
		return
	}
	client, k := int(r.ID>>32), int(r.ID&(1<<32-1))
	if client >= len(c.sessions) || k >= len(c.sessions[client].posts) {
		c.Foreign.add("record %d: id %016x", n, r.ID)
		return
	}
	sent := c.sessions[client].posts[k]
	file, visitor := sent.was()
	switch first := c.seen[client][k]; {
	case r.Number != uint64(n):
		c.Corrupted.add("record %d calls itself %d: id %016x", n, r.Number, r.ID)
	case r.File != file || r.Visitor != visitor:
		c.Corrupted.add("record %d: id %016x has %s of %v, sent were %s of %v", n, r.ID, r.File.Path(), r.Visitor, file.Path(), visitor)
	case first > 0:
		c.Duplicated.add("record %d: id %016x is record %d already", n, r.ID, first)
		return
	case sent.ended < c.latest.begun:
		c.Reordered.add("record %d: id %016x, answered after %v, behind id %016x, which was sent after %v",
			n, r.ID, sent.ended.time(), c.id, c.latest.begun.time())
	}
	c.seen[client][k] = n
	if sent.begun > c.latest.begun {
		c.latest, c.id = sent, r.ID
	}
}

// missing looks for the POSTs that no record is of.
func (c *comparison) missing() {
	for client, s := range c.sessions {
		for k, sent := range s.posts {
			switch {
			case !sent.answered():
				c.Unknown++
			case c.seen[client][k] == 0:
				file, _ := sent.was()
				c.Lost.add("id %016x, %s", postID(client, k), file.Path())
			}
		}
	}
}
