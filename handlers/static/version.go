package static

import (
	"io/fs"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/weighstone/weighstone"
)

// A version tells apart the states of a file that a path has named. The time
// of the last change of status is in it since nobody can set that back.
type version struct {
	device, inode      uint64
	size               int64
	modified, statused int64 // in nanoseconds since 1970
}

// versionOf returns the version that info describes.
func versionOf(info fs.FileInfo) version {
	v := version{size: info.Size(), modified: info.ModTime().UnixNano(), statused: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		v.device, v.inode = uint64(st.Dev), st.Ino
		v.statused = st.Ctim.Nano()
	}
	return v
}

// settling is how old a version must be before an equal one is taken to be the
// same: file systems stamp changes with a clock that may stand still for some
// milliseconds, some of them for a second.
const settling = 2 * time.Second

// young says whether v could change at now without looking different.
func (v version) young(now time.Time) bool {
	return now.UnixNano()-v.statused < int64(settling)
}

// facts are what replies say about one version of a file. A page in memory
// and a file on disk differ in where their ETag comes from.
type facts struct {
	contentType  string
	size         int64     // in bytes
	etag         string    // strong, quoted
	modified     time.Time // in whole seconds
	lastModified string    // modified as a field has it
}

// pageFacts are those of a file in memory: its ETag is made of the content,
// and so is the same wherever the content is.
func pageFacts(p *weighstone.Page) facts {
	return facts{
		contentType:  p.Type,
		size:         int64(len(p.Bytes)),
		etag:         p.ETag,
		modified:     p.Modified,
		lastModified: p.Modified.UTC().Format(http.TimeFormat),
	}
}

// fileFacts are those of a file on disk: its ETag is made of size,
// modification time and inode, all from the descriptor that is sent.
func fileFacts(name string, info fs.FileInfo) facts {
	v := versionOf(info)
	tag := make([]byte, 0, 48)
	tag = append(tag, '"')
	tag = strconv.AppendInt(tag, v.size, 16)
	tag = append(tag, '-')
	tag = strconv.AppendInt(tag, v.modified, 16)
	tag = append(tag, '-')
	tag = strconv.AppendUint(tag, v.inode, 16)
	tag = append(tag, '"')
	modified := info.ModTime().Truncate(time.Second)
	return facts{
		contentType:  TypeOf(name),
		size:         v.size,
		etag:         string(tag),
		modified:     modified,
		lastModified: modified.UTC().Format(http.TimeFormat),
	}
}

// add puts the validators on the reply.
func (f *facts) add(x *weighstone.Exchange) {
	x.AddField("Last-Modified", f.lastModified)
	x.AddField("ETag", f.etag)
}
