package store

import (
	"database/sql"
	"fmt"
	"net/url"
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
	fields   TEXT NOT NULL,         -- what a reply says of it: type, ETag and Last-Modified, a line each
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
