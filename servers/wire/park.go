package wire

import (
	"runtime/debug"

	"github.com/weighstone/weighstone"
)

// Park parks the exchange that [Machine.Next] has just said may wait, so that
// the caller's loop waits for it; nil when it has to leave the loop. wake is
// handed on to [weighstone.Parker].
func (m *Machine) Park(wake func()) weighstone.Parked {
	p, ok := m.route.Handler.(weighstone.Parker)
	if !ok || m.X.In.HasBody() {
		return nil
	}
	return m.park(p, wake)
}

// park calls the handler. One that panics will do so when it serves, too, and
// is answered for then.
func (m *Machine) park(p weighstone.Parker, wake func()) (parked weighstone.Parked) {
	defer func() {
		if fault := recover(); fault != nil {
			m.config.Log.Error("handler panicked as it parked", "target", string(m.X.In.Target), "fault", fault, "stack", string(debug.Stack()))
			parked = nil
		}
	}()
	return p.Park(&m.X, wake)
}

// Conclude serves an exchange that was parked and is [weighstone.Ready]. in
// begins with its request, of which the head took n bytes; the reply is ready
// as after [Machine.Next]. The head is parsed a second time: that costs less
// than to keep an exchange for each that waits.
func (m *Machine) Conclude(parked weighstone.Handler, in []byte, peer *Peer) (n int) {
	m.hit, m.storing = nil, false
	n, _ = m.parse(in, 0, peer) // it was parsed before, and found to be good
	m.route = m.config.Site.Find(&m.X)
	m.handle(parked)
	return n
}
