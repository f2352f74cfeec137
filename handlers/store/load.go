package store

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weighstone/weighstone/fixtures"
	"github.com/weighstone/weighstone/handlers/static"
)

// A Content says what a database holds.
type Content struct {
	Documents int
	Digest    string // as that of a manifest of fixtures
}

// Load replaces what a database holds by the files below dir, in one
// transaction: who reads meanwhile, in this process or another, has the old
// content or the new. A database that is not there is made. Not loaded are
// what static would not serve (names that begin with a dot, symbolic links),
// a manifest of fixtures at the top, and databases.
func Load(file, dir string) (Content, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Content{}, fmt.Errorf("load documents: %w", err)
	}
	defer root.Close()
	var paths []string
	err = fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		name := path.Base(p)
		switch {
		case err != nil:
			return err
		case p != "." && name[0] == '.' && e.IsDir():
			return fs.SkipDir
		case name[0] == '.' || !e.Type().IsRegular() || p == "manifest.json" || isDatabase(name):
			return nil
		}
		paths = append(paths, p)
		return nil
	})
	if err != nil {
		return Content{}, fmt.Errorf("load documents: %w", err)
	}
	if len(paths) == 0 {
		return Content{}, fmt.Errorf("load documents: %s holds no file", dir)
	}
	return replace(file, root, paths)
}

// isDatabase says whether name is that of a database or of SQLite's files
// beside one.
func isDatabase(name string) bool {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if strings.HasSuffix(name, ".db"+suffix) {
			return true
		}
	}
	return false
}

// loadFixtures is Load for the fixtures in dir, and nothing else that is there.
func loadFixtures(file, dir string) (Content, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Content{}, fmt.Errorf("load documents: %w", err)
	}
	defer root.Close()
	var paths []string
	for _, f := range fixtures.Expected().Files {
		paths = append(paths, f.Path)
	}
	return replace(file, root, paths)
}

// replace makes the files at paths below root the content of a database.
func replace(file string, root *os.Root, paths []string) (c Content, err error) {
	db, err := openWriter(file)
	if err != nil {
		return c, err
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		return c, fmt.Errorf("load documents into %s: %w", file, err)
	}
	defer tx.Rollback() // does nothing after a commit
	slices.Sort(paths)
	c, err = fill(tx, root, paths)
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return Content{}, fmt.Errorf("load documents into %s: %w", file, err)
	}
	return c, nil
}

// fill writes everything that a database holds.
func fill(tx *sql.Tx, root *os.Root, paths []string) (c Content, err error) {
	var before int
	if err := tx.QueryRow("PRAGMA user_version").Scan(&before); err != nil {
		return c, err
	}
	switch before {
	case version:
		_, err = tx.Exec("DELETE FROM documents; DELETE FROM content")
	case 0:
		_, err = tx.Exec(schema + fmt.Sprintf("PRAGMA user_version = %d", version))
	default:
		err = fmt.Errorf("the schema is version %d, and this program knows %d", before, version)
	}
	if err != nil {
		return c, err
	}
	insert, err := tx.Prepare("INSERT INTO documents (path, address, fields, sha256, body) VALUES (?, ?, ?, ?, ?)")
	if err != nil {
		return c, err
	}
	defer insert.Close()
	all := newDigest()
	for _, p := range paths {
		if err := insertFile(insert, root, p, all); err != nil {
			return c, fmt.Errorf("%s: %w", p, err)
		}
	}
	_, err = tx.Exec("INSERT INTO content VALUES (?)", all.sum())
	return Content{Documents: len(paths), Digest: all.sum()}, err
}

// insertFile adds one document.
func insertFile(insert *sql.Stmt, root *os.Root, p string, all *digest) error {
	info, err := root.Stat(p)
	if err != nil {
		return err
	}
	body, err := root.ReadFile(p)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	a := fixtures.AddressOf(p)
	all.add(p, sum, len(body))
	_, err = insert.Exec(p, a.View+"/"+a.Document, fieldsOf(p, sum, info.ModTime()), hex.EncodeToString(sum[:]), body)
	return err
}

// fieldsOf is what a reply says of a document. The ETag is that of the same
// content as a file in memory.
func fieldsOf(p string, sum [sha256.Size]byte, modified time.Time) string {
	return static.TypeOf(p) + "\n\"" + hex.EncodeToString(sum[:8]) + "\"\n" + modified.UTC().Format(http.TimeFormat)
}

// A digest names documents as a whole, as a manifest of fixtures does: they
// are added in the order of their paths.
type digest struct{ hash.Hash }

func newDigest() *digest { return &digest{sha256.New()} }

func (d *digest) add(p string, sum [sha256.Size]byte, size int) {
	fmt.Fprintf(d, "%x %d %s\n", sum, size, p)
}

func (d *digest) sum() string { return hex.EncodeToString(d.Sum(nil)) }

// Verify reads every document of a database and compares the content with
// what it says of itself.
func Verify(file string) (Content, error) {
	if _, err := os.Stat(file); err != nil { // which SQLite would say less plainly
		return Content{}, fmt.Errorf("verify database: %w", err)
	}
	dsn := readerSource(file)
	if !writable(file) {
		dsn = readerSource(file, "immutable", "1")
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return Content{}, fmt.Errorf("verify database %s: %w", file, err)
	}
	defer db.Close()
	c, err := verify(db)
	if err != nil {
		return c, fmt.Errorf("verify database %s: %w", file, err)
	}
	return c, nil
}

func verify(db *sql.DB) (c Content, err error) {
	tx, err := db.Begin() // so that it is all of one version
	if err != nil {
		return c, err
	}
	defer tx.Rollback()
	var said string
	if err := tx.QueryRow("SELECT digest FROM content").Scan(&said); err != nil {
		return c, err
	}
	rows, err := tx.Query("SELECT path, address, fields, sha256, body FROM documents ORDER BY path")
	if err != nil {
		return c, err
	}
	defer rows.Close()
	all := newDigest()
	for rows.Next() {
		var p, address, fields, known string
		var body sql.RawBytes
		if err := rows.Scan(&p, &address, &fields, &known, &body); err != nil {
			return c, err
		}
		sum := sha256.Sum256(body)
		a := fixtures.AddressOf(p)
		if text := hex.EncodeToString(sum[:]); known != text || !strings.Contains(fields, `"`+text[:16]+`"`) || address != a.View+"/"+a.Document {
			return c, fmt.Errorf("%s: sha256 is %s, and it was loaded with %s", p, text, known)
		}
		all.add(p, sum, len(body))
		c.Documents++
	}
	if err := rows.Err(); err != nil {
		return c, err
	}
	if c.Digest = all.sum(); c.Digest != said {
		return c, errors.New("documents are missing or too many: the digest is " + c.Digest + ", and it was loaded with " + said)
	}
	return c, nil
}

// writable says whether files can be made beside file.
func writable(file string) bool {
	f, err := os.CreateTemp(filepath.Dir(file), ".weighstone-")
	if err != nil {
		return false
	}
	f.Close()
	os.Remove(f.Name())
	return true
}
