package worker

import (
	"log/slog"
	"slices"
	"testing"

	"github.com/weighstone/weighstone/cmd/internal/inside"
	"github.com/weighstone/weighstone/cmd/internal/site"
)

// TestElsewhere: what the main program has within its process is what a worker
// becomes it for.
func TestElsewhere(t *testing.T) {
	parts, err := inside.Parts(site.Config{Fixtures: t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, p := range parts {
		for _, r := range p.Routes() {
			want = append(want, r.Pattern)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := elsewhere(); !slices.Equal(got, want) {
		t.Errorf("the worker becomes the main program for %q, which has %q", got, want)
	}
}
