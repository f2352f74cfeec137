package site

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	rules "github.com/weighstone/weighstone/fixtures/specweb"
	"github.com/weighstone/weighstone/handlers/gateway/cgi"
	"github.com/weighstone/weighstone/handlers/specweb"
	"github.com/weighstone/weighstone/handlers/static"
	"github.com/weighstone/weighstone/internal/postlog"
)

// Specweb is what the SPECweb99-style workload depends on.
type Specweb struct {
	Log   postlog.Kind  // where POSTs are logged; empty for memory
	Fault specweb.Fault // made on purpose
}

// openSpecweb makes the workload's handlers: of its pages and its log, and of
// the page by a program. Without a log there is no workload.
func (c *Content) openSpecweb(config Config, log *slog.Logger) error {
	if config.PostLog == nil {
		return nil
	}
	c.posts = &posts{shared: config.PostLog, sync: config.Specweb.Log == postlog.Synced}
	c.parts = append(c.parts, specweb.New(specweb.Options{
		Files: static.NewContent(c.files).Append, Log: c.posts.open, Fault: config.Specweb.Fault, Errors: log,
	}))
	if config.Programs == "" {
		return nil
	}
	program := filepath.Join(config.Programs, "specweb")
	if _, err := os.Stat(program); err != nil {
		return nil // as with any other built-in program: 404
	}
	return c.add(cgi.New(cgi.Options{
		Scripts: map[string]string{rules.CGIURL: program}, Root: config.Fixtures, Timeout: config.CGITimeout, Log: log,
	}))
}

// posts is the log of POSTs, opened when it is first asked for.
type posts struct {
	shared *os.File
	sync   bool

	once sync.Once
	log  *postlog.Log
	err  error
}

func (p *posts) open() (*postlog.Log, error) {
	p.once.Do(func() { p.log, p.err = postlog.Open(p.shared, p.sync) })
	return p.log, p.err
}

// closePosts closes this process's descriptor of the log.
func (c *Content) closePosts() error {
	if c.posts == nil {
		return nil
	}
	c.posts.once.Do(func() {}) // from now on nobody opens it
	if c.posts.log == nil {
		return nil
	}
	return c.posts.log.Close()
}
