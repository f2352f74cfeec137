//go:build race

package tests

// buildFlags make the program that is tested: with the race detector, when the
// tests have it. It ends a process that had a race with status 66.
var buildFlags = []string{"-race"}
