package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/handlers/static"
	"github.com/weighstone/weighstone/internal/seats"
)

// A reader is an open database, read by any number of goroutines.
type reader struct {
	connections *seats.Pool[connection]
	// large are the paths and addresses of documents that take long to read,
	// as they were when the database was opened: a hint.
	large map[string]bool
}

// largeFrom is in bytes: such a document takes 150 us to read.
const largeFrom = 256 << 10

// A connection is one to the database, with its statements. It speaks to the
// driver itself: database/sql, which opens the databases that are written,
// keeps connections too, but takes 9 allocations and one more copy of the
// document for each request.
type connection struct {
	conn              driver.Conn
	byPath, byAddress driver.StmtQueryContext
	args              []driver.NamedValue
	row               []driver.Value
}

// openReader opens a database that is there.
func openReader(file string) (*reader, error) {
	dsn := readerSource(file)
	c, err := connect(dsn)
	if err != nil && !writable(file) {
		// In a directory that can't be written to SQLite can't coordinate
		// with writers, and there can't be one.
		dsn = readerSource(file, "immutable", "1")
		c, err = connect(dsn)
	}
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", file, err)
	}
	defer c.close()
	r := &reader{large: map[string]bool{}}
	if err := c.largeOnes(r.large); err != nil {
		return nil, fmt.Errorf("open database %s: %w", file, err)
	}
	// A query never waits for anything but a connection, and each of them
	// keeps a processor busy.
	r.connections = seats.New(2*runtime.GOMAXPROCS(0), func() (*connection, error) { return connect(dsn) })
	return r, nil
}

func (r *reader) close() { r.connections.Close((*connection).close) }

// readerSource is source for a connection that only reads.
func readerSource(file string, more ...string) string {
	return source(file, append(more,
		"mode", "ro",
		"_pragma", "query_only(1)",
		"_pragma", fmt.Sprintf("busy_timeout(%d)", patience),
		"_pragma", fmt.Sprintf("cache_size(%d)", -cacheKiB))...)
}

// connect opens a connection and prepares its statements.
func connect(dsn string) (*connection, error) {
	conn, err := new(sqlite.Driver).Open(dsn)
	if err != nil {
		return nil, err
	}
	c := &connection{conn: conn, args: make([]driver.NamedValue, 1), row: make([]driver.Value, 2)}
	const columns = "SELECT fields, body FROM documents WHERE "
	if c.byPath, err = c.prepare(columns + "path = ?"); err == nil {
		c.byAddress, err = c.prepare(columns + "address = ?")
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *connection) prepare(query string) (driver.StmtQueryContext, error) {
	s, err := c.conn.Prepare(query)
	if err != nil {
		return nil, err
	}
	q, ok := s.(driver.StmtQueryContext)
	if !ok {
		return nil, errors.New("the driver's statements have no context")
	}
	return q, nil
}

// close closes the statements and the connection.
func (c *connection) close() {
	for _, q := range []driver.StmtQueryContext{c.byPath, c.byAddress} {
		if s, ok := q.(driver.Stmt); ok {
			s.Close()
		}
	}
	c.conn.Close()
}

// largeOnes adds the documents that take long to read.
func (c *connection) largeOnes(large map[string]bool) error {
	q, err := c.prepare("SELECT path, address FROM documents WHERE length(body) >= ?")
	if err != nil {
		return err
	}
	defer q.(driver.Stmt).Close()
	rows, err := q.QueryContext(context.Background(), []driver.NamedValue{{Ordinal: 1, Value: int64(largeFrom)}})
	if err != nil {
		return err
	}
	defer rows.Close()
	for err = rows.Next(c.row); err == nil; err = rows.Next(c.row) {
		for _, v := range c.row {
			large[v.(string)] = true
		}
	}
	if err != io.EOF {
		return err
	}
	return nil
}

// answer fills the response of x with the document of a path, or of an
// address.
func (r *reader) answer(x *weighstone.Exchange, isAddress bool, key string) error {
	c, err := r.connections.Take(time.Now().Add(patience*time.Millisecond), nil)
	if err != nil {
		return fmt.Errorf("find a document: %w", err)
	}
	query := c.byPath
	if isAddress {
		query = c.byAddress
	}
	fields, body, err := c.find(query, key)
	if err != nil && err != io.EOF {
		c.close()
		c = nil // the next opens another
	}
	r.connections.Put(c)
	switch {
	case err == io.EOF:
		x.Fail(http.StatusNotFound)
		return nil
	case err != nil:
		return fmt.Errorf("find a document: %w", err)
	}
	d := static.Document{Bytes: body}
	d.Type, fields, _ = strings.Cut(fields, "\n")
	d.ETag, d.LastModified, _ = strings.Cut(fields, "\n")
	d.Answer(x)
	return nil
}

// find returns a document, as copies of the driver's that nobody else has;
// io.EOF when there is none.
func (c *connection) find(query driver.StmtQueryContext, key string) (fields string, body []byte, err error) {
	c.args[0] = driver.NamedValue{Ordinal: 1, Value: key}
	rows, err := query.QueryContext(context.Background(), c.args)
	if err != nil {
		return "", nil, err
	}
	err = rows.Next(c.row)
	if err == nil {
		fields, _ = c.row[0].(string)
		body, _ = c.row[1].([]byte)
		clear(c.row)
	}
	if cerr := rows.Close(); err == nil && cerr != nil {
		err = cerr
	}
	return fields, body, err
}
