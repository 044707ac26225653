package schedule

import (
	"math"
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// pathLog is what a run keeps to explain its times: an entry for each occupation of a CPU, arrival
// of a message and departure that was held up, with what it had to wait for last.
type pathLog struct {
	entries      []entry
	cause        []uint32 // by operation: what its next entry waits for
	cpu, out, in []uint32 // by resource: the entry that has occupied it last, plus 1
}

// entry is an occupation. It began at a time because of another entry: cause is that one plus 1,
// with how it acts on this one; 0: nothing.
type entry struct {
	at    uint64
	what  uint32 // as in event
	cause uint32
}

// How an entry makes another one wait.
const (
	byReady     = iota // the operation waits for the end, or the start, of another one
	byCPU              // the CPU was occupied
	byInterface        // the interface was occupied
	byMessage          // the message had to arrive
	byData             // its last byte had to be in
	byAnswer           // the answer had to be in
)

// via returns a cause. entry is plus 1.
func via(entry, how uint32) uint32 {
	if entry == 0 {
		return 0
	}
	return entry<<3 | how
}

// add adds an entry and returns its number plus 1.
func (l *pathLog) add(at uint64, what, cause uint32) uint32 {
	l.entries = append(l.entries, entry{at, what, cause})
	return uint32(len(l.entries))
}

// lastOn returns the entry that has occupied a CPU last, plus 1.
func (l *pathLog) lastOn(cpu int) uint32 {
	if l == nil {
		return 0
	}
	return l.cpu[cpu]
}

// cause notes that the next entry of an operation waits for the last entry of all.
func (r *run) cause(op, how uint32) {
	if r.log != nil {
		r.log.cause[op] = via(uint32(len(r.log.entries)), how)
	}
}

// took notes that an event has got a CPU, and an interface where that is not −1. It is called
// before their times are set.
func (r *run) took(e event, cpu, out, in int) {
	l := r.log
	if l == nil {
		return
	}
	c := l.cause[e.what>>3]
	switch {
	case r.cpu[cpu] == e.at && l.cpu[cpu] != 0:
		c = via(l.cpu[cpu], byCPU)
	case out >= 0 && r.out[out] == e.at && l.out[out] != 0:
		c = via(l.out[out], byInterface)
	case in >= 0 && r.in[in] == e.at && l.in[in] != 0:
		c = via(l.in[in], byInterface)
	}
	i := l.add(e.at, e.what, c)
	l.cpu[cpu] = i
	if out >= 0 {
		l.out[out] = i
	}
	if in >= 0 {
		l.in[in] = i
	}
	if e.what&7 == beginning && r.ops[e.what>>3].Kind == Send {
		l.cause[e.what>>3] = via(i, byMessage)
	}
}

// received notes a receive that takes no time but ends a send.
func (r *run) received(e event) {
	if r.log != nil {
		r.log.add(e.at, e.what, r.log.cause[e.what>>3])
	}
}

// bump notes that CPU and interface of a sender are occupied until certain times, because its
// message was matched, which the last entry says.
func (r *run) bump(cpuTime, nicTime uint64, cpu, nic int) {
	if r.log == nil {
		return
	}
	if cpuTime > r.cpu[cpu] {
		r.log.cpu[cpu] = uint32(len(r.log.entries))
	}
	if nicTime > r.out[nic] {
		r.log.out[nic] = uint32(len(r.log.entries))
	}
}

// Part is a part of the finishing time.
type Part uint8

// The parts of the finishing time: the parameters, what the program computes, time that noise
// takes, and time in which nothing on the path works.
const (
	PartO Part = iota
	PartL
	PartGap
	PartBigG
	PartBigO
	Computing
	Detour
	Waiting
	NumParts
)

var partNames = [NumParts]string{"o", "L", "g", "G", "O", "computing", "noise", "waiting"}

func (p Part) String() string { return partNames[p] }

// Parts are times by their parts.
type Parts [NumParts]unit.Time

// Sum returns the sum of all parts.
func (p *Parts) Sum() unit.Time {
	var sum unit.Time
	for _, t := range p {
		sum += t
	}
	return sum
}

// Step is a step of the critical path: what an operation did, until what follows on the path could
// begin.
type Step struct {
	Location
	Rank     int    // on which it happened
	What     string // compute, send, receive, arrive, request, answer, data or enter
	From, To unit.Time
	Why      string // what it had to wait for: start, operation, CPU, interface, message or data
	Parts    Parts
}

// Path is the critical path: operations each of which waits for the one before it, up to the end of
// the rank that finishes last. Their times add up to the finishing time.
type Path struct {
	Steps []Step // the last ones, in the order of time
	Count int    // of all
	Parts Parts  // of all
}

// Path returns the critical path with at most the given number of steps; the parts are those of
// all. It panics unless Options.Explain was set.
func (res *Result) Path(most int) *Path {
	r := res.run
	if r.log == nil {
		panic("schedule: Path without Options.Explain")
	}
	p := &Path{}
	scale := unit.Time(r.scale())
	best := res.LastRank * r.cpus
	for c := best; c < (res.LastRank+1)*r.cpus; c++ {
		if r.cpu[c] > r.cpu[best] {
			best = c
		}
	}
	to, how := r.cpu[best], uint32(byCPU)
	for i := r.log.cpu[best]; i != 0; {
		e := r.log.entries[i-1]
		parts := r.split(e, how, to-e.at)
		p.Count++
		for part, t := range parts {
			p.Parts[part] += t * scale
			parts[part] = t * scale
		}
		if len(p.Steps) < most {
			p.Steps = append(p.Steps, Step{
				Location: r.location(e.what >> 3), Rank: r.rankOf(e), What: r.did(e),
				From: unit.Time(e.at) * scale, To: unit.Time(to) * scale, Why: reasons[e.cause&7], Parts: parts,
			})
			if e.cause == 0 {
				p.Steps[len(p.Steps)-1].Why = "start"
			}
		}
		to, how, i = e.at, e.cause&7, e.cause>>3
	}
	p.Parts[Waiting] += unit.Time(to) * scale // before the first one
	slices.Reverse(p.Steps)
	return p
}

var reasons = [...]string{byReady: "operation", byCPU: "CPU", byInterface: "interface", byMessage: "message", byData: "data", byAnswer: "message"}

// rankOf returns on which rank an entry happened.
func (r *run) rankOf(e entry) int {
	o := &r.ops[e.what>>3]
	if w := e.what & 7; w == arriving || w == given {
		return int(o.Peer)
	}
	return int(o.rank)
}

// did names what an entry is.
func (r *run) did(e entry) string {
	switch o := &r.ops[e.what>>3]; e.what & 7 {
	case arriving, answered, given:
		return "arrive"
	case taking:
		return "receive"
	case answering:
		return "answer"
	case giving:
		return "data"
	case leaving:
		return "enter"
	default:
		return [...]string{Send: "send", Recv: "receive", Calc: "compute"}[o.Kind]
	}
}

// split says of which parts the time is that an entry made another one wait.
func (r *run) split(e entry, how uint32, long uint64) (parts Parts) {
	rest := long
	give := func(part Part, most uint64) {
		t := min(most, rest)
		parts[part] += unit.Time(t)
		rest -= t
	}
	o := &r.ops[e.what>>3]
	what := e.what & 7
	k := r.sent(o) - 1
	work := r.o
	if what == answering || what == giving {
		work *= 2
	}
	if what == leaving || how == byData || what == arriving || what == given || what == answered {
		work = 0
	}
	const all = math.MaxUint64
	switch {
	case r.Dialect == LogGP:
		switch how {
		case byReady, byCPU:
			if o.Kind == Calc {
				give(Computing, o.Size*1000)
				break
			}
			give(PartO, work)
			if r.Noise == nil {
				give(PartBigO, all)
			} else if k = length(o); k > 0 {
				give(PartBigO, r.bytes(k))
			}
		case byInterface:
			give(PartO, work)
			give(PartGap, r.g)
			give(PartBigG, all)
		case byMessage:
			give(PartO, work)
			if r.Noise != nil && rest > r.L {
				give(Detour, rest-r.L)
			}
			give(PartL, r.L)
		case byData:
			give(PartBigG, all)
		}
		if r.Noise != nil {
			give(Detour, all)
		}
	case o.Kind == Calc:
		give(Computing, o.Size)
	case how == byInterface:
		give(PartGap, r.g)
		give(PartBigG, all)
	case how == byMessage && r.Dialect == LogGOPSim:
		give(PartO, r.o)
		give(PartL, r.L)
	case how == byMessage:
		give(PartO, r.o)
		give(PartL, r.L)
		give(PartBigO, r.O.of(k))
		give(PartBigG, r.G.floor(k))
	case what == arriving && r.Dialect == LogGOPSim:
		give(PartO, r.o)
		if r.G.integer >= r.O.integer {
			give(PartBigG, all)
		}
		give(PartBigO, all)
	case r.Dialect == LGS && (what == arriving || o.Kind == Recv):
		give(PartO, r.o)
		give(PartGap, r.g)
		give(PartBigO, r.O.of(k))
	case o.Kind == Send:
		give(PartO, r.o)
		give(PartBigO, all)
	}
	give(Waiting, all)
	return parts
}
