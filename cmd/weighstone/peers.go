package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/weighstone/weighstone/bench/subject"
	"github.com/weighstone/weighstone/cmd/internal/site"
)

type peersCmd struct {
	JSON bool `name:"json" help:"As JSON."`
}

// A peer is a real server or load tool, here or not.
type peer struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"` // server, module, load tool or interpreter
	Path    string `json:"path"` // empty when it is not here
	Version string `json:"version"`
	Source  string `json:"source"` // what brings it
}

// tools are the load tools that the manual shows how to use.
var tools = []struct{ name, version, source string }{
	{"wrk", "-v", "Debian package wrk"},
	{"ab", "-V", "Debian package apache2-utils"},
	{"hey", "", "Debian package hey"},
	{"h2load", "--version", "Debian package nghttp2-client"},
	{"k6", "version", "go install go.k6.io/k6@latest"},
	{"vegeta", "-version", "go install github.com/tsenart/vegeta/v12@latest"},
	{"httperf", "--version", "Debian package httperf"},
	{"siege", "--version", "Debian package siege"},
	{"slowhttptest", "", "Debian package slowhttptest"},
}

// Run lists them.
func (c *peersCmd) Run(s *streams) error {
	all := slices.Concat(findServers(), findModules(), findTools(), findInterpreters())
	if c.JSON {
		return writeJSON(s.out, all)
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tKIND\tHERE")
	for _, p := range all {
		here := "no: " + p.Source
		if p.Path != "" {
			here = strings.TrimSpace(p.Path + "  " + p.Version)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.Name, p.Kind, here)
	}
	return w.Flush()
}

func findServers() []peer {
	var all []peer
	for _, p := range subject.Peers() {
		found := peer{Name: p.Name, Kind: "server", Source: subject.Source(p.Package)}
		if path, err := p.Here(); err == nil {
			found.Path, found.Version = path, p.Version(path)
		}
		all = append(all, found)
	}
	return all
}

// findModules lists what real servers may be asked for beside themselves.
func findModules() []peer {
	var all []peer
	for _, m := range subject.Modules() {
		found := peer{Name: m.Name, Kind: "module", Source: subject.Source(m.Package)}
		if path, err := m.Here(); err == nil {
			found.Path = path
		}
		all = append(all, found)
	}
	return all
}

func findTools() []peer {
	var all []peer
	for _, t := range tools {
		found := peer{Name: t.name, Kind: "load tool", Source: t.source}
		if path, err := exec.LookPath(t.name); err == nil {
			found.Path, found.Version = path, versionOf(path, t.version)
		}
		all = append(all, found)
	}
	return all
}

// findInterpreters lists what the site's scripts need.
func findInterpreters() []peer {
	var all []peer
	for _, i := range (site.Interpreters{}).List() {
		found := peer{Name: i.Program, Kind: "interpreter", Source: "Debian package " + i.Package}
		if path, err := exec.LookPath(i.Program); err == nil {
			found.Path, found.Version = path, versionOf(path, "-v")
		}
		all = append(all, found)
	}
	return all
}

// versionOf returns the first line that a program says to the flag that asks
// for its version. Some end with an error after it.
func versionOf(path, flag string) string {
	if flag == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, path, flag).CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(line)
}
