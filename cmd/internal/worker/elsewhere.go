package worker

import (
	"log/slog"
	"net/http"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cmd/internal/site"
)

// elsewhere are the paths of the mechanisms within the process whose libraries
// would make a program larger that is started often.
func elsewhere() []string { return []string{"/db/", "/lua/", "/wasm/"} }

// Elsewhere are the parts of a program that does without those mechanisms: when a
// request is for one of them, the process becomes the main program and goes on as
// that.
func Elsewhere(site.Config, *slog.Logger) ([]site.Part, error) {
	return []site.Part{handedOver{}}, nil
}

// handedOver answers requests for which the process could not become the other
// program.
type handedOver struct{}

// Routes returns the paths.
func (h handedOver) Routes() []weighstone.Route {
	var all []weighstone.Route
	for _, p := range elsewhere() {
		all = append(all, weighstone.Route{Pattern: p, Elsewhere: true, Waits: true, Handler: h})
	}
	return all
}

// Serve answers 503; why was logged.
func (handedOver) Serve(x *weighstone.Exchange) {
	x.Fail(http.StatusServiceUnavailable)
	x.Out.Close = true
}

// Close does nothing.
func (handedOver) Close() error { return nil }
