package main

import (
	"fmt"

	"github.com/weighstone/weighstone/fixtures"
)

type fixturesCmd struct {
	Write  fixturesWriteCmd  `cmd:"" help:"Write all files and their manifest into a directory."`
	Verify fixturesVerifyCmd `cmd:"" help:"Compare the files in a directory with the manifest."`
	List   fixturesListCmd   `cmd:"" help:"List the files with their sizes and digests."`
}

type fixturesWriteCmd struct {
	Dir string `arg:"" help:"Where to; made if need be."`
}

// Run writes the fixtures and looks whether they arrived.
func (c *fixturesWriteCmd) Run(s *streams) error {
	if err := fixtures.Write(c.Dir); err != nil {
		return err
	}
	return verifyAndTell(s, c.Dir)
}

type fixturesVerifyCmd struct {
	Dir string `arg:"" help:"The directory."`
}

// Run verifies the fixtures.
func (c *fixturesVerifyCmd) Run(s *streams) error { return verifyAndTell(s, c.Dir) }

func verifyAndTell(s *streams, dir string) error {
	m, err := fixtures.Verify(dir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s: %d files, all as they must be, digest %s\n", dir, len(m.Files), m.Digest)
	return err
}

type fixturesListCmd struct {
	JSON bool `name:"json" help:"As JSON."`
}

// Run lists the fixtures in the manner of sha256sum, with the sizes.
func (c *fixturesListCmd) Run(s *streams) error {
	m := fixtures.Expected()
	if c.JSON {
		return writeJSON(s.out, m)
	}
	for _, f := range m.Files {
		if _, err := fmt.Fprintf(s.out, "%s  %8d  %s\n", f.SHA256, f.Size, f.Path); err != nil {
			return err
		}
	}
	return nil
}
