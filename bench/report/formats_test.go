package report

import (
	"bytes"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/weighstone/weighstone/bench"
	"golang.org/x/perf/benchfmt"
)

func TestFormatsGolden(t *testing.T) {
	for extension, write := range map[string]func(io.Writer, *bench.Document) error{
		"csv": CSV, "gobench": GoBench, "webstone": WebStone,
	} {
		golden(t, "measured."+extension, write, measured())
		golden(t, "climbed."+extension, write, climbed())
		golden(t, "empty."+extension, write, &bench.Document{Schema: bench.Schema, Verdict: bench.Valid})
	}
	one := climbed()
	one.Cells = one.Cells[3:4]
	one.Cells[0].Runs[0].Errors[bench.FaultReset] = 7
	golden(t, "one.webstone", WebStone, one)
}

// TestGoBenchIsReadByBenchstat reads the format with benchstat's own reader.
func TestGoBenchIsReadByBenchstat(t *testing.T) {
	for name, d := range map[string]*bench.Document{"climbed": climbed(), "hostile": hostile()} {
		var b bytes.Buffer
		if err := GoBench(&b, d); err != nil {
			t.Fatal(err)
		}
		r := benchfmt.NewReader(&b, name)
		results, units := 0, 0
		for r.Scan() {
			switch rec := r.Result().(type) {
			case *benchfmt.Result:
				rate, ok := rec.Value("req/s")
				p99, okP99 := rec.Value("p99-sec")
				if !ok || !okP99 || rate < 100 || p99 <= 0 || p99 > 1 || rec.GetConfig("verdict") == "" || rec.GetConfig("network") != "loopback" {
					t.Errorf("%s: %s: rate %v, p99 %v s, verdict %q", name, rec.Name, rate, p99, rec.GetConfig("verdict"))
				}
				if _, parts := rec.Name.Parts(); len(parts) != 4 || !strings.HasPrefix(string(parts[3]), "/clients=") {
					t.Errorf("%s: parts %q", name, parts)
				}
				results++
			case *benchfmt.UnitMetadata:
				units++
			case *benchfmt.SyntaxError:
				t.Errorf("%s: %v", name, rec)
			}
		}
		if r.Err() != nil || results != 47 || units == 0 { // 16 cells of 3 runs, one discarded
			t.Errorf("%s: %d results, %d units, %v", name, results, units, r.Err())
		}
		if better := r.Units().GetBetter("req/s"); better != 1 {
			t.Errorf("%s: better=%d of req/s", name, better)
		}
		if better := r.Units().GetBetter("p99-sec"); better != -1 {
			t.Errorf("%s: better=%d of p99-sec", name, better)
		}
	}
}

func TestCSVReadsBack(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, hostile()); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll() // which wants as many fields in each
	if err != nil {
		t.Fatal(err)
	}
	records := map[string]int{}
	for _, l := range lines[1:] {
		records[l[0]]++
		for i, name := range csvHeading {
			switch name {
			case "value", "lo", "hi", "p", "published", "rate_asked":
				if _, err := strconv.ParseFloat(l[i], 64); l[i] != "" && err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	if records["comparison"] != 3 || records["errors"] != 16*9 || records["metric"] == 0 || records["run"] == 0 || len(records) != 4 {
		t.Errorf("%v", records)
	}
}
