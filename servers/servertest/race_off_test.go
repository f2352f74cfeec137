//go:build !race

package servertest_test

// raced says whether the tests run under the race detector.
const raced = false
