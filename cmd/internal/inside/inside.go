// Package inside names the mechanisms that run within the process and bring
// large libraries: documents from a database. A program that is started often
// does without: linking them costs each start some 2 ms of CPU, more than all
// else together.
package inside

import (
	"log/slog"

	"github.com/weighstone/weighstone/cmd/internal/site"
	"github.com/weighstone/weighstone/handlers/store"
)

// Parts are the mechanisms, which open what they need when they are first
// asked.
func Parts(c site.Config, log *slog.Logger) []site.Part {
	return []site.Part{
		store.New(store.Options{Fixtures: c.Fixtures, File: c.DB, Log: log}),
	}
}
