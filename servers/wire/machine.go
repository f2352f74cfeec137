package wire

import (
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/weighstone/weighstone"
	"github.com/weighstone/weighstone/internal/http1"
)

// A Config is what all machines of a server share.
type Config struct {
	Site   *weighstone.Site
	Limits weighstone.Limits
	Access weighstone.AccessLog // may be nil
	Log    *slog.Logger

	// CloseAfter ends each connection after so many requests; 0 for never.
	CloseAfter int

	// Apart keeps the body of a page out of the bytes that [Machine.Reply]
	// renders, however short it is.
	Apart bool
}

// NewConfig returns what the machines of a server with these options share.
func NewConfig(o *weighstone.Options, site *weighstone.Site) Config {
	return Config{
		Site: site, Limits: o.Limits, Access: o.Access, Log: o.Log,
		CloseAfter: o.Knobs.CloseAfter, Apart: o.Knobs.Send == weighstone.SendCork,
	}
}

// A Peer is a connection as its requests see it: its two ends, and how many
// requests it has had answered, which the machine counts.
type Peer struct {
	Local, Remote netip.AddrPort
	Answered      int
}

// A Machine holds one exchange at a time. It belongs to one goroutine, which
// may use it for many connections in turn.
type Machine struct {
	X weighstone.Exchange // the current exchange, valid until the next one begins

	config     Config
	slot       *weighstone.Slot
	head       http1.Request
	headLimits http1.Limits
	route      *weighstone.Route
	peer       *Peer // of the current exchange; nil for a refusal without request
	asked      bool  // the client ends the connection with this request

	cache   *Cache
	hit     *stored // what the cache answers the current request with; nil if it does not
	storing bool    // the reply may be stored, under key
	key     []byte

	now    time.Time // as last told
	clock  http1.Clock
	second int64  // the second that the two below were made for
	ok     []byte // status line 200, Server and Date
	common []byte // Server and Date alone
}

// NewMachine makes a machine that counts into slot.
func NewMachine(config Config, slot *weighstone.Slot) *Machine {
	config.Limits = config.Limits.Filled()
	m := &Machine{config: config, slot: slot}
	m.headLimits = http1.Limits{Head: config.Limits.MaxHeader}
	m.Tick(time.Now())
	return m
}

// Tick tells the machine the time; replies carry the last one told. It is
// cheap within a second.
func (m *Machine) Tick(now time.Time) {
	m.now = now
	if sec := now.Unix(); sec != m.second {
		m.second = sec
		m.common = append(m.common[:0], "Server: "+weighstone.Software+"\r\nDate: "...)
		m.common = append(m.common, m.clock.Date(now)...)
		m.common = append(m.common, "\r\n"...)
		m.ok = append(http1.AppendStatusLine(m.ok[:0], 1, 200), m.common...)
	}
}

// A Step is what [Machine.Next] found.
type Step uint8

// The steps.
const (
	NeedMore Step = iota // no complete head yet: read more
	Answered             // the reply is ready in X.Out
	Leave                // the exchange may wait: it is for Serve, with these same bytes
	Parsed               // of Parse alone: there is a request, and Handle is to follow
)

// Next takes the next request from the start of in. seen is how many bytes of
// in an earlier call has looked at already. With Answered, the head took n
// bytes; a malformed one is answered too, and takes all of in. With Leave,
// nothing is consumed.
func (m *Machine) Next(in []byte, seen int, peer *Peer) (n int, step Step) {
	n, step = m.Parse(in, seen, peer)
	if step == Parsed {
		step = m.Handle()
	}
	return n, step
}

// Parse is the first half of Next, and [Machine.Handle] the second, for an
// engine in which they have threads of their own. The bytes of in must stay as
// they are until the reply is rendered.
func (m *Machine) Parse(in []byte, seen int, peer *Peer) (n int, step Step) {
	m.hit, m.storing = nil, false
	if m.cache != nil && seen == 0 {
		if n = m.recall(in, peer); n > 0 {
			return n, Answered
		}
	}
	n, ok := m.parse(in, seen, peer)
	if !ok {
		return len(in), Answered
	}
	if n == 0 {
		return 0, NeedMore
	}
	if m.cache != nil && m.remembered(in[:n]) {
		return n, Answered
	}
	return n, Parsed
}

// Handle finds the route of the request that was parsed and asks its handler.
func (m *Machine) Handle() Step {
	m.route = m.config.Site.Find(&m.X)
	if m.route == nil {
		return Answered
	}
	if m.route.MayWait(&m.X.In) {
		return Leave
	}
	m.handle(m.route.Handler)
	if m.X.In.HasBody() && !m.X.In.Droppable() {
		m.X.Out.Close = true
	}
	return Answered
}

// Overload answers the request that was parsed with 503 in the place of a
// handler, and has the connection closed (RFC 9110 section 15.6.4).
func (m *Machine) Overload() {
	m.X.Fail(http.StatusServiceUnavailable)
	m.X.AddField("Retry-After", retryAfter)
	m.X.Out.Close = true
}

// retryAfter is after how many seconds an overloaded server is to be asked again.
const retryAfter = "1"

// Elsewhere says whether another program has the handler of the exchange for
// which [Machine.Next] has returned Leave.
func (m *Machine) Elsewhere() bool { return m.route.Elsewhere }

// handle calls a handler. One that panics is answered for with 500: a fault in
// one exchange must not end the others.
func (m *Machine) handle(h weighstone.Handler) {
	defer func() {
		if fault := recover(); fault != nil {
			m.config.Log.Error("handler panicked", "target", string(m.X.In.Target), "fault", fault, "stack", string(debug.Stack()))
			m.X.Fail(http.StatusInternalServerError)
			m.X.Out.Close = true
		}
	}()
	h.Serve(&m.X)
}

// Unread is how many bytes of body follow the head just answered and are to be
// dropped before the next request.
func (m *Machine) Unread() int64 {
	if m.hit != nil || m.X.Out.Close || m.X.In.Length < 0 {
		return 0
	}
	return m.X.In.Length
}

// parse reads a head into m.X.In. When it is malformed the refusal is made
// ready and ok is false.
func (m *Machine) parse(in []byte, seen int, peer *Peer) (n int, ok bool) {
	n, status := m.head.Parse(in, seen, &m.headLimits)
	if n == 0 && status == 0 {
		return 0, true
	}
	x := &m.X
	x.Reset()
	m.peer = peer
	x.In.Local, x.In.Remote = peer.Local, peer.Remote
	if status != 0 {
		m.head = http1.Request{Minor: 1, Fields: m.head.Fields}
		m.asked = false
		x.In.Minor = 1
		x.Fail(status)
		x.Out.Close = true
		return 0, false
	}
	in1 := &x.In
	in1.Method, in1.Target, in1.Host = m.head.Method, m.head.Target, m.head.Host
	in1.Minor, in1.Length, in1.Fields = m.head.Minor, m.head.Length, &m.head.Fields
	m.asked = !m.head.KeepAlive && m.head.Length == 0
	return n, true
}

// AskedToClose says whether the request itself ended the connection, so that
// nothing more is on its way and closing cannot destroy the reply.
func (m *Machine) AskedToClose() bool { return m.asked }
