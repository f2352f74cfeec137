package bench

import (
	"encoding/json"
	"fmt"
)

// A Fault is why an exchange does not count as throughput. An exchange has
// one: the first that applies in the order in which a client meets them.
type Fault uint8

// The faults.
const (
	FaultNone      Fault = iota
	FaultRefused         // no connection: refused or unreachable
	FaultReset           // the connection was reset before the reply was complete
	FaultTimeout         // no complete reply in the time allowed
	FaultShort           // the connection ended before the reply did
	FaultMalformed       // not HTTP/1.x, or bytes after the reply that nobody asked for
	FaultStatus          // a complete reply with a status that was not expected
	FaultLength          // a complete reply with a body longer or shorter than expected
	FaultContent         // a complete reply with the right length and the wrong bytes
	FaultLocal           // the client's own: no port, no descriptor, no memory
	NumFaults      = iota
)

var faultNames = [NumFaults]string{"none", "refused", "reset", "timeout", "short",
	"malformed", "status", "length", "content", "local"}

// String is the fault's name in every report.
func (f Fault) String() string {
	if int(f) < len(faultNames) {
		return faultNames[f]
	}
	return fmt.Sprintf("fault %d", uint8(f))
}

// Wrong says whether a complete reply came that was not the right one, so that
// the server answered something else than was asked.
func (f Fault) Wrong() bool {
	return f == FaultMalformed || f == FaultStatus || f == FaultLength || f == FaultContent
}

// Failed says whether no complete reply came, by the server's doing or the
// network's.
func (f Fault) Failed() bool {
	return f == FaultRefused || f == FaultReset || f == FaultTimeout || f == FaultShort
}

// Faults counts exchanges by fault; [FaultNone] counts the good ones.
type Faults [NumFaults]uint64

// Total is the number of faulty exchanges.
func (f *Faults) Total() (n uint64) {
	for _, c := range f[FaultRefused:] {
		n += c
	}
	return n
}

// Wrong is the number of exchanges with a wrong reply; see [Fault.Wrong].
func (f *Faults) Wrong() (n uint64) {
	for i, c := range f {
		if Fault(i).Wrong() {
			n += c
		}
	}
	return n
}

// Failed is the number of exchanges without a complete reply; see
// [Fault.Failed].
func (f *Faults) Failed() (n uint64) {
	for i, c := range f {
		if Fault(i).Failed() {
			n += c
		}
	}
	return n
}

// failedShare is how many of the exchanges may fail without making a result
// incomplete.
const failedShare = 0.001

// TooMany says whether n of all exchanges are more than may fail, or have an
// end that nobody knows, without making a result [Incomplete].
func TooMany(n, all uint64) bool { return float64(n) > failedShare*float64(all) }

// TooManyFailed says whether so many exchanges had no complete reply that the
// result is [Incomplete], when good others had the right one.
func (f *Faults) TooManyFailed(good uint64) bool {
	return TooMany(f.Failed(), f.Total()+good)
}

// Add adds the counts of g.
func (f *Faults) Add(g *Faults) {
	for i := range f {
		f[i] += g[i]
	}
}

// MarshalJSON writes {"refused": 0, ...}: every fault but none, in order.
func (f Faults) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := FaultRefused; i < NumFaults; i++ {
		if i > FaultRefused {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%q:%d", i.String(), f[i])
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON writes; a fault that is not named is 0,
// one that is not known an error.
func (f *Faults) UnmarshalJSON(b []byte) error {
	var m map[string]uint64
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	*f = Faults{}
	for i := FaultRefused; i < NumFaults; i++ {
		f[i] = m[i.String()]
		delete(m, i.String())
	}
	for name := range m {
		return fmt.Errorf("unknown fault %q", name)
	}
	return nil
}
