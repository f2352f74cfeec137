package plan

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []Page
	}{
		"pages": {"# c\n2\n40 2\n/a\n# c\n/b?x=1\n60 1\nsub/c.html\n", []Page{
			{40, []File{{"/a", -1, 4}, {"/b?x=1", -1, 6}}},
			{60, []File{{"sub/c.html", -1, 8}}},
		}},
		"pages, no last newline":  {"1\n1 1\n/a", []Page{{1, []File{{"/a", -1, 3}}}}},
		"pages, carriage returns": {"1\r\n1 1\r\n/a\r\n", []Page{{1, []File{{"/a", -1, 3}}}}},
		"lines": {"#c\n/a 350 #500\n/b\n/c 0\n/d -3 #7\nhttp://h:1/e #9\n", []Page{
			{350, []File{{"/a", 500, 2}}}, {1, []File{{"/b", -1, 3}}}, {1, []File{{"/c", -1, 4}}},
			{1, []File{{"/d", 7, 5}}}, {1, []File{{"http://h:1/e", 9, 6}}},
		}},
		"a query with a scheme in it": {"/a?u=http://x 2\n", []Page{{2, []File{{"/a?u=http://x", -1, 1}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := Parse("list", strings.NewReader(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, list.Pages); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	many := strings.Repeat("/x\n", 51)
	for name, c := range map[string]struct {
		text, where, want string
	}{
		"empty":                      {"", "list:1:", "expected a number of pages"},
		"comments only":              {"# a\n# b\n", "list:3:", "found the end of the list"},
		"blank first":                {"\n1\n", "list:1:", "found a blank line"},
		"blank as a page":            {"2\n40 1\n/a\n\n60 1\n/b\n", "list:4:", `found a blank line, expected "weight nfiles" of page 2 of 2`},
		"blank as a path":            {"1\n40 2\n/a\n \n", "list:4:", "found a blank line, expected path 2 of 2 of page 1"},
		"blank at the end":           {"1\n40 1\n/a\n\n", "list:4:", "expected the end of the list after 1 pages"},
		"no page":                    {"0\n", "list:1:", "from 1 to 100"},
		"too many pages":             {"101\n", "list:1:", "from 1 to 100"},
		"far too many pages":         {"99999999999999999999\n", "list:1:", "from 1 to 100"},
		"a weight that is none":      {"1\nx 1\n/a\n", "list:2:", "the weight is a whole number"},
		"a weight of 0":              {"1\n0 1\n/a\n", "list:2:", "the weight is a whole number"},
		"no file count":              {"1\n40\n/a\n", "list:2:", `expected "weight nfiles" of page 1 of 1`},
		"too many files":             {"1\n40 51\n" + many, "list:2:", "at most 50 files"},
		"fewer pages than it says":   {"2\n40 1\n/a\n", "list:4:", `found the end of the list, expected "weight nfiles" of page 2 of 2`},
		"fewer files than it says":   {"1\n40 2\n/a\n", "list:4:", "found the end of the list, expected path 2 of 2 of page 1"},
		"a weight instead of a path": {"2\n40 2\n/a\n60 1\n/b\n", "list:4:", "no byte 0x20"},
		"more than it says":          {"1\n40 1\n/a\n/b\n", "list:4:", "the end of the list after 1 pages"},
		"an escape":                  {"1\n40 1\n/%zz\n", "list:3:", "two hexadecimal digits"},
		"a fragment":                 {"1\n40 1\n/a#b\n", "list:3:", `no "#"`},
		"2.x blank":                  {"/a 1\n\n/b 1\n", "list:2:", "blank lines are not allowed"},
		"2.x weight":                 {"/a one\n", "list:1:", "whole number as weight"},
		"2.x fraction":               {"/a 1.5\n", "list:1:", "whole number as weight"},
		"2.x huge weight":            {"/a 99999999999\n", "list:1:", "whole number as weight"},
		"2.x size":                   {"/a 1 #x\n", "list:1:", "size in bytes"},
		"2.x size without mark":      {"/a 1 500\n", "list:1:", "size in bytes"},
		"2.x negative size":          {"/a 1 #-1\n", "list:1:", "size in bytes"},
		"2.x more":                   {"/a 1 #5 6\n", "list:1:", "nothing else"},
		"2.x not ASCII":              {"/\xc3\xa9 1\n", "list:1:", "write %C3"},
		"2.x no host":                {"http:///a 1\n", "list:1:", "not a URL"},
		"2.x other scheme":           {"ftp://h/a 1\n", "list:1:", "not a URL"},
		"2.x bad port":               {"http://h:x/a 1\n", "list:1:", "not a URL"},
		"2.x port out of range":      {"http://h:65536/a 1\n", "list:1:", "a number from 1 to 65535"},
		"2.x port 0":                 {"http://h:0/a 1\n", "list:1:", "a number from 1 to 65535"},
		"2.x no port":                {"http://h:/a 1\n", "list:1:", "the port is missing"},
		"2.x zone":                   {"http://[fe80::1%25lo]/a 1\n", "list:1:", "zone"},
		"a long line":                {"/a 1\n/" + strings.Repeat("a", maxLineLength) + "\n", "list:2:", "at most 8192 bytes"},
		"a long first line":          {"/" + strings.Repeat("a", maxLineLength) + "\n", "list:1:", "at most 8192 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("list", strings.NewReader(c.text))
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), c.where) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one at %s about %q", err, c.where, c.want)
			}
		})
	}
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	if _, err := Open("testdata/none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want one about a file that does not exist", err)
	}
}

