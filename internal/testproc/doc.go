// Package testproc has what tests need that play with other processes: a test
// binary that plays another role, and what processes say, kept. Only tests
// import it.
package testproc
