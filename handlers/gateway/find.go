package gateway

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// A Program is what a path leads to.
type Program struct {
	File string // absolute
	Name string // SCRIPT_NAME
	Info string // PATH_INFO
}

// Dirs are directories of programs, searched in this order.
type Dirs []dir

// A dir is one of them. The root keeps symbolic links from leading out of it.
type dir struct {
	path string // absolute
	root *os.Root
}

// OpenDirs opens directories. Their owner closes them.
func OpenDirs(names ...string) (Dirs, error) {
	var all Dirs
	for _, name := range names {
		d, err := openDir(name)
		if err != nil {
			all.Close()
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

func openDir(name string) (dir, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return dir{}, err
	}
	root, err := os.OpenRoot(path)
	return dir{path, root}, err
}

// Close closes the directories.
func (ds Dirs) Close() {
	for _, d := range ds {
		d.root.Close()
	}
}

// Find looks up the program for a decoded path below prefix: the first file
// on the way down a directory, the rest of the path being PATH_INFO. The
// status is 0 when it can run; 404 for directories, dotfiles and links that
// lead out; 500 for what is there but cannot run, a mistake of whoever put it
// there: who asks sees neither that nor its text.
func (ds Dirs) Find(path, prefix string) (p Program, status int) {
	below, ok := strings.CutPrefix(path, prefix)
	if !ok {
		return p, http.StatusNotFound
	}
	for _, d := range ds {
		end, status := d.find(below)
		if status == http.StatusNotFound {
			continue
		}
		p.File = filepath.Join(d.path, below[:end])
		p.Name = path[:len(path)-len(below)+end]
		p.Info = below[end:]
		return p, status
	}
	return p, http.StatusNotFound
}

// find returns where in path the name of a program ends.
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
			return end, http.StatusInternalServerError
		}
		return end, 0
	}
	return 0, http.StatusNotFound
}

// Has says whether a path relative to the directories is there and a directory.
func (ds Dirs) Has(path string) bool {
	for _, d := range ds {
		if info, err := d.root.Stat(path); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

// File returns where in a path relative to the directories the name of a file
// ends, 0 if there is none on the way.
func (ds Dirs) File(path string) (end int) {
	for _, d := range ds {
		if end, status := d.find(path); status != http.StatusNotFound {
			return end
		}
	}
	return 0
}
