package static

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/weighstone/weighstone"
)

// open answers with what the path of x names on disk.
func (h *Handler) open(x *weighstone.Exchange) {
	path := x.In.Path
	if len(path) == 0 || path[0] != '/' || bytes.Contains(path, []byte("/.")) {
		x.Fail(http.StatusNotFound)
		return
	}
	name := string(path[1:])
	if path[len(path)-1] == '/' {
		name += indexName
	}
	for i, root := range h.roots {
		// Not waiting: opening a named pipe would wait for its writer.
		f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
		switch verdict := verdictOn(err); verdict {
		case 0:
			h.opened(x, i, name, f)
			return
		case absent:
		default:
			h.fail(x, int(verdict), err)
			return
		}
	}
	x.Fail(http.StatusNotFound)
}

// opened answers with f, found as name in the root of that number.
func (h *Handler) opened(x *weighstone.Exchange, root int, name string, f *os.File) {
	info, err := f.Stat()
	switch {
	case err != nil:
		f.Close()
		h.fail(x, http.StatusInternalServerError, err)
	case info.IsDir() && !bytes.HasSuffix(x.In.Path, []byte("/")):
		f.Close()
		redirect(x)
	case !info.Mode().IsRegular():
		f.Close()
		x.Fail(http.StatusNotFound)
	default:
		h.serveFile(x, root, name, f, info)
	}
}

// serveFile answers with a regular file: from memory when it is small, where
// it stays for the next request, else as it is.
func (h *Handler) serveFile(x *weighstone.Exchange, root int, name string, f *os.File, info fs.FileInfo) {
	e := &entry{path: string(x.In.Path), root: root, name: name}
	if info.Size() <= h.limit && h.cache.fits(e.path, info.Size()) {
		loaded, after, err := h.load(e, f, info)
		switch {
		case err != nil:
			f.Close()
			h.fail(x, http.StatusInternalServerError, err)
			return
		case loaded:
			f.Close()
			h.put(e)
			answer(x, &e.facts, memory{e.page})
			return
		}
		info = after
	}
	fa := fileFacts(name, info)
	answer(x, &fa, disk{file: f, shared: h.keep(e, f, info, &fa)})
}

// keep keeps f open under the path of e, if there is room, and says so.
func (h *Handler) keep(e *entry, f *os.File, info fs.FileInfo, fa *facts) bool {
	if h.spare.Add(-1) < 0 {
		h.spare.Add(1)
		return false
	}
	e.file, e.facts, e.version = f, *fa, versionOf(info)
	e.unsettled = e.version.young(time.Now())
	e.checked.Store(int64(h.now()))
	if !h.put(e) {
		e.file = nil
		h.spare.Add(1)
		return false
	}
	return true
}

// put adds e to the cache, if it fits. What had its path is dropped.
func (h *Handler) put(e *entry) bool {
	before, ok := h.cache.put(e)
	if before != nil && before.file != nil {
		h.spare.Add(1)
	}
	return ok
}

// loadAttempts is how often a file is read again that changes meanwhile.
const loadAttempts = 3

// load reads f, of which info is known, into e. It gives up on a file that is
// too large for memory, or that somebody keeps writing to, and returns what is
// known of it then.
func (h *Handler) load(e *entry, f *os.File, info fs.FileInfo) (loaded bool, after fs.FileInfo, err error) {
	for range loadAttempts {
		if info.Size() > h.limit {
			break
		}
		b := make([]byte, info.Size())
		n, err := f.ReadAt(b, 0)
		if err != nil && err != io.EOF {
			return false, nil, err
		}
		after, err := f.Stat()
		if err != nil {
			return false, nil, err
		}
		if v := versionOf(after); v == versionOf(info) && n == len(b) {
			e.version, e.unsettled = v, v.young(time.Now())
			e.page = weighstone.NewPage(TypeOf(e.name), after.ModTime().Truncate(time.Second), b)
			e.facts = pageFacts(e.page)
			e.checked.Store(int64(h.now()))
			return true, after, nil
		}
		info = after
	}
	return false, info, nil
}

// A verdict is what a failed look-up comes to: 0 for none, absent, or the
// status to answer with.
type verdict int

// absent means that the next root may have it.
const absent verdict = -1

// verdictOn judges the error of opening or examining a name.
func verdictOn(err error) verdict {
	var errno syscall.Errno
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &errno):
		return http.StatusNotFound // os.Root refuses the name: it leads out
	}
	switch errno {
	case syscall.ENOENT, syscall.ENOTDIR, syscall.ENAMETOOLONG:
		return absent
	case syscall.ELOOP, syscall.EINVAL, syscall.EILSEQ, syscall.ENXIO, syscall.ENODEV:
		return http.StatusNotFound // not a name, or not a file
	case syscall.EACCES, syscall.EPERM:
		return http.StatusForbidden
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// fail answers with status, and logs what is the server's own fault, at most
// once a second.
func (h *Handler) fail(x *weighstone.Exchange, status int, err error) {
	x.Fail(status)
	if status < http.StatusInternalServerError {
		return
	}
	now, last := int64(h.now()), h.complained.Load()
	if now-last >= int64(time.Second) && h.complained.CompareAndSwap(last, now) {
		h.log.Error("can't serve a file", "path", string(x.In.Path), "status", status, "error", err)
	}
}

// redirect answers with the path of x and a slash (RFC 9110 section 15.4.2).
// The location is a path and not a whole URL: a server behind another does
// not know what it is called.
func redirect(x *weighstone.Exchange) {
	const hex = "0123456789ABCDEF"
	in := &x.In
	to := make([]byte, 0, len(in.Path)+1+1+len(in.Query))
	for _, c := range in.Path {
		if plainInPath(c) {
			to = append(to, c)
		} else {
			to = append(to, '%', hex[c>>4], hex[c&15])
		}
	}
	to = append(to, '/')
	if len(in.Query) > 0 {
		to = append(append(to, '?'), in.Query...)
	}
	x.Fail(http.StatusMovedPermanently)
	x.AddField("Location", string(to))
}

// plainInPath says whether a path has c as it is (RFC 3986 section 3.3).
func plainInPath(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return bytes.IndexByte([]byte("/-._~!$&'()*+,;=:@"), c) >= 0
}
