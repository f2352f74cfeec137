package cgi

import (
	"io"
	"net"
	"sync"
	"time"
)

// ServeConns is an application's loop: it has serve answer on each connection
// of l, in a goroutine of its own, and closes the connection afterwards. It
// returns when accepting fails, as it does when l is closed, and all
// connections have ended.
func ServeConns(l net.Listener, serve func(net.Conn)) error {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		all.Go(func() {
			defer c.Close()
			serve(c)
			linger(c)
		})
	}
}

// linger reads what the gateway still sends until it closes, for a bounded
// time: to close while something of it is unread would break the connection
// under a reply that the gateway has not read yet.
func linger(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		c.SetReadDeadline(time.Now().Add(2 * time.Second))
		io.Copy(io.Discard, c)
	}
}
