package subject

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/weighstone/weighstone/internal/proc"
)

// A Remote is a server that somebody else started: only its address is known.
type Remote struct {
	name, base string
	probe      Probe
}

// NewRemote makes a subject of an http URL without path, which it checks.
func NewRemote(name, rawURL string, probe Probe) (*Remote, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("subject %s: %w", name, err)
	}
	if u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, fmt.Errorf("subject %s: %q is not of the form http://HOST:PORT", name, rawURL)
	}
	return &Remote{name: name, base: "http://" + u.Host, probe: probe}, nil
}

// Name implements [Subject].
func (r *Remote) Name() string { return r.name }

// Start implements [Subject]: it only makes the probe.
func (r *Remote) Start(ctx context.Context) (string, error) {
	if err := r.probe.once(ctx, r.base); err != nil {
		return "", fmt.Errorf("subject %s: %w\nto do: %s", r.name, err, r.advice(err))
	}
	return r.base, nil
}

// advice says what to do about a probe that failed.
func (r *Remote) advice(err error) string {
	if errors.Is(err, ErrWrongBytes) {
		return fmt.Sprintf("have it serve the files of \"weighstone fixtures write DIR\" at /, and see with \"curl -i %s%s\" what it answers", r.base, r.probe.Path)
	}
	return fmt.Sprintf("see with \"curl -i %s%s\" whether it runs there and serves the files of \"weighstone fixtures write DIR\"", r.base, r.probe.Path)
}

// Usage implements [Subject]; it always fails with [ErrNotHere].
func (r *Remote) Usage() (proc.Usage, error) { return proc.Usage{}, ErrNotHere }

// Pid implements [Subject]; it always fails with [ErrNotHere].
func (r *Remote) Pid() (int, error) { return 0, ErrNotHere }

// Said implements [Subject]: nobody can tell.
func (r *Remote) Said() []string { return nil }

// Died implements [Subject]: nobody can tell.
func (r *Remote) Died() error { return nil }

// Stop implements [Subject]: it is left as it was found.
func (r *Remote) Stop(context.Context) error { return nil }

// Facts implements [Subject].
func (r *Remote) Facts() []Fact { return []Fact{{"url", r.base}, {"started by", "somebody else"}} }

// Unequal implements [Subject].
func (r *Remote) Unequal() []string {
	return []string{"it was started by somebody else: nothing is known of its configuration, and it may share the client's core"}
}
