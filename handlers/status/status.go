// Package status answers with what a server has counted: as JSON, or with the
// query "text" as a picture of its connections.
package status

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/weighstone/weighstone"
)

// A Report is what /server-status tells of a server.
type Report struct {
	Variant  string
	PID      int       // of the process that serves
	Started  time.Time // zero when unknown
	Restarts int       // graceful restarts so far
	Crashes  int       // processes of the server that ended badly
	Stats    weighstone.Stats
	Fault    string          // that the server makes on purpose; empty for none
	Workers  func() []Worker // asked for the picture only
}

// New returns a handler that answers with what source reports. Source is
// called for each request, by many goroutines, and must not block.
func New(source func() Report) weighstone.Handler {
	return weighstone.HandlerFunc(func(x *weighstone.Exchange) {
		x.AddField("Cache-Control", "no-store")
		if string(x.In.Query) == "text" {
			x.Scratch = appendPicture(x.Scratch[:0], source(), time.Now())
			x.SendScratch("text/plain; charset=utf-8")
			return
		}
		text, err := appendJSON(x.Scratch[:0], source(), time.Now())
		if err != nil {
			x.Fail(http.StatusInternalServerError)
			return
		}
		x.Scratch = text
		x.SendScratch("application/json")
	})
}

// document is the reply, in the order of its keys.
type document struct {
	Variant     string            `json:"variant"`
	PID         int               `json:"pid"`
	Uptime      float64           `json:"uptime_s"`
	Connections map[string]int64  `json:"connections"` // by state
	Accepted    uint64            `json:"accepted"`
	Refused     uint64            `json:"refused"` // connections beyond --conns-per-addr
	Requests    uint64            `json:"requests"`
	Cached      uint64            `json:"cached"`    // requests answered from a cache of replies
	Fetched     uint64            `json:"fetched"`   // reads of files that helpers made
	Responses   map[string]uint64 `json:"responses"` // by class: "2xx"
	BytesSent   uint64            `json:"bytes_sent"`
	Waits       *uint64           `json:"waits"`  // of the event loops; null without one
	Events      *uint64           `json:"events"` // that those waits reported
	Workers     int               `json:"workers"`
	Restarts    int               `json:"restarts"`
	Crashes     int               `json:"crashes"`         // of workers and of gateways' programs that stay
	Fault       string            `json:"fault,omitempty"` // made on purpose
}

// appendJSON appends r as it is at now, indented, for people read it too.
func appendJSON(dst []byte, r Report, now time.Time) ([]byte, error) {
	d := document{
		Variant: r.Variant, PID: r.PID, Restarts: r.Restarts, Crashes: r.Crashes, Fault: r.Fault,
		Connections: map[string]int64{}, Responses: map[string]uint64{},
		Accepted: r.Stats.Accepted, Refused: r.Stats.Refused, Requests: r.Stats.Requests, Cached: r.Stats.Cached, Fetched: r.Stats.Fetched,
		BytesSent: r.Stats.BytesSent, Workers: r.Stats.Workers,
	}
	if !r.Started.IsZero() {
		d.Uptime = now.Sub(r.Started).Round(time.Millisecond).Seconds()
	}
	if r.Stats.Waits > 0 {
		d.Waits, d.Events = &r.Stats.Waits, &r.Stats.Events
	}
	for state, n := range r.Stats.Conns {
		d.Connections[weighstone.ConnState(state).String()] = n
	}
	for class, n := range r.Stats.Responses {
		if class > 0 {
			d.Responses[fmt.Sprintf("%dxx", class)] = n
		}
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return dst, fmt.Errorf("render status: %w", err)
	}
	return append(append(dst, text...), '\n'), nil
}
