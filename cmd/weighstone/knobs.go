package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers"
)

// knobFlags are the flags of what an architecture leaves open. Each variant
// has some of them; the zero value of each is the variant's own default.
type knobFlags struct {
	AcceptBatch     batch  `placeholder:"N|all" help:"Connections taken each time that the listening socket is ready."`
	Edge            bool   `help:"Have epoll tell each readiness once (EPOLLET)."`
	EpollCtl        string `name:"epoll-ctl" enum:",change,naive" default:"" placeholder:"naive|change" help:"Call epoll_ctl at every change of a connection's state, or only when what is waited for changes."`
	Pin             bool   `help:"Bind each worker to a core of its own."`
	Send            string `enum:",write,sendfile,cork,mmap" default:"" placeholder:"write|sendfile|cork|mmap" help:"How the bytes of files leave."`
	Exclusive       bool   `help:"Let all workers wait on one listening socket, one of which is woken (EPOLLEXCLUSIVE)."`
	Engine          string `enum:",epoll,nethttp,fasthttp,fiber" default:"" placeholder:"epoll|nethttp|fasthttp|fiber" help:"What each process is."`
	MinWorkers      int    `placeholder:"N" help:"Least number of workers of a pool."`
	MaxWorkers      int    `placeholder:"N" help:"Largest number of workers of a pool."`
	MinSpare        int    `placeholder:"N" help:"Idle workers of a pool of processes below which more are started."`
	MaxSpare        int    `placeholder:"N" help:"Idle workers of a pool of processes above which one after another ends."`
	Helpers         int    `placeholder:"N" help:"Threads that read what the loops must not wait for."`
	Queue           int    `placeholder:"N" help:"Accepted connections that may wait for a worker."`
	KeepAlive       bool   `default:"true" negatable:"" help:"Keep connections after a reply."`
	RequestsPerConn int    `placeholder:"N" help:"Close each connection after so many requests."`
	FileCache       string `enum:",none,descriptor,memory" default:"" placeholder:"none|descriptor|memory" help:"What is kept of files between requests: nothing, open descriptors, or contents."`
	OverrideFiles   string `placeholder:"NAME" help:"Look for a file of this name in every directory along the path of every request, as Apache does for .htaccess."`
	ConnsPerAddr    int    `placeholder:"N" help:"Connections of one client address at a time; what is above is closed at accept."`
	DeferAccept     bool   `help:"Have the kernel hold a connection back until its first bytes are there (TCP_DEFER_ACCEPT)."`
}

// set lists the flags that the user has turned.
func (k *knobFlags) set() []string {
	var flags []string
	for _, f := range []struct {
		flag string
		on   bool
	}{
		{"--accept-batch", k.AcceptBatch != 0},
		{"--edge", k.Edge},
		{"--epoll-ctl", k.EpollCtl != ""},
		{"--pin", k.Pin},
		{"--send", k.Send != ""},
		{"--exclusive", k.Exclusive},
		{"--engine", k.Engine != ""},
		{"--min-workers", k.MinWorkers != 0},
		{"--max-workers", k.MaxWorkers != 0},
		{"--min-spare", k.MinSpare != 0},
		{"--max-spare", k.MaxSpare != 0},
		{"--helpers", k.Helpers != 0},
		{"--queue", k.Queue != 0},
		{"--no-keep-alive", !k.KeepAlive},
		{"--requests-per-conn", k.RequestsPerConn != 0},
		{"--conns-per-addr", k.ConnsPerAddr != 0},
		{"--file-cache", k.FileCache != ""},
		{"--override-files", k.OverrideFiles != ""},
		{"--defer-accept", k.DeferAccept},
	} {
		if f.on {
			flags = append(flags, f.flag)
		}
	}
	return flags
}

// check refuses a knob that the variant does not have; --workers, which most
// have, is one of them.
func (k *knobFlags) check(v *servers.Variant, workers int) error {
	flags := k.set()
	if workers != 0 {
		flags = append(flags, "--workers")
	}
	for _, flag := range flags {
		if !v.Has(flag) {
			return fmt.Errorf("%s has no %s: its knobs are\n  %s", v.Name, flag, strings.Join(v.Knobs, "\n  "))
		}
	}
	if k.FileCache == "memory" && k.ofFiles() {
		return fmt.Errorf("--send %s and --file-cache memory contradict each other: a file in memory leaves from there", k.Send)
	}
	return nil
}

// checkPool refuses sizes of a pool that contradict each other; workers is its
// size at the start.
func (k *knobFlags) checkPool(workers int) error {
	if k.MaxWorkers > 0 && (k.MinWorkers > k.MaxWorkers || workers > k.MaxWorkers) || workers > 0 && workers < k.MinWorkers {
		return errors.New("--workers, --min-workers, --max-workers: they contradict each other")
	}
	if k.MaxSpare > 0 && k.MinSpare > k.MaxSpare {
		return errors.New("--min-spare, --max-spare: they contradict each other")
	}
	return nil
}

// checkOverride refuses what is no name of a file in a directory.
func (k *knobFlags) checkOverride() error {
	if name := k.OverrideFiles; name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("--override-files: expected a file's name without its directory, but got %q", name)
	}
	return nil
}

// knobs returns the choices as the server takes them.
func (k *knobFlags) knobs() weighstone.Knobs {
	closeAfter := k.RequestsPerConn
	if !k.KeepAlive {
		closeAfter = 1
	}
	return weighstone.Knobs{
		MinWorkers: k.MinWorkers, MaxWorkers: k.MaxWorkers, MinSpare: k.MinSpare, MaxSpare: k.MaxSpare, Queue: k.Queue, Helpers: k.Helpers,
		CloseAfter: closeAfter, ConnsPerAddr: k.ConnsPerAddr,
		AcceptBatch: int(k.AcceptBatch), EdgeTriggered: k.Edge, NaiveControl: k.EpollCtl == "naive",
		Exclusive: k.Exclusive, Pin: k.Pin, Engine: k.Engine,
		Send: map[string]weighstone.SendPath{
			"write": weighstone.SendWrite, "sendfile": weighstone.SendSendfile, "cork": weighstone.SendCork, "mmap": weighstone.SendMmap,
		}[k.Send],
	}
}

// keptOpen is how many descriptors of files --file-cache descriptor keeps:
// room is left for connections where there are 1,024 in all.
const keptOpen = 256

// fileCache says what is kept of files, as [static.Options] has it. Those that
// are to leave in a way of their own are not kept in memory.
func (k *knobFlags) fileCache() (memory int64, descriptors int) {
	switch {
	case k.FileCache == "memory":
		return 0, 0
	case k.FileCache == "descriptor":
		return -1, keptOpen
	case k.FileCache == "none", k.ofFiles():
		return -1, 0
	}
	return 0, 0
}

// ofFiles says that the send path is one for files, not for memory.
func (k *knobFlags) ofFiles() bool {
	return k.Send == "write" || k.Send == "sendfile" || k.Send == "mmap"
}

// A batch is a number of connections; "all" is negative.
type batch int

// UnmarshalText reads N or all.
func (b *batch) UnmarshalText(text []byte) error {
	if string(text) == "all" {
		*b = -1
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 {
		return fmt.Errorf("expected a number of connections or all, but got %q", text)
	}
	*b = batch(n)
	return nil
}
