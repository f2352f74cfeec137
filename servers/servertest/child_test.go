package servertest_test

import (
	"testing"

	"github.com/weighstone/weighstone/internal/testproc"
)

// startChild starts this test binary in another role.
func startChild(t testing.TB, playing string, args ...string) *testproc.Child {
	t.Helper()
	cmd := testproc.Self(role + "=" + playing)
	cmd.Args = append(cmd.Args, args...)
	return testproc.Start(t, cmd)
}
