package subject

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// maxReply bounds what is read of a reply outside of measurements, in bytes.
const maxReply = 32 << 20

// Fetch asks base for path on a connection of its own and returns the body of
// the reply, which must have status 200. It does not share the load
// generator's parser: what both get wrong would look right.
func Fetch(ctx context.Context, base, path string) ([]byte, error) {
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true, ResponseHeaderTimeout: 10 * time.Second}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+path, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", path, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return nil, fmt.Errorf("fetch %s%s: %w", base, path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch %s%s: status %d, %s", base, path, resp.StatusCode, excerpt(body))
	}
	return body, nil
}

// once makes the probe once.
func (p Probe) once(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := Fetch(ctx, base, p.Path)
	if err != nil {
		return err
	}
	if !bytes.Equal(body, p.Body) {
		return fmt.Errorf("fetch %s%s: %w: %d bytes, %s, SHA-256 %x; expected %d bytes, %s, SHA-256 %x",
			base, p.Path, ErrWrongBytes, len(body), excerpt(body), sha256.Sum256(body), len(p.Body), excerpt(p.Body), sha256.Sum256(p.Body))
	}
	return nil
}

// until repeats the probe while nobody listens. An answer, right or wrong,
// ends it, and so do ctx and alive, which says how the server ended.
func (p Probe) until(ctx context.Context, base string, alive func() error) error {
	for wait := 2 * time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := p.once(ctx, base)
		if err == nil || !errors.Is(err, syscall.ECONNREFUSED) {
			return err
		}
		if died := alive(); died != nil {
			return died
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

func excerpt(b []byte) string {
	if len(b) > 60 {
		return fmt.Sprintf("%q...", b[:60])
	}
	return fmt.Sprintf("%q", b)
}

// freePort returns a TCP port on 127.0.0.1 that nothing listens on now.
func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
