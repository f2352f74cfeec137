package fcgi

import (
	"encoding/binary"
	"fmt"
)

// A Type is that of a record (section 8).
type Type uint8

// The record types.
const (
	TypeBegin Type = 1 + iota
	TypeAbort
	TypeEnd
	TypeParams
	TypeStdin
	TypeStdout
	TypeStderr
	TypeData
	TypeGetValues
	TypeGetValuesResult
	TypeUnknown
)

// typeNames are in the order of the numbers.
var typeNames = [...]string{
	TypeBegin: "BEGIN_REQUEST", TypeAbort: "ABORT_REQUEST", TypeEnd: "END_REQUEST", TypeParams: "PARAMS",
	TypeStdin: "STDIN", TypeStdout: "STDOUT", TypeStderr: "STDERR", TypeData: "DATA",
	TypeGetValues: "GET_VALUES", TypeGetValuesResult: "GET_VALUES_RESULT", TypeUnknown: "UNKNOWN_TYPE",
}

// String returns the name that the specification gives, without its FCGI_.
func (t Type) String() string {
	if int(t) < len(typeNames) && typeNames[t] != "" {
		return typeNames[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

const (
	version = 1
	// HeaderLength is that of a record's header, in bytes.
	HeaderLength = 8
	// MaxContent is the largest content of one record, in bytes.
	MaxContent = 65535
	// wholeContent is the largest content that needs no padding to a
	// multiple of eight bytes (section 3.3 recommends it).
	wholeContent = MaxContent &^ 7
)

// Roles, flags and protocol statuses (section 5).
const (
	roleResponder = 1

	flagKeep = 1

	statusComplete    = 0
	statusCantMpx     = 1
	statusOverloaded  = 2
	statusUnknownRole = 3
)

// A Header is what each record begins with (section 3.3).
type Header struct {
	Type    Type
	ID      uint16 // of the request; 0 for management records
	Length  int    // of the content that follows, in bytes
	Padding int    // bytes to skip after it
}

// ParseHeader reads a record's header from the beginning of b. It returns how
// many bytes the header takes; 0 and no error when more are needed; or an
// error, whatever bytes may follow.
func ParseHeader(b []byte) (h Header, n int, err error) {
	if len(b) > 0 && b[0] != version {
		return h, 0, fmt.Errorf("FastCGI record: version %d, not %d", b[0], version)
	}
	if len(b) < HeaderLength {
		return h, 0, nil
	}
	return Header{
		Type:    Type(b[1]),
		ID:      binary.BigEndian.Uint16(b[2:]),
		Length:  int(binary.BigEndian.Uint16(b[4:])),
		Padding: int(b[6]),
	}, HeaderLength, nil
}

// appendHeader appends a header. Its Length is at most MaxContent.
func appendHeader(dst []byte, h Header) []byte {
	dst = append(dst, version, byte(h.Type))
	dst = binary.BigEndian.AppendUint16(dst, h.ID)
	dst = binary.BigEndian.AppendUint16(dst, uint16(h.Length))
	return append(dst, byte(h.Padding), 0)
}

// AppendRecord appends a record with its padding. The content has at most
// MaxContent bytes; none ends a stream.
func AppendRecord(dst []byte, t Type, id uint16, content []byte) []byte {
	padding := -len(content) & 7
	dst = appendHeader(dst, Header{t, id, len(content), padding})
	dst = append(dst, content...)
	return append(dst, make([]byte, padding)...)
}

// AppendStream appends content in as many records as it takes, and does not
// end the stream.
func AppendStream(dst []byte, t Type, id uint16, content []byte) []byte {
	for len(content) > 0 {
		n := min(len(content), wholeContent)
		dst = AppendRecord(dst, t, id, content[:n])
		content = content[n:]
	}
	return dst
}

// appendEnd appends an END_REQUEST record.
func appendEnd(dst []byte, id uint16, app uint32, protocol byte) []byte {
	var body [8]byte
	binary.BigEndian.PutUint32(body[:], app)
	body[4] = protocol
	return AppendRecord(dst, TypeEnd, id, body[:])
}
