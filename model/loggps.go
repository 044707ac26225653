package model

import (
	"math"

	"github.com/loggp/loggp/model/unit"
)

// LogGPS is LogGP with messages that wait for their receiver if they are long. Ino, Fujimoto and Hagihara 2001.
type LogGPS struct {
	Parameters
	S int // bytes of the longest message that does not wait; −1: none, NoLimit: all
}

// NoLimit is the S of a library that sends messages of any size eagerly.
const NoLimit = math.MaxInt

// LogGPS returns the parameters with a limit.
func (x Parameters) LogGPS(s int) LogGPS { return LogGPS{x, s} }

// OneWay returns the time of a message to a receiver that waits. One of more than S bytes asks first and is answered,
//
//	k ≤ S:                    o_s + (k−1) G + L + o_r
//	k > S: 2 (o_s + L + o_r) + o_s + (k−1) G + L + o_r
//
// where what goes back and forth has the overheads of an empty message.
func (x LogGPS) OneWay(k int) unit.Time {
	t := x.Parameters.OneWay(k)
	if k > x.S {
		t += 2 * (x.SendO.Time(0) + x.L + x.RecvO.Time(0))
	}
	return t
}

// EagerLimit returns the S of a library for a mode and a tier: the size of the longest message up to which all go by a protocol whose
// first message has all of their data. It is −1 if not even the empty message does, NoLimit if all do.
func (l *Library) EagerLimit(m Mode, peer Tier) int {
	s := -1
	for _, r := range l.Rules {
		upTo := r.UpTo
		if upTo < 0 {
			upTo = NoLimit
		}
		if r.Mode != m || !r.Peers.Has(peer) || upTo <= s {
			continue
		}
		p := Named(r.Protocol)
		if p == nil || !p.Eager() {
			return s
		}
		s = max(s, p.Steps[0].Bytes(upTo, l.First))
		if s < upTo || s == NoLimit {
			return s
		}
	}
	return s
}
