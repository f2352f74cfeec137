// Package admin tells operators of a serving process on a port of its own, so
// that asking never meets the traffic that is measured: its health, its
// counters for Prometheus, and profiles.
package admin