// TestParseReadsWhatItWrites draws lists, writes them and reads them back.
func TestParseReadsWhatItWrites(t *testing.T) {
	target := rapid.StringMatching(`/[a-z0-9._~%-]{0,3}(%[0-9A-F]{2})?[a-z./]{0,5}(\?[a-z=&]{0,5})?`).Filter(func(s string) bool { return badTarget(s) == "" })
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		var want []Page
		line := 0
		printf := func(format string, args ...any) {
			for rapid.Bool().Draw(t, "comment") {
				line++
				text.WriteString("# " + rapid.StringMatching(`[a-z0-9 #]*`).Draw(t, "text") + "\n")
			}
			line++
			fmt.Fprintf(&text, format+"\n", args...)
		}
		if rapid.Bool().Draw(t, "1.x") {
			n := rapid.IntRange(1, 8).Draw(t, "pages")
			printf("%d", n)
			for range n {
				p := Page{Weight: rapid.Uint64Range(1, 100).Draw(t, "weight")}
				files := rapid.IntRange(1, 5).Draw(t, "files")
				printf("%d %d", p.Weight, files)
				for range files {
					f := File{Target: target.Draw(t, "target"), Size: -1}
					printf("%s", f.Target)
					f.Line = line
					p.Files = append(p.Files, f)
				}
				want = append(want, p)
			}
		} else {
			for range rapid.IntRange(1, 20).Draw(t, "lines") {
				f := File{Target: target.Draw(t, "target"), Size: rapid.Int64Range(0, 1<<40).Draw(t, "size")}
				p := Page{Weight: rapid.Uint64Range(1, maxWeight).Draw(t, "weight")}
				printf("%s\t%d  #%d", f.Target, p.Weight, f.Size)
				f.Line = line
				p.Files = []File{f}
				want = append(want, p)
			}
		}
		list, err := Parse("drawn", strings.NewReader(text.String()))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text.String())
		}
		if d := cmp.Diff(want, list.Pages); d != "" {
			t.Fatal(d)
		}
	})
}

func addSeeds(f *testing.F) {
	for _, name := range []string{"testdata/filelist.ss", "testdata/filelist.standard"} {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

// FuzzPages and FuzzLines check that whatever a parser accepts is within the
// bounds and usable, and that what it refuses is refused with a place.
func FuzzPages(f *testing.F) {
	addSeeds(f)
	f.Add([]byte("2\n40 1\n/a\n\n60 1\n/b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := newScanner("fuzz", strings.NewReader(string(text)))
		first, ok := s.next()
		if !ok {
			return
		}
		list, err := parsePages(s, first)
		checkParsed(t, list, err)
		if err == nil && len(list.Pages) > maxPages {
			t.Errorf("%d pages", len(list.Pages))
		}
	})
}

func FuzzLines(f *testing.F) {
	addSeeds(f)
	f.Add([]byte("/a 350 #500\nhttp://h/b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := newScanner("fuzz", strings.NewReader(string(text)))
		first, ok := s.next()
		if !ok {
			return
		}
		list, err := parseLines(s, first)
		checkParsed(t, list, err)
	})
}

func checkParsed(t *testing.T, list *List, err error) {
	if err != nil {
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Line < 1 {
			t.Errorf("error without a place: %v", err)
		}
		return
	}
	for _, p := range list.Pages {
		if p.Weight < 1 || len(p.Files) < 1 || len(p.Files) > maxFilesOfPage {
			t.Errorf("page %+v", p)
		}
		for _, f := range p.Files {
			if f.Size < -1 || f.Line < 1 || strings.ContainsAny(f.Target, " \r\n\x00") || f.Target == "" {
				t.Errorf("file %+v", f)
			}
		}
	}
}
