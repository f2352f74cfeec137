package main

import (
	"fmt"
	"io"

	"github.com/weighstone/weighstone/fixtures"
	"github.com/weighstone/weighstone/fixtures/specweb"
	"github.com/weighstone/weighstone/handlers/store"
)

type fixturesCmd struct {
	Write  fixturesWriteCmd  `cmd:"" help:"Write all files and their manifest into a directory."`
	Verify fixturesVerifyCmd `cmd:"" help:"Compare the files in a directory with the manifest."`
	List   fixturesListCmd   `cmd:"" help:"List the files with their sizes and digests."`
	Load   fixturesLoadCmd   `cmd:"" help:"Replace what a database of documents holds by the files of a directory, while servers read it."`
	URLs   fixturesURLsCmd   `cmd:"" name:"urls" help:"Print a WebStone file list with the URLs of the same documents elsewhere, for load --plan."`
}

type fixturesWriteCmd struct {
	Specweb int    `placeholder:"DIRS" help:"Write the SPECweb99-style set too, of so many directories of 5 MB."`
	Dir     string `arg:"" help:"Where to; made if need be."`
}

// Run writes the fixtures and looks whether they arrived.
func (c *fixturesWriteCmd) Run(s *streams) error {
	if c.Specweb < 0 || c.Specweb > specweb.MaxDirs {
		return usagef("--specweb: expected 1 to %d directories, but got %d", specweb.MaxDirs, c.Specweb)
	}
	if err := fixtures.Write(c.Dir); err != nil {
		return err
	}
	if c.Specweb > 0 {
		if err := specweb.NewSet(fixtures.Seed).Write(c.Dir, c.Specweb, fixtures.Modified()); err != nil {
			return err
		}
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
	dirs, err := specweb.NewSet(fixtures.Seed).Verify(dir)
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintf(s.out, "%s: %d files, all as they must be, digest %s\n", dir, len(m.Files), m.Digest); err != nil || dirs == 0 {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s: %s set of %d directories, %d files, all as they must be\n", dir, specweb.Style, dirs, dirs*specweb.PerDir)
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

type fixturesLoadCmd struct {
	DB  string `name:"db" required:"" placeholder:"FILE" help:"The database; made if it is not there."`
	Dir string `arg:"" help:"The directory."`
}

// Run loads the files into the database, in one transaction.
func (c *fixturesLoadCmd) Run(s *streams) error {
	loaded, err := store.Load(c.DB, c.Dir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s: %d documents, digest %s\n", c.DB, loaded.Documents, loaded.Digest)
	return err
}

type fixturesURLsCmd struct {
	Form string `default:"db" enum:"file,db,document" help:"Where: file (/PATH), db (/db/PATH), document (/db/ and some 200 characters, as a Domino server of 1997)."`
	List string `default:"silicon-surf-1.x" enum:"silicon-surf-1.x,silicon-surf-2.x,standard-2.x" help:"Which file list."`
}

// Run prints the list.
func (c *fixturesURLsCmd) Run(s *streams) error {
	list, err := fixtures.FileList(c.List, func(p string) string {
		switch c.Form {
		case "db":
			return "/db/" + p
		case "document":
			return fixtures.DocumentURL("/db/", p)
		}
		return "/" + p
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.out, list)
	return err
}
