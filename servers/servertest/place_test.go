package servertest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/handlers/api"
	"github.com/weighstone/weighstone/handlers/static"
	"github.com/weighstone/weighstone/servers/servertest"
)

// A place is a test site in plain words, so that it can be the same in this
// process and in the workers of a process architecture, which get it as JSON.
// What happens there is told by files, which all processes have.
type place struct {
	Kind  string // which routes it has
	Root  string // directory of its files; empty for none
	Open  int    // how many of them stay open between requests, none in memory; 0 for files in memory
	Lines string // file that gets a byte for each line of the access log; empty for no log
	Tells string // named pipe on which handlers tell what happens to them; empty for none
}

// The kinds of places.
const (
	bodyPlace  = "bodies" // a route for each kind of body
	apiPlace   = "api"    // these, the API, and what the process has allocated
	fieldPlace = "fields" // the API, and a list of the request's fields
	gonePlace  = "gone"   // a handler that waits for its client to leave
	pagePlace  = "page"   // nothing but a page in memory
)

// routes are those of the kind, but for the files.
func (p *place) routes() []weighstone.Route {
	switch p.Kind {
	case bodyPlace:
		return bodyRoutes()
	case apiPlace:
		return slices.Concat(api.Routes(), bodyRoutes(), []weighstone.Route{heapRoute()})
	case fieldPlace:
		return append(api.Routes(), fieldsRoute())
	case gonePlace:
		return []weighstone.Route{p.goneRoute()}
	case pagePlace:
		return []weighstone.Route{pageRoute()}
	}
	return nil
}

// site makes the site. close ends what it holds.
func (p *place) site() (site *weighstone.Site, close func(), err error) {
	routes, close := p.routes(), func() {}
	if p.Root != "" {
		o := static.Options{Roots: []string{p.Root}, Descriptors: p.Open}
		if p.Open > 0 {
			o.MemoryLimit = -1
		}
		files, err := static.New(o)
		if err != nil {
			return nil, nil, err
		}
		close = func() { files.Close() }
		routes = append(routes, weighstone.Route{Pattern: "/", Methods: weighstone.GET | weighstone.HEAD, Handler: files})
	}
	site, err = weighstone.NewSite(maxBody, routes...)
	return site, close, err
}

// options adds what every server of this place gets: its log, and how a
// process architecture starts its processes.
func (p *place) options(o weighstone.Options) (weighstone.Options, error) {
	if p.Lines != "" {
		o.Access = lineCount(p.Lines)
	}
	about, err := json.Marshal(p)
	if err != nil {
		return o, err
	}
	self, err := os.Executable()
	o.Worker = &weighstone.WorkerCommand{
		Path: self, Args: []string{string(about)},
		// First, since the first of two counts.
		Env: append([]string{role + "=" + workerRole}, os.Environ()...),
	}
	return o, err
}

// start runs a server of kind e at a place.
func start(t testing.TB, e servertest.Engine, p place, o weighstone.Options) *servertest.Server {
	t.Helper()
	site, close, err := p.site()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(close)
	if o, err = p.options(o); err != nil {
		t.Fatal(err)
	}
	server := servertest.Start(t, e, site, o)
	if p.Open > 0 {
		// Before the server's end, which nothing may outlive: what is kept open,
		// and what was and is the collector's to close.
		t.Cleanup(func() { close(); runtime.GC() })
	}
	return server
}

// suite starts an engine on the site of bodies and files.
func suite(t *testing.T, e servertest.Engine, o weighstone.Options) (*servertest.Suite, *servertest.Server) {
	t.Helper()
	return suiteAt(t, e, place{Kind: bodyPlace, Root: newRoot(t)}, o)
}

func suiteAt(t *testing.T, e servertest.Engine, p place, o weighstone.Options) (*servertest.Suite, *servertest.Server) {
	t.Helper()
	if o.Limits.MaxBody == 0 {
		o.Limits.MaxBody = maxBody
	}
	server := start(t, e, p, o)
	return &servertest.Suite{Addr: server.Addr, Engine: e, Root: p.Root, Plain: "/100.html"}, server
}

// A lineCount is an access log that counts, in the size of the file it names.
type lineCount string

func (l lineCount) Exchange(*weighstone.Exchange, int, int64) {
	f, err := os.OpenFile(string(l), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.Write([]byte{'.'})
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		panic(err)
	}
}

// lines is how many there are in the log of a place.
func (p *place) lines(t *testing.T) uint64 {
	t.Helper()
	info, err := os.Stat(p.Lines)
	if err != nil {
		t.Fatal(err)
	}
	return uint64(info.Size())
}

// tellings are what handlers tell, in its order.
type tellings struct {
	t    *testing.T
	pipe *os.File
}

// listen makes the pipe of a place.
func (p *place) listen(t *testing.T) *tellings {
	t.Helper()
	p.Tells = filepath.Join(t.TempDir(), "tells")
	return openTellings(t, p.Tells)
}

// await waits until this is told.
func (l *tellings) await(what byte) {
	l.t.Helper()
	var b [1]byte
	if err := l.pipe.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		l.t.Fatal(err)
	}
	if _, err := io.ReadFull(l.pipe, b[:]); err != nil || b[0] != what {
		l.t.Fatalf("%q is told, %v; want %q", b, err, what)
	}
}

// tell tells a byte, in whichever process.
func (p *place) tell(what byte) {
	f, err := os.OpenFile(p.Tells, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.Write([]byte{what})
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		panic(fmt.Errorf("tell %c: %w", what, err))
	}
}
