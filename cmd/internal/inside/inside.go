// Package inside names the mechanisms that run within the process and bring
// large libraries: documents from a database, scripts and WebAssembly modules. A
// program that is started often does without: linking them costs each start 1.4
// of 4.1 ms of CPU.
package inside

import (
	"errors"
	"log/slog"

	"github.com/weighstone/weighstone/cmd/internal/site"
	"github.com/weighstone/weighstone/handlers/script/lua"
	"github.com/weighstone/weighstone/handlers/script/wasm"
	"github.com/weighstone/weighstone/handlers/store"
)

// Parts makes the mechanisms, which open what they need when they are first
// asked.
func Parts(c site.Config, log *slog.Logger) ([]site.Part, error) {
	documents := store.New(store.Options{Fixtures: c.Fixtures, File: c.Inside.DB, Log: log})
	scripts, err := lua.New(lua.Options{Dir: c.Inside.Lua, Timeout: c.Inside.Timeout, Memory: c.Inside.Memory, Log: log})
	if err != nil {
		return nil, err
	}
	modules, err := wasm.New(wasm.Options{Dir: c.Inside.Wasm, Timeout: c.Inside.Timeout, Memory: c.Inside.Memory, Log: log})
	if err != nil {
		return nil, errors.Join(err, scripts.Close())
	}
	return []site.Part{documents, scripts, modules}, nil
}
