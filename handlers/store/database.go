package store

import (
	"database/sql"
	"fmt"
	"net/url"
	"runtime"

	_ "modernc.org/sqlite" // the driver called "sqlite"
)

// version is that of the schema, kept as the database's user_version.
const version = 1

// schema is what a database consists of. The body is the last column: SQLite
// reads a row from its beginning.
const schema = `
CREATE TABLE documents (
	id       INTEGER PRIMARY KEY,
	path     TEXT NOT NULL UNIQUE,  -- relative, with slashes
	address  TEXT NOT NULL UNIQUE,  -- view/document
	type     TEXT NOT NULL,         -- Content-Type
	etag     TEXT NOT NULL,         -- quoted
	modified INTEGER NOT NULL,      -- seconds since 1970
	sha256   TEXT NOT NULL,         -- of body, in hexadecimal
	body     BLOB NOT NULL
);
CREATE TABLE content (
	digest TEXT NOT NULL            -- over all documents, as in a manifest of fixtures
);`

// pageSize is in bytes. Pages of 16 KiB hold most documents of Silicon Surf
// without an overflow chain: a document of 7 KiB is read in 17.6 us, against
// 23.0 with SQLite's 4 KiB.
const pageSize = 16 << 10

// cacheKiB is the page cache of each connection: the fixtures fit.
const cacheKiB = 8 << 10

// patience is how long a writer waits for another, in milliseconds.
const patience = 10_000

// source returns the driver's name for a database.
func source(file string, parameters ...string) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath()}
	q := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		q.Add(parameters[i], parameters[i+1])
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// openWriter opens a database for one transaction at a time, making it if
// need be.
func openWriter(file string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", source(file,
		"_txlock", "immediate",
		"_pragma", fmt.Sprintf("busy_timeout(%d)", patience),
		"_pragma", fmt.Sprintf("page_size(%d)", pageSize),
		"_pragma", "journal_mode(WAL)"))
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// A reader is an open database with its statements.
type reader struct {
	db                *sql.DB
	byPath, byAddress *sql.Stmt
	// large are the paths and addresses of documents that take long to read,
	// as they were when the database was opened: a hint.
	large map[string]bool
}

// largeFrom is in bytes: such a document takes 150 us to read.
const largeFrom = 256 << 10

// openReader opens a database that is there, to be read by many goroutines.
func openReader(file string) (*reader, error) {
	r, err := openAs(file)
	if err == nil {
		return r, nil
	}
	// In a directory that can't be written to SQLite can't coordinate with
	// writers, and there can't be one.
	if r, again := openAs(file, "immutable", "1"); again == nil && !writable(file) {
		return r, nil
	} else if again == nil {
		r.close()
	}
	return nil, err
}

func openAs(file string, more ...string) (*reader, error) {
	db, err := sql.Open("sqlite", source(file, append(more,
		"mode", "ro",
		"_pragma", "query_only(1)",
		"_pragma", fmt.Sprintf("busy_timeout(%d)", patience),
		"_pragma", fmt.Sprintf("cache_size(%d)", -cacheKiB))...))
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	// A query never waits for anything but a connection, and each of them
	// keeps a processor busy.
	n := 2 * runtime.GOMAXPROCS(0)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	r := &reader{db: db}
	const columns = "SELECT type, etag, modified, body FROM documents WHERE "
	if r.byPath, err = db.Prepare(columns + "path = ?"); err == nil {
		r.byAddress, err = db.Prepare(columns + "address = ?")
	}
	if err == nil {
		r.large, err = r.largeOnes()
	}
	if err != nil {
		r.close()
		return nil, fmt.Errorf("open database %s: %w", file, err)
	}
	return r, nil
}

// largeOnes lists the documents that take long to read.
func (r *reader) largeOnes() (map[string]bool, error) {
	rows, err := r.db.Query("SELECT path, address FROM documents WHERE length(body) >= ?", largeFrom)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	large := map[string]bool{}
	for rows.Next() {
		var path, address string
		if err := rows.Scan(&path, &address); err != nil {
			return nil, err
		}
		large[path], large[address] = true, true
	}
	return large, rows.Err()
}

// close closes statements and connections.
func (r *reader) close() error { return r.db.Close() }
