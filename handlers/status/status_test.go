package status

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weighstone/weighstone"
)

func TestStatus(t *testing.T) {
	report := Report{
		Variant: "epoll", PID: 42, Started: time.Now().Add(-time.Hour), Restarts: 3, Crashes: 8,
		Stats: weighstone.Stats{
			Conns: [weighstone.NumStates]int64{weighstone.StateIdle: 7, weighstone.StateWrite: 2}, Accepted: 11, Refused: 4, Cached: 6, Fetched: 3, Requests: 13,
			Responses: [6]uint64{2: 9, 4: 4}, BytesSent: 1 << 60, Waits: 5, Events: 9, Workers: 2,
		},
	}
	x := &weighstone.Exchange{}
	New(func() Report { return report }).Serve(x)
	if x.Out.Code() != 200 || x.Out.Type != "application/json" || int(x.Out.Body.Length) != len(x.Scratch) {
		t.Errorf("reply %+v", x.Out)
	}
	if want := []weighstone.Field{{Name: "Cache-Control", Value: "no-store"}}; !cmp.Equal(x.Out.Extra, want) {
		t.Errorf("fields %v", x.Out.Extra)
	}
	var got map[string]any
	if err := json.Unmarshal(x.Scratch, &got); err != nil {
		t.Fatal(err)
	}
	if up, ok := got["uptime_s"].(float64); !ok || up < 3600 {
		t.Errorf("uptime_s is %v, want an hour or more", got["uptime_s"])
	}
	delete(got, "uptime_s")
	want := map[string]any{
		"variant": "epoll", "pid": 42.0, "restarts": 3.0, "crashes": 8.0, "workers": 2.0, "accepted": 11.0, "refused": 4.0, "requests": 13.0, "cached": 6.0, "fetched": 3.0, "bytes_sent": float64(1 << 60), "waits": 5.0, "events": 9.0,
		"connections": map[string]any{"idle": 7.0, "head": 0.0, "body": 0.0, "handler": 0.0, "write": 2.0, "linger": 0.0},
		"responses":   map[string]any{"1xx": 0.0, "2xx": 9.0, "3xx": 0.0, "4xx": 4.0, "5xx": 0.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUptimeUnknown(t *testing.T) {
	text, err := appendJSON(nil, Report{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil || d.Uptime != 0 || d.Waits != nil || d.Events != nil {
		t.Errorf("%v, %v", d.Uptime, err)
	}
}

func TestPicture(t *testing.T) {
	report := Report{
		Variant: "prefork", PID: 42, Started: time.Now().Add(-time.Hour), Restarts: 1,
		Stats: weighstone.Stats{Accepted: 75, Requests: 80, BytesSent: 900},
		Workers: func() []Worker {
			return []Worker{
				{PID: 43, Conns: [weighstone.NumStates]int64{weighstone.StateIdle: 3, weighstone.StateHead: 2, weighstone.StateHandler: 1}},
				{PID: 44, Conns: [weighstone.NumStates]int64{weighstone.StateIdle: 64, weighstone.StateHead: -1, weighstone.StateWrite: 1, weighstone.StateLinger: 1}},
				{PID: 45},
			}
		},
	}
	x := &weighstone.Exchange{}
	x.In.Query = []byte("text")
	New(func() Report { return report }).Serve(x)
	want := "weighstone prefork, pid 42, up 3600.0 s, restarts: 1\n" +
		"accepted: 75, requests: 80, bytes sent: 900\n" +
		". idle  r head  b body  h handler  w write  l linger\n" +
		"\nworker 1, pid 43\n...rrh\n" +
		"\nworker 2, pid 44\n" + strings.Repeat(".", 64) + "\nwl\n" +
		"\nworker 3, pid 45\n"
	if diff := cmp.Diff(want, string(x.Scratch)); diff != "" || x.Out.Type != "text/plain; charset=utf-8" {
		t.Error(x.Out.Type, diff)
	}
}
