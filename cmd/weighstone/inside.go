package main

import (
	"time"

	"github.com/weighstone/weighstone/cmd/internal/site"
)

// insideFlags are about the mechanisms within the process.
type insideFlags struct {
	DB            string        `name:"db" placeholder:"FILE" help:"Serve the documents of this database at /db/; made of the fixtures if it is not there. By default the fixtures directory's own."`
	Lua           string        `placeholder:"DIR" help:"Run the scripts of DIR, NAME.lua, at /lua/NAME too, before the built-in ones; they are compiled again when they change."`
	Wasm          string        `placeholder:"DIR" help:"Run the WebAssembly modules of DIR, NAME.wasm, at /wasm/NAME too, before the built-in ones; they are compiled again when they change."`
	ScriptTimeout time.Duration `default:"10s" help:"Time of a script or module within the process; then it is stopped and answered 504."`
	ScriptMemory  size          `default:"64MiB" help:"Memory of a script within the process; then it is stopped and answered 500. A module gets no more."`
}

func (f *insideFlags) config() site.Inside {
	return site.Inside{DB: f.DB, Lua: f.Lua, Wasm: f.Wasm, Timeout: f.ScriptTimeout, Memory: int64(f.ScriptMemory)}
}
