package servertest_test

import (
	"os"
	"testing"
)

// role tells a child of the test binary what it is to be, instead of a run of
// the tests.
const role = "SERVERTEST_ROLE"

// TestMain runs the tests or plays a child's part in one.
func TestMain(m *testing.M) {
	playing := os.Getenv(role)
	if playing == "" {
		os.Exit(m.Run())
	}
	os.Exit(roles()[playing]())
}

// roles are the parts of children, which return their exit status.
func roles() map[string]func() int {
	return map[string]func() int{starvedRole: starved, askerRole: asker, workerRole: worker}
}
