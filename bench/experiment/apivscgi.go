package experiment

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/weighstone/weighstone/bench/plan"
	"github.com/weighstone/weighstone/bench/published"
	"github.com/weighstone/weighstone/bench/subject"
)

// apiVsCGI repeats the question of the study of February 1996 in which
// Microsoft's ISAPI and Netscape's NSAPI met CGI under WebStone 1.1.
func apiVsCGI() Experiment {
	return Experiment{
		Name:     "api-vs-cgi",
		Question: "How much more does a server answer when pages are made inside it than when a CGI program makes them?",
		Held: "One server program answers both halves; the pages have the same bytes, made by the same rule, of the size of the file " +
			"that each replaces; the mixes are those of WebStone 1.1 over Silicon Surf (static, light with 50 of 200 accesses dynamic, " +
			"medium with 84, heavy with all), a page's files one after another, one connection a request, HTTP/1.0, no think time. " +
			"CPU a request is compared with each saturated and again at the same offered rate, half of what CGI can do. " +
			"In the static mix both halves ask for the same, so that its ratio shows what chance does.",
		NotRepeated: "The machines, operating systems and networks of 1996; its file list, whose text is lost (this is a reconstruction); " +
			"its run length of five minutes and its eight loads of 16 to 128 clients, of which one is run here. " +
			"A process start costs what it costs on today's kernel.",
		design: designAPIVsCGI,
	}
}

func designAPIVsCGI(l *lab) (*design, error) {
	runs, duration := l.scaled(10, 6, 3*time.Second, 600*time.Millisecond)
	d := &design{runs: runs}
	subjects, err := l.ours("epoll")
	if err != nil {
		return nil, err
	}
	list, err := plan.Open(filepath.Join(l.Fixtures, "filelists", "silicon-surf-1.x.txt"))
	if err != nil {
		return nil, err
	}
	for _, s := range subjects {
		for _, mix := range []plan.Mix{plan.Static, plan.Light, plan.Medium, plan.Heavy} {
			api := surfCell(l, s, list, mix, "api/send", duration)
			cgi := surfCell(l, s, list, mix, "cgi-bin/send", duration)
			if mix == plan.Static {
				cgi.name += ", again"
			}
			d.units = append(d.units, []*cell{api, cgi})
			first := len(d.compare)
			d.compare = append(d.compare, compareMechanisms(s.Name(), mix, api, cgi)...)
			if mix != plan.Static {
				d.sameRate([]*cell{api, cgi}, first+1)
			}
		}
	}
	return d, nil
}

// surfCell is Silicon Surf in a mix, with the dynamic part made by handler.
func surfCell(l *lab, s subject.Subject, list *plan.List, mix plan.Mix, handler string, duration time.Duration) *cell {
	c := &cell{
		name: fmt.Sprintf("%s %s %s", s.Name(), mix, handler), subject: s, handler: handler, claims: claimRate,
		load: setting{clients: 16, http10: true, planName: "silicon-surf-1.x, " + string(mix), warmup: duration / 5, duration: duration},
		proofs: []proof{
			{"/silicon-surf/file1k.html", "silicon-surf/file1k.html"},
			{"/silicon-surf/file200k.html", "silicon-surf/file200k.html"},
		},
	}
	c.plan = func(base string) (*plan.Plan, error) {
		return plan.New(list, base, plan.Options{Seed: l.Seed, Files: l.file, Mix: mix, Dynamic: "/" + handler})
	}
	if mix == plan.Static {
		c.handler = "static"
		c.name = fmt.Sprintf("%s %s", s.Name(), mix)
		return c
	}
	for _, size := range []int{1 << 10, 200 << 10} {
		c.proofs = append(c.proofs, proof{fmt.Sprintf("/%s?size=%d", handler, size), fmt.Sprintf("send %d", size)})
	}
	return c
}

// compareMechanisms compares by rate, as the study did, and by the server's
// CPU, which says the same where the client or the other core set the rate. In
// the study the server's processor was the limit, so its ratio stands beside
// both.
func compareMechanisms(server string, mix plan.Mix, api, cgi *cell) []comparison {
	rate := comparison{name: fmt.Sprintf("%s, %s: api to cgi", server, mix), a: api, b: cgi, metric: claimRate}
	cpu := comparison{name: fmt.Sprintf("%s, %s: cgi to api", server, mix), a: cgi, b: api, metric: claimCPU}
	if mix == plan.Static {
		rate.name = fmt.Sprintf("%s, %s: the same twice", server, mix)
		cpu.name = rate.name
		rate.same, cpu.same = true, true
		return []comparison{rate, cpu}
	}
	if p, ok := published.APIOverCGI("iis", string(mix)); ok {
		rate.published, rate.source = p.Value, p.Source
		cpu.published, cpu.source = p.Value, p.Source
	}
	all := []comparison{rate, cpu}
	if p, ok := published.APIOverCGI("netsite", string(mix)); ok && mix == plan.Heavy {
		netsite := rate
		netsite.name += ", beside NetSite"
		netsite.published, netsite.source = p.Value, p.Source
		all = append(all, netsite)
	}
	return all
}
