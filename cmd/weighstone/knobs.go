package main

import (
	"fmt"
	"strings"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers"
)

// knobFlags are the flags of what an architecture leaves open. Each variant
// has some of them; the zero value of each is the variant's own default.
type knobFlags struct {
}

// set lists the flags that the user has turned.
func (k *knobFlags) set() []string {
	var flags []string
	for _, f := range []struct {
		flag string
		on   bool
	}{} {
		if f.on {
			flags = append(flags, f.flag)
		}
	}
	return flags
}

// check refuses a knob that the variant does not have.
func (k *knobFlags) check(v *servers.Variant) error {
	for _, flag := range k.set() {
		if !v.Has(flag) {
			return fmt.Errorf("%s has no %s: its knobs are\n  %s", v.Name, flag, strings.Join(v.Knobs, "\n  "))
		}
	}
	return nil
}

// knobs returns the choices as the server takes them.
func (k *knobFlags) knobs() weighstone.Knobs { return weighstone.Knobs{} }
