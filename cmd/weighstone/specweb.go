package main

import (
	"errors"
	"fmt"

	"github.com/weighstone/weighstone/cmd/internal/site"
	"github.com/weighstone/weighstone/handlers/specweb"
	"github.com/weighstone/weighstone/internal/postlog"
)

// specwebFlags are about the SPECweb99-style workload.
type specwebFlags struct {
	PostLog     string `enum:"memory,file,fsync" default:"memory" placeholder:"memory|file|fsync" help:"Where POSTs are logged: in memory, in a file, or in a file that is on the disk before each is answered."`
	PostLogFile string `placeholder:"FILE" help:"The file; one that is there is gone on with. By default one without a name."`
	Fault       string `placeholder:"MODE:N" help:"With accel: make one reply in N wrong, to check who checks them: replay-post, drop-and-duplicate, stale-ad, mix-users, torn-record."`
	Seed        uint64 `default:"1" help:"Which one in N."`
}

// check refuses what contradicts itself.
func (f *specwebFlags) check(variant string) error {
	if f.PostLogFile != "" && f.PostLog == string(postlog.Memory) {
		return errors.New("--post-log-file: --post-log memory has no file")
	}
	if f.Fault == "" {
		return nil
	}
	if variant != faulty {
		return fmt.Errorf("--fault: %s makes no faults; only %s does", variant, faulty)
	}
	if _, err := specweb.ParseFault(f.Fault, f.Seed); err != nil {
		return fmt.Errorf("--fault: %w", err)
	}
	return nil
}

// faulty is the variant that makes faults when it is asked to: it has a cache
// that could.
const faulty = "accel"

// config is what was asked for.
func (f *specwebFlags) config() site.Specweb {
	c := site.Specweb{Log: postlog.Kind(f.PostLog)}
	if f.Fault != "" {
		c.Fault, _ = specweb.ParseFault(f.Fault, f.Seed) // check has seen it
	}
	return c
}

// openPosts takes over the log of POSTs from a predecessor, or begins one.
func (v *service) openPosts() (err error) {
	if v.posts, err = v.handoff.File(postsName); err != nil {
		return err
	}
	if v.posts == nil {
		c := &v.cmd.Specweb
		if v.posts, err = postlog.Create(postlog.Kind(c.PostLog), c.PostLogFile); err != nil {
			return err
		}
	}
	v.handoff.Share(postsName, int(v.posts.Fd()))
	if v.cmd.Specweb.Fault != "" {
		v.log.Warn("SOME REPLIES ARE WRONG ON PURPOSE", "fault", v.cmd.Specweb.Fault)
	}
	return nil
}
