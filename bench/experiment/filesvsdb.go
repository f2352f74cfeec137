package experiment

import (
	"fmt"
	"strings"
	"time"

	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/bench/published"
	"github.com/weighstone/weighstone/bench/subject"
	"github.com/weighstone/weighstone/fixtures"
)

// filesVsDB repeats the question of the study of March 1997 in which Lotus
// Domino served the same pages as files and out of a Notes database.
func filesVsDB() Experiment {
	return Experiment{
		Name:     "files-vs-db",
		Question: "How much more does a server answer when pages are files than when they are documents in a database?",
		Held: "Silicon Surf as WebStone 2.5 asks for it, a file after the other by weight, one connection a request, HTTP/1.0, no think time; 4 to " +
			"24 clients as in the study, and 30 to 240 as it did with a server of files alone. The same bytes come from files in memory and " +
			"from the database, there by URLs of 202 bytes, as the study's were; that the length of the URL is not the reason is shown by a " +
			"third cell, which asks the database by the documents' paths.",
		NotRepeated: "The machines, networks and the Notes database of 1997: this one is SQLite, in the server, and its pages are in memory. " +
			"Published ratios go up to 24 clients; Domino lost connections from 20 on.",
		design: designFilesVsDB,
	}
}

// surfClients are the client counts of the study.
func surfClients(quick bool) []int {
	if quick {
		return []int{4, 8, 24, 240}
	}
	return []int{4, 8, 12, 16, 20, 24, 30, 60, 120, 240}
}

// A place is where the same documents are.
type place struct {
	name string
	url  func(path string) string
}

func places() []place {
	return []place{
		{"files", func(p string) string { return "/" + p }},
		{"database", func(p string) string { return fixtures.DocumentURL("/db/", p) }},
		{"database by path", func(p string) string { return "/db/" + p }},
	}
}

func designFilesVsDB(l *lab) (*design, error) {
	runs, duration := l.scaled(10, 6, 2*time.Second, 500*time.Millisecond)
	d := &design{runs: runs}
	subjects, err := l.ours("epoll")
	if err != nil {
		return nil, err
	}
	for _, s := range subjects {
		for _, clients := range surfClients(l.Quick) {
			var unit []*cell
			for _, p := range places() {
				c, err := l.placeCell(s, p, clients, duration)
				if err != nil {
					return nil, err
				}
				unit = append(unit, c)
			}
			d.units = append(d.units, unit)
			files, db, byPath := unit[0], unit[1], unit[2]
			name := fmt.Sprintf("%s, %d clients: ", s.Name(), clients)
			rate := comparison{name: name + "files to database", a: files, b: db, metric: claimRate}
			cpu := comparison{name: name + "database to files", a: db, b: files, metric: claimCPU}
			if p, ok := published.FilesOverDatabase(clients); ok {
				rate.published, rate.source = p.Value, p.Source
				cpu.published, cpu.source = p.Value, p.Source
			}
			d.compare = append(d.compare, rate, cpu,
				comparison{name: name + "long URLs to short", a: db, b: byPath, metric: claimCPU})
		}
	}
	return d, nil
}

// placeCell is Silicon Surf from one place.
func (l *lab) placeCell(s subject.Subject, p place, clients int, duration time.Duration) (*cell, error) {
	text, err := fixtures.FileList("silicon-surf-2.x", p.url)
	if err != nil {
		return nil, err
	}
	surf, err := plan.Parse("silicon-surf-2.x, "+p.name, strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	files := map[string]string{} // by the path of the URL
	for _, f := range l.manifest.Files {
		at, _, _ := strings.Cut(p.url(f.Path), "?")
		files[at] = f.Path
	}
	c := &cell{
		name: fmt.Sprintf("%s %s, %d clients", s.Name(), p.name, clients), subject: s, handler: p.name, claims: claimRate,
		load: setting{clients: clients, http10: true, planName: surf.Name, warmup: duration / 5, duration: duration},
	}
	for _, name := range []string{"silicon-surf/file1k.html", "silicon-surf/file200k.html"} {
		c.proofs = append(c.proofs, proof{p.url(name), name})
	}
	c.plan = func(base string) (*plan.Plan, error) {
		return plan.New(surf, base, plan.Options{Seed: l.Seed, Files: func(target string) (int64, [32]byte, bool) {
			return l.file(files[target])
		}})
	}
	return c, nil
}
