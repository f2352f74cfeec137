package report

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weighstone/weighstone/bench"
)

func TestHTMLGolden(t *testing.T) {
	golden(t, "climbed.html", HTML, climbed())
	golden(t, "measured.html", HTML, measured())
	golden(t, "empty.html", HTML, &bench.Document{Schema: bench.Schema, Verdict: bench.Valid})
}

func pageOf(t *testing.T, d *bench.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHTMLStandsAlone sees that a page asks for nothing and runs nothing,
// whatever the document says.
func TestHTMLStandsAlone(t *testing.T) {
	loads := regexp.MustCompile(`(?i)<script|<link|<iframe|<img|<object|\ssrc=|\shref=|url\(|@import|\son[a-z]+=`)
	for name, d := range map[string]*bench.Document{"climbed": climbed(), "hostile": hostile()} {
		page := pageOf(t, d)
		if found := loads.FindString(page); found != "" {
			t.Errorf("%s: the page has %q", name, found)
		}
		if strings.Count(page, "</style>") != 1 || strings.Count(page, "<svg") != strings.Count(page, "</svg>") {
			t.Errorf("%s: markup of the document's texts is not escaped", name)
		}
		if first, comparisons := strings.Index(page, "Verdict:"), strings.Index(page, "<h2>Comparisons"); first < 0 || comparisons < first {
			t.Errorf("%s: the verdict is not first", name)
		}
	}
}

// A probe is what a browser sees of a page.
type probe struct {
	Width    int      `json:"width"`
	Charts   []drawn  `json:"charts"`
	Overflow []string `json:"overflow"` // elements and texts that are wider than their place
	Overlap  []string `json:"overlap"`  // texts of a chart that lie over one another
	Scripts  int      `json:"scripts"`
	Ink      string   `json:"ink"`
	Paper    string   `json:"paper"`
}

type drawn struct {
	Class   string `json:"class"`
	Title   string `json:"title"`
	Marks   int    `json:"marks"`
	Lines   int    `json:"lines"`
	Bands   int    `json:"bands"`
	Others  int    `json:"others"`
	Outside int    `json:"outside"` // marks that are not within the chart
}

// probing is added to a page, measures it, and leaves what it found in it.
const probing = `<script>
const found = {width: innerWidth, charts: [], overflow: [], overlap: [], scripts: document.scripts.length - 1,
	ink: getComputedStyle(document.body).color, paper: getComputedStyle(document.body).backgroundColor};
const within = (r, o) => r.left >= o.left - 1 && r.right <= o.right + 1 && r.top >= o.top - 1 && r.bottom <= o.bottom + 1;
for (const svg of document.querySelectorAll("svg.chart")) {
	if (getComputedStyle(svg).display == "none") continue;
	const frame = svg.getBoundingClientRect();
	const seen = c => [...svg.querySelectorAll(c)].filter(e => { const b = e.getBoundingClientRect(); return b.width > 0 || b.height > 0; });
	const marks = seen(".mark, .other, .band, .line");
	found.charts.push({class: svg.classList[1], title: svg.getAttribute("aria-label"), marks: seen(".mark").length,
		lines: seen(".line").length, bands: seen(".band").length, others: seen(".other").length,
		outside: marks.filter(m => !within(m.getBoundingClientRect(), frame)).length});
	const box = svg.viewBox.baseVal, texts = [...svg.querySelectorAll("text")];
	for (const t of texts) {
		const b = t.getBBox();
		if (b.x < box.x || b.y < box.y || b.x + b.width > box.x + box.width || b.y + b.height > box.y + box.height)
			found.overflow.push(svg.getAttribute("aria-label") + ": " + t.textContent);
		for (const o of texts) {
			const c = o.getBBox();
			if (o != t && b.x < c.x + c.width && c.x < b.x + b.width && b.y < c.y + c.height - 3 && c.y < b.y + b.height - 3)
				found.overlap.push(svg.getAttribute("aria-label") + ": " + t.textContent + " / " + o.textContent);
		}
	}
}
for (const e of [document.documentElement, ...document.body.querySelectorAll("*")])
	if (!(e instanceof SVGElement) && e.clientWidth > 0 && e.scrollWidth > e.clientWidth)
		found.overflow.push(e.tagName + "." + e.className + ": " + e.textContent.slice(0, 60));
const out = document.createElement("pre");
out.id = "found";
out.textContent = JSON.stringify(found);
document.body.append(out);
</script>`

var foundBy = regexp.MustCompile(`(?s)<pre id="found">(.*?)</pre>`)

// inBrowser opens a page in a browser and returns what it measures there.
func inBrowser(t *testing.T, chromium, page string, flags ...string) probe {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(strings.Replace(page, "</body>", probing+"</body>", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--no-first-run", "--user-data-dir=" + filepath.Join(dir, "profile"), "--dump-dom",
	}, flags...)
	cmd := exec.CommandContext(ctx, chromium, append(args, "file://"+file)...)
	// A browser is many processes; all of them end with the test.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // those that it left behind
	}
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, &stderr)
	}
	match := foundBy.FindSubmatch(out)
	if match == nil {
		t.Fatalf("chromium: nothing was measured in a page of %d bytes\n%s", len(out), &stderr)
	}
	var p probe
	if err := json.Unmarshal([]byte(html.UnescapeString(string(match[1]))), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestHTMLInChromium opens pages in a browser, wide and narrow, light and
// dark: every chart has its marks, and no text is wider than its place.
func TestHTMLInChromium(t *testing.T) {
	chromium := need(t, "chromium")
	one := climbed()
	one.Cells = one.Cells[:1]
	pages := map[string]string{"climbed": pageOf(t, climbed()), "hostile": pageOf(t, hostile()), "measured": pageOf(t, measured()), "one": pageOf(t, one)}
	for _, c := range []struct {
		name, page string
		flags      []string
		charts     map[string]int // by class
	}{
		{"wide", "climbed", []string{"--window-size=1280,900"}, map[string]int{"ratio": 3, "ratio-axis": 1, "lines": 2*6 + 4*3, "bar": 16}},
		{"dark", "climbed", []string{"--window-size=1280,900", "--blink-settings=preferredColorScheme=0"}, map[string]int{"ratio": 3, "ratio-axis": 1, "lines": 2*6 + 4*3, "bar": 16}},
		{"narrow", "climbed", []string{"--window-size=820,900"}, map[string]int{"ratio": 3, "ratio-axis": 1, "lines": 2*6 + 4*3, "bar": 16}},
		{"hostile", "hostile", []string{"--window-size=1280,900"}, map[string]int{"ratio": 3, "ratio-axis": 1, "lines": 2*6 + 4*3, "bar": 16}},
		{"measured", "measured", []string{"--window-size=1280,900"}, map[string]int{"ratio": 6, "ratio-axis": 1, "bar": 3}},
		{"one", "one", []string{"--window-size=1280,900"}, map[string]int{"ratio": 3, "ratio-axis": 1, "lines": 3, "bar": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := inBrowser(t, chromium, pages[c.page], c.flags...)
			if len(p.Overflow) > 0 || len(p.Overlap) > 0 {
				t.Errorf("%d px wide: texts overflow: %q, overlap: %q", p.Width, p.Overflow, p.Overlap)
			}
			if p.Scripts != 0 {
				t.Errorf("%d scripts in the page", p.Scripts)
			}
			dark := strings.HasPrefix(p.Paper, "rgb(20,")
			if dark != (c.name == "dark") {
				t.Errorf("ink %s on paper %s", p.Ink, p.Paper)
			}
			drawnAll(t, p.Charts, c.charts)
		})
	}
}

// drawnAll sees that there are so many charts, by class, and that each has
// its marks.
func drawnAll(t *testing.T, all []drawn, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	for _, d := range all {
		got[d.Class]++
		if d.Outside > 0 {
			t.Errorf("%s: %d marks lie outside", d.Title, d.Outside)
		}
		switch {
		case strings.Contains(d.Title, "against the number of clients"):
			if d.Marks != 8 || d.Lines != 2 {
				t.Errorf("%s: %d marks, %d lines", d.Title, d.Marks, d.Lines)
			}
			if varies := !strings.Contains(d.Title, " CPU against"); varies && d.Bands != 2 {
				t.Errorf("%s: %d bands", d.Title, d.Bands)
			}
		case strings.HasPrefix(d.Title, "spectrum"):
			if d.Lines == 0 || d.Marks != d.Lines {
				t.Errorf("%s: %d lines, %d maxima", d.Title, d.Lines, d.Marks)
			}
		case d.Class == "lines":
			if d.Lines == 0 {
				t.Errorf("%s: no lines", d.Title)
			}
		case d.Class == "bar":
			if d.Marks != 1 {
				t.Errorf("%s: %d bars", d.Title, d.Marks)
			}
		case d.Class == "ratio":
			measured, published := !strings.HasPrefix(d.Title, "not begun"), strings.Contains(d.Title, "published")
			if (d.Marks == 1) != measured || (d.Others == 1) != published || (d.Bands == 1) != strings.Contains(d.Title, "[") {
				t.Errorf("%s: %d marks, %d bands, %d published", d.Title, d.Marks, d.Bands, d.Others)
			}
		}
	}
	for class, n := range want {
		if got[class] != n {
			t.Errorf("%d charts of class %s, want %d", got[class], class, n)
		}
	}
}

// TestShortRunsHaveACourse: runs of few seconds are drawn by steps of 100 ms,
// longer ones by seconds, and those of which nothing is known not at all.
func TestShortRunsHaveACourse(t *testing.T) {
	second := bench.Second{ForS: 1, Good: 1000, P99: bench.Number(2)}
	for _, c := range []struct {
		steps             []uint32
		seconds           int
		bySteps, bySecond bool
	}{
		{[]uint32{90, 110, 100}, 1, true, false},
		{[]uint32{90, 110}, 2, false, false},
		{[]uint32{90, 110, 100}, 3, false, true},
	} {
		client := &bench.Client{Steps: c.steps, Spectrum: []bench.Point{{Q: 1, MS: 1}}}
		for i := range c.seconds {
			second.AtS = float64(i)
			client.Seconds = append(client.Seconds, second)
		}
		var b bytes.Buffer
		d := &bench.Document{Cells: []bench.Cell{{Variant: "a", Runs: []bench.Run{{Requests: 300, Client: client}}}}}
		if err := HTML(&b, d); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		if strings.Contains(page, "Throughput, each 100 ms") != c.bySteps || strings.Contains(page, "Throughput, each second") != c.bySecond {
			t.Errorf("%d steps and %d seconds are not drawn by steps %v, by seconds %v", len(c.steps), c.seconds, c.bySteps, c.bySecond)
		}
	}
}
