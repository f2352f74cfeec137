//go:build !race

package cgi_test

import (
	"testing"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/cgi"
)

type discard struct{}

func (discard) Field(_, _ []byte) {}

// emptyFields keeps the fields out of the count.
type emptyFields struct{}

func (emptyFields) Get(string) []byte         { return nil }
func (emptyFields) Each(weighstone.FieldSink) {}

func TestVariablesAllocateNothing(t *testing.T) {
	x := request()
	x.In.Fields = emptyFields{}
	s := cgi.Script{Interface: cgi.Interface, Name: "/s", File: "/f", Root: "/r", Info: "/i"}
	if n := testing.AllocsPerRun(100, func() { cgi.Variables(x, s, discard{}) }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
