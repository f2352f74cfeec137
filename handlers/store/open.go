package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/weighstone/weighstone/fixtures"
)

// retryAfter is how long a database that could not be opened is left alone.
const retryAfter = time.Second

// open returns the open database, opening it for the first who asks; others
// wait for him.
func (h *Handler) open() (*reader, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.ready.Load(); r != nil {
		return r, nil
	}
	if h.why != nil && time.Since(h.tried) < retryAfter {
		return nil, h.why
	}
	r, err := h.prepare()
	if err != nil {
		h.tried, h.why = time.Now(), err
		h.log.Error("the database can't be served", "error", err)
		return nil, err
	}
	h.why = nil
	h.ready.Store(r)
	return r, nil
}

// magic begins every database of SQLite (sqlite.org/fileformat.html, 1.3.1).
const magic = "SQLite format 3\x00"

// Check says at once, without opening it, that a file can't be a database. One
// that is not there or is empty can become one.
func Check(file string) error {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer f.Close()
	begin := make([]byte, len(magic))
	n, err := io.ReadFull(f, begin)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("open database: %w", err)
	case string(begin[:n]) != magic:
		return fmt.Errorf("open database: %s is no database of SQLite", file)
	}
	return nil
}

// prepare sees to it that the database holds what it must, and opens it.
func (h *Handler) prepare() (*reader, error) {
	file := h.opts.File
	if file == "" {
		file = filepath.Join(h.opts.Fixtures, Name)
		if err := h.ensure(file); err != nil {
			return nil, err
		}
		return openReader(file)
	}
	_, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		h.log.Info("the database is made of the fixtures", "file", file)
		_, err = loadFixtures(file, h.opts.Fixtures)
	}
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	c, err := Verify(file)
	if err != nil {
		return nil, err
	}
	if c.Digest != fixtures.Expected().Digest {
		h.log.Warn("the database does not hold the fixtures", "file", file, "documents", c.Documents, "digest", c.Digest)
	}
	return openReader(file)
}

// ensure makes the database of the fixtures' directory anew unless it holds
// the fixtures.
func (h *Handler) ensure(file string) error {
	c, err := Verify(file)
	want := fixtures.Expected().Digest
	if err == nil && c.Digest == want {
		return nil
	}
	if _, missing := os.Stat(file); !errors.Is(missing, fs.ErrNotExist) {
		h.log.Warn("the database of the fixtures is made anew", "file", file, "error", err, "digest", c.Digest)
	}
	if c, err = loadFixtures(file, h.opts.Fixtures); err != nil {
		if blameless(err) {
			return err
		}
		// What is there is no database, or a damaged one.
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			if err := os.Remove(file + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("replace a damaged database: %w", err)
			}
		}
		c, err = loadFixtures(file, h.opts.Fixtures)
	}
	if err == nil && c.Digest != want {
		err = fmt.Errorf("load the fixtures: the digest is %s, want %s", c.Digest, want)
	}
	return err
}

// blameless says that a load failed for something else than what the database
// holds, such as a want of descriptors: other servers may well be reading it.
func blameless(err error) bool {
	var refused *sqlite.Error
	if errors.As(err, &refused) {
		switch refused.Code() & 0xff { // of an extended code the kind
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOMEM:
			return true
		}
		return false
	}
	var errno syscall.Errno
	return errors.As(err, &errno)
}
