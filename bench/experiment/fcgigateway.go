package experiment

import (
	"path/filepath"
	"time"

	"github.com/weighstone/weighstone/bench/subject"
)

// fcgiGateway weighs the FastCGI gateway alone, without the programs behind it.
func fcgiGateway() Experiment {
	return Experiment{
		Name:     "fcgi-gateway",
		Question: "What does a server spend on asking a FastCGI application, beside a real server that keeps its connections too?",
		Held: "The same C programs, which answer 162 bytes, at one Unix socket; a process for each connection that the server may keep, on the " +
			"client's core, and what they use is not counted; 8 and 32 clients on kept connections; nginx with fastcgi_keep_conn and an " +
			"upstream that keeps as many connections as there are processes.",
		NotRepeated: "Nothing published stands beside these figures: nginx does.",
		peers:       true,
		design:      designFCGIGateway,
	}
}

// gatewayPath is answered by the application.
const gatewayPath = "/app/constant"

func designFCGIGateway(l *lab) (*design, error) {
	runs, duration := l.scaled(floorRuns, floorRuns, 2*time.Second, 600*time.Millisecond)
	d := &design{runs: runs}
	if err := l.refuseRemotes(); err != nil {
		return nil, err
	}
	for _, clients := range []int{8, 32} {
		app := subject.App{
			Name: "constant", URL: gatewayPath, Path: filepath.Join(filepath.Dir(l.CGIDir), "fcgi", "constant"), Processes: 2 * clients, Apart: true,
		}
		var recipes []subject.Recipe
		for _, name := range l.variants("epoll") {
			recipes = append(recipes, subject.WeighstoneAsking(app, l.Binary, name, "--fixtures", l.Fixtures))
		}
		ours := len(recipes)
		peers, remarks, err := found(subject.Setup{Root: l.Fixtures, Apps: []subject.App{app}}, l.peers("nginx")...)
		if err != nil {
			return nil, err
		}
		for _, r := range remarks {
			d.remark(r)
		}
		all, err := l.locals(append(recipes, peers...))
		if err != nil {
			return nil, err
		}
		var unit []*cell
		for _, s := range all {
			c := l.cell(s, gatewayPath, "constant", true, clients, duration)
			c.name, c.claims = c.name+", "+crowd{active: clients}.String(), claimCPU
			unit = append(unit, c)
		}
		d.units = append(d.units, unit)
		for _, a := range unit[:ours] {
			for _, b := range unit[ours:] {
				d.compare = append(d.compare, comparison{
					name: a.subject.Name() + " to " + b.subject.Name() + ", " + crowd{active: clients}.String(), a: a, b: b, metric: claimCPU,
				})
			}
		}
	}
	return d, nil
}
