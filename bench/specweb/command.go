package specweb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	rules "github.com/weighstone/weighstone/fixtures/specweb"
)

// maxLog bounds what is read of a log, in bytes: of some ten million POSTs.
const maxLog = 1 << 30

// errForeign is for a server that answers a command with something else.
var errForeign = errors.New("the server does not have the workload, or another version of it")

// reset has the server begin anew and returns the tables that it has then. n
// tells resets apart.
func (c *Config) reset(ctx context.Context, n int) (*rules.Tables, error) {
	seed := c.Seed<<8 + uint64(n)
	b, err := c.command(ctx, http.MethodPost, fmt.Sprintf("%s?seed=%d&users=%d", rules.ResetURL, seed, c.Users))
	if err != nil {
		return nil, fmt.Errorf("reset: %w", err)
	}
	var at int64 // by the server's clock
	if _, err := fmt.Sscanf(string(b), rules.Style+" reset %d\n", &at); err != nil {
		return nil, fmt.Errorf("reset: %.60q: %w", b, errForeign)
	}
	return rules.NewTables(seed, c.Users, at), nil
}

// fetch returns the log.
func (c *Config) fetch(ctx context.Context) ([]byte, error) {
	b, err := c.command(ctx, http.MethodGet, rules.FetchURL)
	if err != nil {
		return nil, fmt.Errorf("fetch the log: %w", err)
	}
	return b, nil
}

// command sends a command on a connection of its own.
func (c *Config) command(ctx context.Context, method, target string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.URL+target, nil)
	if err != nil {
		return nil, err
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxLog))
	switch {
	case err != nil:
		return nil, err
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("status %d: %w", res.StatusCode, errForeign)
	}
	return b, nil
}
