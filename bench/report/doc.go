// Package report writes documents for people and for programs. Every writer is
// fed the same bench.Document and works nothing out that is not in it.
package report
