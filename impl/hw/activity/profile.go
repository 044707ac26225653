package activity

import (
	"cmp"
	"slices"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// profile sums up a whole run while it goes on: calls with their wait states, traffic and an
// overview. It needs no more memory for a longer run.
type profile struct {
	calls      []model.CallProfile
	callByName map[string]int
	ranks      []rankProfile
	paths      map[any]criticalPath // of packets and accesses under way
	traffic    map[[2]int]model.PairTraffic
	group      int // ranks that are one in traffic
	overview   model.Overview
}

// rankProfile is the call that a rank is in, and what has led to its present time.
type rankProfile struct {
	call               int // index in profile.calls; negative: none
	enteredAt, leftAt  unit.Time
	hasLeft            bool      // the call has ended at leftAt, unless the rank communicates again
	wait               unit.Time // that no message has ended yet
	waitEnd, busySince unit.Time
	path               criticalPath
}

// criticalPath is the last segments of the path of dependent work that led to a message: which rank
// was busy from when to when (Böhme, Wolf et al. 2010). Of more segments the longest are kept.
type criticalPath struct {
	segments [4]pathSegment
	count    int
	sentAt   unit.Time
}

type pathSegment struct {
	rank     int32
	from, to unit.Time
}

// add adds a segment behind the others, in place of the shortest if there is no room.
func (p *criticalPath) add(s pathSegment) {
	if s.to <= s.from {
		return
	}
	if p.count < len(p.segments) {
		p.segments[p.count] = s
		p.count++
		return
	}
	shortest := 0
	for i, x := range p.segments {
		if x.to-x.from < p.segments[shortest].to-p.segments[shortest].from {
			shortest = i
		}
	}
	if x := p.segments[shortest]; x.to-x.from < s.to-s.from {
		copy(p.segments[shortest:], p.segments[shortest+1:])
		p.segments[len(p.segments)-1] = s
	}
}

// since returns the part of the path after a time.
func (p criticalPath) since(t unit.Time) criticalPath {
	out := criticalPath{sentAt: p.sentAt}
	for _, s := range p.segments[:p.count] {
		s.from = max(s.from, t)
		out.add(s)
	}
	return out
}

// maxPairs is how many pairs of ranks, or of groups of ranks, are told apart.
const maxPairs = 1 << 18

func newProfile(ranks int) *profile {
	p := &profile{callByName: map[string]int{}, ranks: make([]rankProfile, ranks), paths: map[any]criticalPath{}, traffic: map[[2]int]model.PairTraffic{}, group: 1, overview: model.NewOverview(ranks)}
	for i := range p.ranks {
		p.ranks[i].call = -1
	}
	return p
}

// enterCall ends the call that a rank is in at a time, and begins another one; "": none.
func (p *profile) enterCall(rank int, name string, now unit.Time) {
	r := &p.ranks[rank]
	p.endWait(r)
	if r.call >= 0 {
		c, end := &p.calls[r.call], now
		if r.hasLeft {
			end = r.leftAt
		}
		took := end - r.enteredAt
		if c.Count++; c.Count == 1 || took < c.Shortest {
			c.Shortest = took
		}
		c.Time, c.Longest = c.Time+took, max(c.Longest, took)
	}
	r.call, r.enteredAt, r.hasLeft = -1, now, false
	if name == "" {
		return
	}
	i, ok := p.callByName[name]
	if !ok {
		i = len(p.calls)
		p.callByName[name] = i
		p.calls = append(p.calls, model.CallProfile{Name: name})
	}
	r.call = i
}

// leaveCall ends the call that a rank is in at a time, unless the rank goes on to communicate.
func (p *profile) leaveCall(rank int, now unit.Time) {
	if r := &p.ranks[rank]; !r.hasLeft {
		p.endWait(r)
		r.hasLeft, r.leftAt = true, now
	}
}

// addActivity notes what a processor did.
func (p *profile) addActivity(rank int, a model.Activity, from, to unit.Time) {
	p.overview.Add(rank, a, from, to)
	r := &p.ranks[rank]
	switch {
	case a == model.WaitActivity:
		r.wait, r.waitEnd = r.wait+to-from, to
	case a == model.BlockedActivity && r.call >= 0:
		p.calls[r.call].Blocked += to - from
	}
}

// endWait ends a wait of which is not known what ended it.
func (p *profile) endWait(r *rankProfile) {
	if r.wait > 0 && r.call >= 0 && !r.hasLeft {
		p.calls[r.call].Waiting += r.wait
	}
	r.wait = 0
}

// send notes that a rank sends a packet, or starts an access, at a time.
func (p *profile) send(x any, rank int, now unit.Time) {
	r := &p.ranks[rank]
	path := r.path
	path.add(pathSegment{int32(rank), r.busySince, now})
	path.sentAt = now
	p.paths[x] = path
}

// receive ends the wait of a rank by a packet. A ready one says that its receiver is ready.
func (p *profile) receive(rank int, x any, isReady bool) {
	path, ok := p.paths[x]
	delete(p.paths, x)
	r := &p.ranks[rank]
	if r.wait == 0 {
		return
	}
	if !ok {
		p.endWait(r)
		return
	}
	begin := r.waitEnd - r.wait
	recent := path.since(begin)
	if r.call >= 0 {
		c, late := &p.calls[r.call], min(max(path.sentAt-begin, 0), r.wait)
		if c.Waiting += r.wait; isReady {
			c.LateReceiver += late
		} else {
			c.LateSender += late
		}
		if c.DelayedBy == nil {
			c.DelayedBy = make([]unit.Time, len(p.ranks))
		}
		for _, s := range recent.segments[:recent.count] {
			c.DelayedBy[s.rank] += min(s.to-s.from, late)
		}
	}
	r.path, r.busySince, r.wait = recent, r.waitEnd, 0
}

// reportCompletion notes that a packet reports the completion of an access; nil: none does.
func (p *profile) reportCompletion(x *core.RemoteAccess, pk *core.Packet) {
	path, ok := p.paths[x]
	if delete(p.paths, x); ok && pk != nil {
		p.paths[pk] = path
	}
}

// receiverReadyPackets are the packets by which a receiver says that it is ready, or that it has
// room.
var receiverReadyPackets = []string{"ACK", "FIN", "credit", "grant", "clear to send"}

// addTraffic notes data from one rank to another, which a rank has sent or got.
func (p *profile) addTraffic(rank, from, to, bytes int) {
	if bytes == 0 {
		return
	}
	if c := p.ranks[rank].call; c >= 0 {
		p.calls[c].Bytes += bytes
	}
	p.addPair(model.PairTraffic{From: from, To: to, Messages: 1, Bytes: bytes})
	if len(p.traffic) > maxPairs {
		fine := p.traffic
		p.group, p.traffic = 2*p.group, map[[2]int]model.PairTraffic{}
		for _, t := range fine {
			p.addPair(t)
		}
	}
}

func (p *profile) addPair(t model.PairTraffic) {
	key := [2]int{t.From / p.group, t.To / p.group}
	x := p.traffic[key]
	p.traffic[key] = model.PairTraffic{From: key[0] * p.group, To: key[1] * p.group, Group: p.group, Messages: x.Messages + t.Messages, Bytes: x.Bytes + t.Bytes}
}

// result returns the profile of the run, which has ended.
func (p *profile) result(o *Log) model.Profile {
	for i := range p.ranks {
		p.enterCall(i, "", o.processors[i].clock)
	}
	out := model.Profile{Calls: p.calls, Overview: p.overview}
	for _, t := range p.traffic {
		out.Traffic = append(out.Traffic, t)
	}
	slices.SortFunc(out.Traffic, func(a, b model.PairTraffic) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return out
}
