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
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case starvedRole:
		os.Exit(starved())
	}
}
