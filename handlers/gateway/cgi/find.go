package cgi

import (
	"net/http"
	"path/filepath"
	"strings"
)

// A program is what a path leads to.
type program struct {
	file string // absolute
	name string // SCRIPT_NAME
	info string // PATH_INFO
}

// find looks up the program for a decoded path: the first file on the way
// down a directory, the rest of the path being PATH_INFO. It returns 404 for
// directories, dotfiles and links that lead out; 403 for what is there but
// cannot run, never its text.
func (h *Handler) find(path string) (p program, status int) {
	below, ok := strings.CutPrefix(path, h.opts.Prefix)
	if !ok {
		return p, http.StatusNotFound
	}
	for _, d := range h.dirs {
		end, status := d.find(below)
		if status == http.StatusNotFound {
			continue
		}
		p.file = filepath.Join(d.path, below[:end])
		p.name = path[:len(path)-len(below)+end]
		p.info = below[end:]
		return p, status
	}
	return p, http.StatusNotFound
}

// find returns where in path the name of a program ends. The status is 0 when
// it can run.
func (d *dir) find(path string) (end, status int) {
	for end < len(path) {
		start := end
		if n := strings.IndexByte(path[start:], '/'); n >= 0 {
			end = start + n
		} else {
			end = len(path)
		}
		if end == start || path[start] == '.' {
			return 0, http.StatusNotFound
		}
		info, err := d.root.Stat(path[:end])
		switch {
		case err != nil:
			return 0, http.StatusNotFound
		case info.IsDir():
			end++ // on to the next segment
			continue
		case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
			return end, http.StatusForbidden
		}
		return end, 0
	}
	return 0, http.StatusNotFound
}
