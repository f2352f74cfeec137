package fcgi

import (
	"bytes"
	"strings"
	"testing"
)

func TestPairEncodings(t *testing.T) {
	for _, c := range []struct {
		name, value int
		head        string
	}{
		{1, 0, "\x01\x00"},
		{127, 127, "\x7f\x7f"},
		{128, 1, "\x80\x00\x00\x80\x01"},
		{4, 70000, "\x04\x80\x01\x11\x70"},
	} {
		name, value := strings.Repeat("n", c.name), strings.Repeat("v", c.value)
		b := AppendPair(nil, []byte(name), []byte(value))
		if want := c.head + name + value; string(b) != want {
			t.Errorf("%d and %d bytes: begins %x, want %x", c.name, c.value, b[:len(c.head)], c.head)
		}
		for cut := range min(len(b), 300) {
			if _, _, n, err := ParsePair(b[:cut]); n != 0 || err != nil {
				t.Errorf("%d and %d bytes cut after %d: %d, %v", c.name, c.value, cut, n, err)
			}
		}
		if gotName, gotValue, n, err := ParsePair(append(b, 'x')); n != len(b) || err != nil || string(gotName) != name || string(gotValue) != value {
			t.Errorf("%d and %d bytes: read %d of %d, %v", c.name, c.value, n, len(b), err)
		}
	}
	if _, _, n, err := ParsePair([]byte("\xff\xff\xff\xff\xff\xff\xff\xff")); n != 0 || err == nil {
		t.Errorf("a pair of 4 GiB: %d, %v", n, err)
	}
}

// records takes apart whole records.
func records(t *testing.T, b []byte) (all []Header, contents []string) {
	t.Helper()
	for len(b) > 0 {
		h, n, err := ParseHeader(b)
		if err != nil || n == 0 || len(b) < n+h.Length+h.Padding {
			t.Fatalf("%d bytes left: %+v, %d, %v", len(b), h, n, err)
		}
		all, contents = append(all, h), append(contents, string(b[n:n+h.Length]))
		b = b[n+h.Length+h.Padding:]
	}
	return all, contents
}

func TestOpening(t *testing.T) {
	for _, size := range []int{0, 5, 300, 65520, 65530, 70_000, 200_000} {
		var o Opening
		o.Reset(true) // twice, since memory is used again
		o.Field([]byte("OLD"), []byte("1"))
		o.Bytes(true)
		o.Reset(true)
		value := strings.Repeat("v", size)
		o.Field([]byte("A"), []byte("1"))
		o.Field([]byte("LONG"), []byte(value))
		b := bytes.Clone(o.Bytes(false))
		if len(b)%8 != 0 {
			t.Errorf("%d: %d bytes are not aligned", size, len(b))
		}
		all, contents := records(t, b)
		if all[0].Type != TypeBegin || contents[0] != "\x00\x01\x01\x00\x00\x00\x00\x00" {
			t.Errorf("%d: begins with %v %x", size, all[0].Type, contents[0])
		}
		var params string
		last := len(all) - 2
		for i := 1; i < last; i++ {
			if all[i].Type != TypeParams || all[i].Length == 0 || all[i].ID != requestID {
				t.Errorf("%d: record %d is %+v", size, i, all[i])
			}
			params += contents[i]
		}
		if all[last].Type != TypeParams || all[last].Length != 0 || all[last+1].Type != TypeStdin || all[last+1].Length != 0 {
			t.Errorf("%d: ends with %+v", size, all[last:])
		}
		pairs, err := readPairs([]byte(params))
		if err != nil || len(pairs) != 2 || pairs["A"] != "1" || pairs["LONG"] != value {
			t.Errorf("%d: %d pairs, %v", size, len(pairs), err)
		}
	}
}

func TestOpeningAllocatesNothing(t *testing.T) {
	var o Opening
	name, value := []byte("REQUEST_METHOD"), []byte("GET")
	if n := testing.AllocsPerRun(100, func() {
		o.Reset(true)
		o.Field(name, value)
		o.Bytes(false)
	}); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}

// FuzzHeader: the header parser gives one of its three answers, the same
// however the bytes arrive, and what it read is written alike.
func FuzzHeader(f *testing.F) {
	f.Add([]byte("\x01\x06\x00\x01\x00\x05\x03\x00hello\x00\x00\x00"))
	f.Add([]byte("\x02"))
	f.Add([]byte("\x01\x06\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, n, err := ParseHeader(b)
		switch {
		case err != nil && n != 0, n != 0 && n != HeaderLength, n == 0 && err == nil && len(b) >= HeaderLength:
			t.Fatalf("%d, %v of %d bytes", n, err, len(b))
		case n > 0:
			if again := appendHeader(nil, h); !bytes.Equal(again[:7], b[:7]) {
				t.Fatalf("%x read, %x written", b[:7], again[:7])
			}
		}
	})
}

// FuzzPair: likewise of a pair.
func FuzzPair(f *testing.F) {
	f.Add(AppendPair(nil, []byte("name"), []byte("value")))
	f.Add(AppendPair(nil, []byte("name"), make([]byte, 200)))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		name, value, n, err := ParsePair(b)
		if n == 0 {
			return
		}
		if err != nil || n > len(b) {
			t.Fatalf("%d of %d, %v", n, len(b), err)
		}
		again := AppendPair(nil, name, value)
		name2, value2, n2, err := ParsePair(again)
		if err != nil || n2 != len(again) || !bytes.Equal(name, name2) || !bytes.Equal(value, value2) {
			t.Fatalf("%q=%q becomes %q=%q, %v", name, value, name2, value2, err)
		}
		if _, _, n, err := ParsePair(b[:n-1]); n != 0 || err != nil {
			t.Fatalf("a part is taken for the whole: %d, %v", n, err)
		}
	})
}
