package thread

import (
	"context"
	"errors"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/sys"
	"github.com/weighstone/weighstone/servers/flow"
	"github.com/weighstone/weighstone/servers/loop"
	"github.com/weighstone/weighstone/servers/wire"
)

// An evented server has a thread that accepts and waits for the connections on
// which no request has begun, and a pool whose threads read and answer
// (Apache's event MPM, 2005). A thread has a connection from the first byte of a
// request to the last of its reply; what comes to more than there are threads
// waits in a queue.
type evented struct {
	server
	workers int
	poller  weighstone.Server
	visits  *line[loop.Visit]
}

// NewEvent makes a server with Options.Workers threads, 0 for [DefaultWorkers],
// that accepts no more while Knobs.Queue connections wait for one, 0 for
// [DefaultQueue].
func NewEvent(o weighstone.Options) weighstone.Server {
	o.Workers = QueueWorkers(o.Workers)
	if o.Knobs.Queue == 0 {
		o.Knobs.Queue = DefaultQueue
	}
	e := &evented{workers: o.Workers, visits: newLine[loop.Visit](o.Knobs.Queue)}
	e.Crowd = flow.NewCrowd(o, o.Workers, true)
	o.Slots = e.Slots()[:1]
	e.poller = loop.NewPoller(o, e.visits)
	return e
}

// Serve accepts and answers until Drain has finished; see [weighstone.Server].
func (e *evented) Serve(listeners []int, site *weighstone.Site) error {
	var polled error
	err := e.Run(site, func() error {
		if err := threads(e.workers); err != nil {
			return err
		}
		for range e.workers {
			e.Go(e.work)
		}
		e.Go(func() {
			defer e.visits.close()
			polled = e.poller.Serve(listeners, site)
		})
		return nil
	})
	return errors.Join(err, polled)
}

// Drain finishes what is in flight; see [weighstone.Server]. The poller has all
// connections in its tables, the crowd the threads.
func (e *evented) Drain(ctx context.Context) error {
	go e.poller.Drain(ctx)
	return e.Crowd.Drain(ctx)
}

// work is a thread of the pool: it serves connections on which something has
// come, until there will be none.
func (e *evented) work() {
	w := e.newWorker()
	defer w.conn.free()
	var idle sys.Sleeper
	for {
		v, ok := e.visits.next(&idle)
		if !ok {
			return
		}
		v.Return(w.turn(&v))
	}
}

// turn answers what has come on a connection.
func (w *worker) turn(v *loop.Visit) wire.End {
	w.conn.use(v.FD())
	return w.flow.Turn(&w.conn, v.Peer(), v.Began(), v.Slot())
}
