// Package std is the engine nethttp: net/http of the standard library, which
// gives each connection a goroutine. The library parses requests and renders
// replies; the site is asked as on every other engine.
package std
