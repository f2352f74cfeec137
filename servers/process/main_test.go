package process

import (
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/servers/loop"
	"github.com/weighstone/weighstone/servers/thread"
)

// role tells a process of this test binary what it is, instead of a run of the
// tests.
const role = "PROCESS_TEST_ROLE"

// The roles. All but the first are workers.
const (
	masterRole = "master" // serves with workers until it is killed
	goodRole   = "good"
	flawedRole = "flawed" // ends before it serves
	frailRole  = "frail"  // serves, and dies with its first request
)

func TestMain(m *testing.M) {
	var err error
	switch playing := os.Getenv(role); playing {
	case "":
		os.Exit(m.Run())
	case masterRole:
		err = beMaster()
	case flawedRole:
		err = fmt.Errorf("flawed, as the test wants it")
	default:
		err = beWorker(playing)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// beWorker serves a page that tells the worker's process id.
func beWorker(playing string) error {
	w, err := Inherit(os.Args[1])
	if err != nil {
		return err
	}
	handler := func(x *weighstone.Exchange) {
		if playing == frailRole {
			os.Exit(4)
		}
		x.Scratch = fmt.Append(x.Scratch, os.Getpid())
		x.SendScratch("text/plain")
	}
	wait := func(x *weighstone.Exchange) {
		select {
		case <-x.In.Gone:
		case <-time.After(time.Minute):
		}
	}
	site, err := weighstone.NewSite(0,
		weighstone.Route{Pattern: "/", Methods: weighstone.GET, Handler: weighstone.HandlerFunc(handler)},
		weighstone.Route{Pattern: "/wait", Methods: weighstone.GET, Waits: true, Handler: weighstone.HandlerFunc(wait)},
	)
	if err != nil {
		return err
	}
	engine := map[string]func(weighstone.Options) weighstone.Server{"epoll": loop.NewEpoll, SoleEngine: thread.NewSole, GivenEngine: thread.NewGiven}[w.Config.Engine]
	return w.Run(engine(w.Options(slog.New(slog.DiscardHandler), nil)), site, func() {})
}

// crashes are those on the scoreboard.
func (s *server) crashes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.board.Crashes()
}
