package specweb

import (
	"fmt"

	rules "github.com/weighstone/weighstone/fixtures/specweb"
)

// An Integrity is how a server's log compares with the POSTs that were sent.
type Integrity struct {
	Sent    int `json:"sent"`    // POSTs in all
	Unknown int `json:"unknown"` // of them, those without a reply: they may be logged or not
	Records int `json:"records"` // of the log

	Lost       Findings `json:"lost"`       // answered, but not logged
	Duplicated Findings `json:"duplicated"` // logged again
	Reordered  Findings `json:"reordered"`  // logged before what its client had sent earlier
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

// Compare compares a log with what the plan's clients sent, POST by POST.
func (p *Plan) Compare(log []byte) *Integrity {
	i := &Integrity{Records: len(log) / rules.RecordBytes}
	seen := make([][]int, len(p.sessions)) // the first record of each POST, from 1
	latest := make([]int, len(p.sessions)) // the last POST of a client seen so far, from 1
	for c, s := range p.sessions {
		seen[c] = make([]int, len(s.posts))
		i.Sent += len(s.posts)
	}
	for n, at := 1, 0; at < len(log); n, at = n+1, at+rules.RecordBytes {
		b := log[at:min(at+rules.RecordBytes, len(log))]
		r, ok := rules.ParseRecord(b)
		if !ok {
			i.Corrupted.add("record %d: %q", n, b)
			continue
		}
		client, k := int(r.ID>>32), int(r.ID&(1<<32-1))
		if client >= len(p.sessions) || k >= len(p.sessions[client].posts) {
			i.Foreign.add("record %d: id %016x", n, r.ID)
			continue
		}
		sent := &p.sessions[client].posts[k]
		switch {
		case r.Number != uint64(n):
			i.Corrupted.add("record %d calls itself %d: id %016x", n, r.Number, r.ID)
		case r.File != sent.file || r.Visitor != sent.visitor:
			i.Corrupted.add("record %d: id %016x has %s of %v, sent were %s of %v", n, r.ID, r.File.Path(), r.Visitor, sent.file.Path(), sent.visitor)
		case seen[client][k] > 0:
			i.Duplicated.add("record %d: id %016x is record %d already", n, r.ID, seen[client][k])
			continue
		case k+1 < latest[client]:
			i.Reordered.add("record %d: id %016x after the same client's %016x", n, r.ID, postID(client, latest[client]-1))
		}
		seen[client][k] = n
		latest[client] = max(latest[client], k+1)
	}
	for c, s := range p.sessions {
		for k := range s.posts {
			switch {
			case s.posts[k].state == unanswered:
				i.Unknown++
			case seen[c][k] == 0:
				i.Lost.add("id %016x, %s", postID(c, k), s.posts[k].file.Path())
			}
		}
	}
	return i
}
