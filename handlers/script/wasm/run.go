package wasm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/handlers/gateway"
	"github.com/weighstone/weighstone/handlers/script"
)

// pageSize is that of WebAssembly's memories, in bytes.
const pageSize = 64 << 10

// compile makes machine code of a module. What an earlier version of it was
// compiled to is kept until the handler is closed, since it may be running.
func (h *Handler) compile(_ string, source []byte) (wazero.CompiledModule, error) {
	ctx := context.Background()
	if h.runtime == nil {
		if err := h.open(ctx); err != nil {
			return nil, err
		}
	}
	return h.runtime.CompileModule(ctx, source)
}

// open makes the runtime with its host functions.
func (h *Handler) open(ctx context.Context) error {
	pages := (h.opts.Memory + pageSize - 1) / pageSize
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithMemoryLimitPages(uint32(min(pages, 1<<16))).
		WithCloseOnContextDone(true))
	wasi := r.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(wasi)
	exportEnvironment(wasi)
	if _, err := wasi.Instantiate(ctx); err != nil {
		return errors.Join(err, r.Close(ctx))
	}
	h.runtime = r
	// Without a name, so that there can be many instances of a module.
	h.config = wazero.NewModuleConfig().WithName("").WithSysWalltime().WithSysNanotime().WithRandSource(rand.Reader)
	return nil
}

// run runs a module to its end. An error says that it was stopped or trapped.
func (h *Handler) run(x *weighstone.Exchange, module wazero.CompiledModule, s *seat, c script.Call, out *finished) error {
	ctx, cancel := context.WithDeadline(context.Background(), c.Deadline)
	defer cancel()
	defer cancelWhen(x.In.Gone, cancel)()
	ctx = experimental.WithMemoryAllocator(ctx, s)
	ctx = context.WithValue(ctx, environmentKey{}, &environment{x: x, script: c.Script})
	complaints := &gateway.Complaints{Host: h.host, Script: c.Script.Name}
	instance, err := h.runtime.InstantiateModule(ctx, module, h.config.
		WithStdin(c.Body).WithStdout(&out.Output).WithStderr(complaintWriter{complaints}))
	complaints.Flush()
	if instance != nil {
		instance.Close(ctx)
	}
	var exit *sys.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != sys.ExitCodeDeadlineExceeded && exit.ExitCode() != sys.ExitCodeContextCanceled {
		out.status, err = int(exit.ExitCode()), nil // an end of the module's own
	}
	if err == nil && out.Err() != nil {
		err = fmt.Errorf("write: %w", out.Err())
	}
	return err
}

// cancelWhen calls cancel when gone is closed. What it returns ends that.
func cancelWhen(gone <-chan struct{}, cancel func()) (stop func()) {
	if gone == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-gone:
			cancel()
		case <-done:
		}
	}()
	return func() { close(done) }
}

// A complaintWriter is standard error.
type complaintWriter struct{ c *gateway.Complaints }

func (w complaintWriter) Write(p []byte) (int, error) {
	w.c.Take(p)
	return len(p), nil
}
