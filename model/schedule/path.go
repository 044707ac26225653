package schedule

import (
	"math"
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// pathLog is what a run keeps to explain its times: an entry for each occupation of a CPU, arrival
// of a message and departure that was held up, with what it had to wait for last.
type pathLog struct {
	entries                                                         []pathEntry
	causes                                                          []uint32 // by operation: what its next entry waits for
	lastEntryOfCPU, lastEntryOfOutInterface, lastEntryOfInInterface []uint32 // by resource: the entry that has occupied it last, plus 1
}

// pathEntry is an occupation. It began at a time because of another entry: cause is that one plus
// 1, with how it acts on this one; 0: nothing.
type pathEntry struct {
	at          uint64
	opAndAction uint32 // as in event
	cause       uint32
}

// How an entry makes another one wait.
const (
	causeReady     = iota // the operation waits for the end, or the start, of another one
	causeCPU              // the CPU was occupied
	causeInterface        // the interface was occupied
	causeMessage          // the message had to arrive
	causeData             // its last byte had to be in
	causeAnswer           // the answer had to be in
)

// encodeCause returns a cause. entry is plus 1.
func encodeCause(entry, how uint32) uint32 {
	if entry == 0 {
		return 0
	}
	return entry<<3 | how
}

// addEntry adds an entry and returns its number plus 1.
func (l *pathLog) addEntry(at uint64, what, cause uint32) uint32 {
	l.entries = append(l.entries, pathEntry{at, what, cause})
	return uint32(len(l.entries))
}

// lastEntryOnCPU returns the entry that has occupied a CPU last, plus 1.
func (l *pathLog) lastEntryOnCPU(cpu int) uint32 {
	if l == nil {
		return 0
	}
	return l.lastEntryOfCPU[cpu]
}

// noteCause notes that the next entry of an operation waits for the last entry of all.
func (r *run) noteCause(op, how uint32) {
	if r.pathLog != nil {
		r.pathLog.causes[op] = encodeCause(uint32(len(r.pathLog.entries)), how)
	}
}

// noteOccupation notes that an event has got a CPU, and an interface where that is not −1. It is
// called before their times are set.
func (r *run) noteOccupation(e event, cpu, out, in int) {
	l := r.pathLog
	if l == nil {
		return
	}
	c := l.causes[e.opAndAction>>3]
	switch {
	case r.cpuFree[cpu] == e.at && l.lastEntryOfCPU[cpu] != 0:
		c = encodeCause(l.lastEntryOfCPU[cpu], causeCPU)
	case out >= 0 && r.outFree[out] == e.at && l.lastEntryOfOutInterface[out] != 0:
		c = encodeCause(l.lastEntryOfOutInterface[out], causeInterface)
	case in >= 0 && r.inFree[in] == e.at && l.lastEntryOfInInterface[in] != 0:
		c = encodeCause(l.lastEntryOfInInterface[in], causeInterface)
	}
	i := l.addEntry(e.at, e.opAndAction, c)
	l.lastEntryOfCPU[cpu] = i
	if out >= 0 {
		l.lastEntryOfOutInterface[out] = i
	}
	if in >= 0 {
		l.lastEntryOfInInterface[in] = i
	}
	if e.opAndAction&7 == beginOpAction && r.ops[e.opAndAction>>3].Kind == Send {
		l.causes[e.opAndAction>>3] = encodeCause(i, causeMessage)
	}
}

// noteReceive notes a receive that takes no time but ends a send.
func (r *run) noteReceive(e event) {
	if r.pathLog != nil {
		r.pathLog.addEntry(e.at, e.opAndAction, r.pathLog.causes[e.opAndAction>>3])
	}
}

// noteRelease notes that CPU and interface of a sender are occupied until certain times, because
// its message was matched, which the last entry says.
func (r *run) noteRelease(cpuTime, nicTime uint64, cpu, nic int) {
	if r.pathLog == nil {
		return
	}
	if cpuTime > r.cpuFree[cpu] {
		r.pathLog.lastEntryOfCPU[cpu] = uint32(len(r.pathLog.entries))
	}
	if nicTime > r.outFree[nic] {
		r.pathLog.lastEntryOfOutInterface[nic] = uint32(len(r.pathLog.entries))
	}
}

// PathPart is a part of the finishing time.
type PathPart uint8

// The parts of the finishing time: the parameters, what the program computes, time that noise
// takes, and time in which nothing on the path works.
const (
	OverheadPart PathPart = iota
	LatencyPart
	GapPart
	GapPerBytePart
	OverheadPerBytePart
	ComputingPart
	DetourPart
	WaitingPart
	NumPathParts
)

var partNames = [NumPathParts]string{"o", "L", "g", "G", "O", "computing", "noise", "waiting"}

func (p PathPart) String() string { return partNames[p] }

// PathParts are times by their parts.
type PathParts [NumPathParts]unit.Time

// Sum returns the sum of all parts.
func (p *PathParts) Sum() unit.Time {
	var sum unit.Time
	for _, t := range p {
		sum += t
	}
	return sum
}

// PathStep is a step of the critical path: what an operation did, until what follows on the path
// could begin.
type PathStep struct {
	Location
	Rank     int    // on which it happened
	Action   string // compute, send, receive, arrive, request, answer, data or enter
	From, To unit.Time
	Cause    string // what it had to wait for: start, operation, CPU, interface, message or data
	Parts    PathParts
}

// CriticalPath is the critical path: operations each of which waits for the one before it, up to
// the end of the rank that finishes last. Their times add up to the finishing time.
type CriticalPath struct {
	Steps []PathStep // the last ones, in the order of time
	Count int        // of all
	Parts PathParts  // of all
}

// CriticalPath returns the critical path with at most the given number of steps; the parts are
// those of all. It panics unless Options.Explain was set.
func (res *Result) CriticalPath(most int) *CriticalPath {
	r := res.run
	if r.pathLog == nil {
		panic("schedule: Path without Options.Explain")
	}
	p := &CriticalPath{}
	scale := unit.Time(r.unitPicoseconds())
	best := res.LastRank * r.cpus
	for c := best; c < (res.LastRank+1)*r.cpus; c++ {
		if r.cpuFree[c] > r.cpuFree[best] {
			best = c
		}
	}
	to, how := r.cpuFree[best], uint32(causeCPU)
	for i := r.pathLog.lastEntryOfCPU[best]; i != 0; {
		e := r.pathLog.entries[i-1]
		parts := r.splitIntoParts(e, how, to-e.at)
		p.Count++
		for part, t := range parts {
			p.Parts[part] += t * scale
			parts[part] = t * scale
		}
		if len(p.Steps) < most {
			p.Steps = append(p.Steps, PathStep{
				Location: r.location(e.opAndAction >> 3), Rank: r.rankOf(e), Action: r.nameOfEntryAction(e),
				From: unit.Time(e.at) * scale, To: unit.Time(to) * scale, Cause: causeNames[e.cause&7], Parts: parts,
			})
			if e.cause == 0 {
				p.Steps[len(p.Steps)-1].Cause = "start"
			}
		}
		to, how, i = e.at, e.cause&7, e.cause>>3
	}
	p.Parts[WaitingPart] += unit.Time(to) * scale // before the first one
	slices.Reverse(p.Steps)
	return p
}

var causeNames = [...]string{causeReady: "operation", causeCPU: "CPU", causeInterface: "interface", causeMessage: "message", causeData: "data", causeAnswer: "message"}

// rankOf returns on which rank an entry happened.
func (r *run) rankOf(e pathEntry) int {
	o := &r.ops[e.opAndAction>>3]
	if w := e.opAndAction & 7; w == messageArrivesAction || w == dataArrivesAction {
		return int(o.Peer)
	}
	return int(o.rank)
}

// nameOfEntryAction names what an entry is.
func (r *run) nameOfEntryAction(e pathEntry) string {
	switch o := &r.ops[e.opAndAction>>3]; e.opAndAction & 7 {
	case messageArrivesAction, answerArrivesAction, dataArrivesAction:
		return "arrive"
	case takeMessageAction:
		return "receive"
	case sendAnswerAction:
		return "answer"
	case sendDataAction:
		return "data"
	case messageLeavesAction:
		return "enter"
	default:
		return [...]string{Send: "send", Recv: "receive", Calc: "compute"}[o.Kind]
	}
}

// splitIntoParts says of which parts the time is that an entry made another one wait.
func (r *run) splitIntoParts(e pathEntry, how uint32, long uint64) (parts PathParts) {
	rest := long
	give := func(part PathPart, most uint64) {
		t := min(most, rest)
		parts[part] += unit.Time(t)
		rest -= t
	}
	o := &r.ops[e.opAndAction>>3]
	what := e.opAndAction & 7
	k := r.messageBytes(o) - 1
	work := r.overhead
	if what == sendAnswerAction || what == sendDataAction {
		work *= 2
	}
	if what == messageLeavesAction || how == causeData || what == messageArrivesAction || what == dataArrivesAction || what == answerArrivesAction {
		work = 0
	}
	const all = math.MaxUint64
	switch {
	case r.Dialect == LogGP:
		switch how {
		case causeReady, causeCPU:
			if o.Kind == Calc {
				give(ComputingPart, o.Size*1000)
				break
			}
			give(OverheadPart, work)
			if r.Noise == nil {
				give(OverheadPerBytePart, all)
			} else if k = bytesAfterFirst(o); k > 0 {
				give(OverheadPerBytePart, r.timeOfOverheadBytes(k))
			}
		case causeInterface:
			give(OverheadPart, work)
			give(GapPart, r.gap)
			give(GapPerBytePart, all)
		case causeMessage:
			give(OverheadPart, work)
			if r.Noise != nil && rest > r.latency {
				give(DetourPart, rest-r.latency)
			}
			give(LatencyPart, r.latency)
		case causeData:
			give(GapPerBytePart, all)
		}
		if r.Noise != nil {
			give(DetourPart, all)
		}
	case o.Kind == Calc:
		give(ComputingPart, o.Size)
	case how == causeInterface:
		give(GapPart, r.gap)
		give(GapPerBytePart, all)
	case how == causeMessage && r.Dialect == LogGOPSim:
		give(OverheadPart, r.overhead)
		give(LatencyPart, r.latency)
	case how == causeMessage:
		give(OverheadPart, r.overhead)
		give(LatencyPart, r.latency)
		give(OverheadPerBytePart, r.overheadPerByte.roundedCost(k))
		give(GapPerBytePart, r.gapPerByte.truncatedCost(k))
	case what == messageArrivesAction && r.Dialect == LogGOPSim:
		give(OverheadPart, r.overhead)
		if r.gapPerByte.integer >= r.overheadPerByte.integer {
			give(GapPerBytePart, all)
		}
		give(OverheadPerBytePart, all)
	case r.Dialect == LGS && (what == messageArrivesAction || o.Kind == Recv):
		give(OverheadPart, r.overhead)
		give(GapPart, r.gap)
		give(OverheadPerBytePart, r.overheadPerByte.roundedCost(k))
	case o.Kind == Send:
		give(OverheadPart, r.overhead)
		give(OverheadPerBytePart, all)
	}
	give(WaitingPart, all)
	return parts
}
