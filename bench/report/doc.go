// Package report writes documents for people and for programs. Every writer is
// fed the same bench.Document and works nothing out that is not in it; but for
// the one in the form of ApacheBench, whose definitions are its own and which
// is fed the result of a run of the load generator.
package report
