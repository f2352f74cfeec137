package servertest_test

import (
	"strings"
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/servertest"
)

// TestHeaderLimit: the limit of a head is the one that was given.
func TestHeaderLimit(t *testing.T) {
	onEach(t, func(t *testing.T, e servertest.Engine) {
		s, _ := suite(t, e, weighstone.Options{Limits: weighstone.Limits{MaxHeader: 1000}})
		fits := get("/100.html", "X: "+strings.Repeat("a", 1000-len(get("/100.html", "X: "))))
		for _, c := range []servertest.Case{
			{Name: "as long as it may be", Send: fits, Want: "200 | @/100.html / open"},
			{Name: "a byte longer", Send: strings.Replace(fits, "a\r\n", "aa\r\n", 1), Want: "431 | Connection: close / close"},
			{Name: "without end", Send: get("/100.html", "X: "+strings.Repeat("a", 100000)), Want: "431 | Connection: close / close"},
		} {
			t.Run(c.Name, func(t *testing.T) { s.Run(t, c) })
		}
	})
}

// TestBodyLimit: the limit of a body is the one that was given, however its
// length is told.
func TestBodyLimit(t *testing.T) {
	most, more := string(pattern(maxBody)), string(pattern(maxBody+1))
	onEach(t, func(t *testing.T, e servertest.Engine) {
		s, _ := suite(t, e, weighstone.Options{})
		for _, c := range []servertest.Case{
			{Name: "by length", Send: post(most), Want: "200 | #1048576 / open"},
			{Name: "by length, a byte more", Send: post(more), Want: "413 | Connection: close / close"},
			{Name: "chunked", Send: chunked("100000\r\n" + most + "\r\n0\r\n\r\n"), Want: "200 | #1048576 / open"},
			{Name: "chunked, a byte more", Send: chunked("100001\r\n" + more + "\r\n0\r\n\r\n"), Want: "413 | Connection: close / close"},
		} {
			t.Run(c.Name, func(t *testing.T) { s.Run(t, c) })
		}
	})
}
