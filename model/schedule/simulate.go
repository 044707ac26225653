package schedule

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/loggp/loggp/model/unit"
)

// Dialect is a set of rules by which a schedule takes time.
type Dialect uint8

// The dialects. docs/dialects.md compares them.
const (
	LogGP     Dialect = iota // the rules of this project, see loggp.go
	LogGOPSim                // LogGOPSim at commit 76451de, see loggopsim.go
	LGS                      // the LogGOPSim of ATLAHS at commit 8837294, see lgs.go
)

// Dialects are the names of all dialects.
var Dialects = []string{"loggp", "loggopsim", "lgs"}

func (d Dialect) String() string { return Dialects[d] }

// Options are the options of a simulation.
type Options struct {
	Params      Params
	Dialect     Dialect
	Noise       *Noise // for dialect LogGP only; nil: none
	RecordsPath bool   // record what CriticalPath and Recording need, about 16 bytes an event
}

// Result is the result of a simulation.
type Result struct {
	FinishTimes []unit.Time // by rank: when its last CPU becomes free
	LastFinish  unit.Time   // the latest of these
	LastRank    int         // the first rank that finishes then
	Events      int         // operations and messages, as LogGOPSim counts them
	Messages    int
	Warnings    []Warning

	run *run
}

// Warning is a doubt about the schedule or its result.
type Warning struct {
	Kind string // size: operations of a pair have different sizes; unfinished and unmatched: some never end; assertion: ATLAHS fails
	Text string
}

// Simulate computes when each rank finishes. All ranks begin at time 0. If operations can never end
// the error is a *BlockedError, except in dialect LGS, which does not notice: there it is a
// warning.
func (s *Schedule) Simulate(o Options) (*Result, error) {
	r, err := s.newRun(o)
	if err != nil {
		return nil, err
	}
	r.runEvents()
	return r.summarize()
}

func (r *run) runEvents() {
	switch r.Dialect {
	case LogGP:
		r.simulateLogGP()
	case LogGOPSim:
		r.simulateLogGOPSim()
	case LGS:
		r.simulateLGS()
	}
}

// Units of time in a run: picoseconds in dialect LogGP, nanoseconds in the others.
func (o Options) unitPicoseconds() uint64 {
	if o.Dialect == LogGP {
		return 1
	}
	return uint64(unit.Nanosecond)
}

// run is the state of a simulation. Times count units of Options.scale. Slices of CPUs have an
// element for each CPU of each rank, those of interfaces one for each interface.
type run struct {
	*Schedule
	Options
	eventList
	serial     uint32
	begunOps   int // operations that have become ready
	pendingOps int // operations that have not ended

	stateOfOp []uint32 // by operation: for how many others it waits; then what match, or a protocol, makes of it
	readyAt   []uint64 // by operation, not in LogGOPSim: when what it waited for has ended; then what a protocol makes of it
	matcher   matcher

	cpuFree         []uint64 // until then each CPU is occupied
	outFree, inFree []uint64 // and each interface, by messages that it sends and that it receives
	lateOps         []uint32 // ready, and not yet among the events
	lastTouchedRank uint32   // in dialect LGS: the rank that an event has touched last
	readyBits       []uint64 // bits by operation: it is ready or was; nil: not kept, as no operation ends twice

	waitBlocks []int32     // of waiting, by rank; −1: none
	waitQueues []waitQueue // a block for each rank in which something waited
	queuesAll  bool        // no events are kept out of the queue

	cpuHeld      []bool               // in dialect LogGP with several CPUs: one waits for an interface
	heldRequests map[int][]cpuRequest // and what is asked of it meanwhile

	pathLog           *pathLog // nil: nothing is kept
	messages          int
	sizeMismatches    int    // pairs of different sizes
	firstMismatch     uint32 // the first receive of such a pair
	earlyReceives     int    // in dialect LGS: receives that have taken messages which arrive later
	firstEarlyReceive uint32 // the first of them

	latency, overhead, gap, eagerLimit    uint64
	extraGapPerByte, extraOverheadPerByte uint64 // what G and O are more; in a run for a derivative
	unitsPerByteCost                      uint64 // how many of the unit of time a unit of G and O has: 1; more in such a run
	unitsPerNanosecond                    uint64 // and how many a nanosecond of a calc has
	gapPerByte, overheadPerByte           byteCost
}

// maxResources bounds the memory for CPUs and interfaces: 12 bytes each.
const maxResources = 1 << 30

// newRun makes a run in which nothing has happened.
func (s *Schedule) newRun(o Options) (*run, error) {
	if err := o.Params.check(); err != nil {
		return nil, err
	}
	if o.Noise != nil && o.Dialect != LogGP {
		return nil, fmt.Errorf("noise: dialect %v of this program has none; use dialect loggp", o.Dialect)
	}
	r := &run{Schedule: s, Options: o, pendingOps: len(s.ops), eagerLimit: o.Params.EagerLimit, stateOfOp: make([]uint32, len(s.ops))}
	if err := r.setParameters(); err != nil {
		return nil, err
	}
	for _, d := range s.dependants {
		r.stateOfOp[d>>1]++
	}
	ranks := s.CountRanks()
	if n := ranks * (s.cpus + 2*s.nics); n > maxResources {
		return nil, fmt.Errorf("%d ranks with %d CPUs and %d interfaces each, as the largest indices say, are %d to simulate; at most %d", ranks, s.cpus, s.nics, n, maxResources)
	}
	r.cpuFree = make([]uint64, ranks*s.cpus)
	r.outFree = make([]uint64, ranks*s.nics)
	r.inFree = make([]uint64, ranks*s.nics)
	r.matcher.init(s, o.Dialect == LGS, r.stateOfOp)
	if o.RecordsPath {
		r.pathLog = &pathLog{entries: make([]pathEntry, 0, len(s.ops)+len(s.ops)/2+16), causes: make([]uint32, len(s.ops)), lastEntryOfCPU: make([]uint32, len(r.cpuFree)), lastEntryOfOutInterface: make([]uint32, len(r.outFree)), lastEntryOfInInterface: make([]uint32, len(r.inFree))}
	}
	return r, nil
}

// setParameters sets the parameters in the unit of the dialect, and checks that no time can
// overflow.
func (r *run) setParameters() (err error) {
	p := r.Params
	scale := r.unitPicoseconds()
	for _, x := range []struct {
		name string
		t    unit.Time
		to   *uint64
	}{{"L", p.L, &r.latency}, {"o", p.Overhead, &r.overhead}, {"g", p.Gap, &r.gap}} {
		if uint64(x.t)%scale != 0 {
			return fmt.Errorf("parameter %s is %v: dialect %v has whole nanoseconds; use dialect loggp", x.name, x.t, r.Dialect)
		}
		*x.to = uint64(x.t) / scale
	}
	r.gapPerByte, r.overheadPerByte = newByteCost(gapInUnits(p.GapPerByte, scale)), newByteCost(gapInUnits(p.OverheadPerByte, scale))
	if r.Dialect != LogGP && (!r.overheadPerByte.isInteger || r.Dialect == LogGOPSim && !r.gapPerByte.isInteger) {
		return fmt.Errorf("parameters G and O are %v and %v: dialect %v has whole nanoseconds a byte; use dialect loggp", p.GapPerByte, p.OverheadPerByte, r.Dialect)
	}
	r.unitsPerByteCost, r.unitsPerNanosecond = 1, 1000/scale
	return r.checkTimeBound()
}

// checkTimeBound checks that no time can overflow. If all operations one after the other could take
// longer than half of the longest time, it checks the operations of each rank, and lets events
// later than the longest time be an error. A CPU or an interface is then occupied until at most the
// longest time after the last event, and the sum of the two fits into 64 bits.
func (r *run) checkTimeBound() error {
	longest := math.MaxInt64 / r.unitPicoseconds()
	var sum uint64
	for i := range r.ops {
		if sum = addBounded(sum, r.longestDuration(&r.ops[i])); sum > longest/2 {
			break
		}
	}
	r.timeLimit = math.MaxUint64
	if sum <= longest/2 && r.Noise == nil {
		return nil
	}
	r.timeLimit = longest
	perRank := make([]uint64, r.CountRanks())
	for i := range r.ops {
		o := &r.ops[i]
		d := r.longestDuration(o)
		occupied := []uint32{o.rank}
		if o.Kind == Send && o.Peer != o.rank {
			occupied = append(occupied, o.Peer)
		}
		for _, rank := range occupied {
			if perRank[rank] = addBounded(perRank[rank], d); perRank[rank] > longest {
				return fmt.Errorf("%s: up to here the operations of rank %d, one after the other, take longer than %v, the longest time of a simulation", r.describeLocation(uint32(i)), rank, unit.Time(math.MaxInt64))
			}
		}
	}
	return nil
}

// longestDuration returns a bound of the time for which an operation occupies anything, or is under
// way.
func (r *run) longestDuration(o *Op) uint64 {
	if o.Kind == Calc {
		return multiplyBounded(o.Size, r.unitsPerNanosecond)
	}
	d := 6*(r.overhead+r.gap) + 3*r.latency
	if o.Size > maxSize {
		return math.MaxUint64
	}
	return addBounded(d, multiplyBounded(uint64(math.Ceil(r.gapPerByte.perByte+r.overheadPerByte.perByte)), 3*o.Size))
}

// addBounded returns a sum, or the largest number if it is larger.
func addBounded(x, y uint64) uint64 {
	sum, carry := bits.Add64(x, y, 0)
	return sum | -carry
}

// multiplyBounded returns a product, or the largest number if it is larger.
func multiplyBounded(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// byteCost is a cost per byte.
type byteCost struct {
	perByte   float64
	integer   uint64
	isInteger bool
}

func newByteCost(x float64) byteCost { return byteCost{x, uint64(x), x == math.Trunc(x)} }

// gapInUnits returns a gap in units of 1 or 1000 ps: the number nearest to its decimal digits, as
// ATLAHS reads them on its command line. A division would round a second time.
func gapInUnits(g unit.PerByte, scale uint64) float64 {
	if scale == 1 {
		return float64(g)
	}
	x, _ := strconv.ParseFloat(strconv.FormatFloat(float64(g), 'f', -1, 64)+"e-3", 64) // bounded by check
	return x
}

// roundedCost returns the cost of a number of bytes, to the nearest unit.
func (c byteCost) roundedCost(bytes uint64) uint64 {
	if c.isInteger {
		return c.integer * bytes
	}
	return uint64(math.RoundToEven(c.perByte * float64(bytes)))
}

// truncatedCost returns the cost of a number of bytes, cut to whole units.
func (c byteCost) truncatedCost(bytes uint64) uint64 {
	if c.isInteger {
		return c.integer * bytes
	}
	return uint64(c.perByte * float64(bytes))
}

// What happens to an operation, of event.opAndAction beside eight times the operation.
const (
	beginOpAction        = iota
	messageArrivesAction // of a send: its message, or the request of a rendezvous
	takeMessageAction    // of a receive: a CPU takes the message
	sendAnswerAction     // of a receive: a CPU takes the request and sends the answer
	answerArrivesAction  // of a send: the answer arrives
	sendDataAction       // of a send: a CPU takes the answer and sends the data
	dataArrivesAction    // of a send: the data arrives
	messageLeavesAction  // of a send or receive, in a path: its message could enter the network only now
)

// timeError is the error if a simulation takes too long for times.
func (r *run) timeError() error {
	late := func(op uint32, what string) error {
		return fmt.Errorf("%s: %s later than %v, the longest time of a simulation", r.describeLocation(op), what, unit.Time(math.MaxInt64))
	}
	if r.firstLate != nil {
		return late(r.firstLate.opAndAction>>3, "its time is")
	}
	for cpu, t := range r.cpuFree {
		if t <= r.timeLimit {
			continue
		}
		if r.pathLog != nil {
			return late(r.pathLog.entries[r.pathLog.lastEntryOfCPU[cpu]-1].opAndAction>>3, "it ends")
		}
		o := r.Options
		o.RecordsPath = true
		explained, err := r.newRun(o)
		if err != nil {
			return err
		}
		explained.runEvents()
		return explained.timeError()
	}
	return nil
}

// addEvent adds an event.
func (r *run) addEvent(at uint64, what uint32) {
	r.push(event{at, r.serial, what})
	r.serial++
}

// checkPairSizes notes whether the operations of a pair have the same size.
func (r *run) checkPairSizes(send, recv uint32) {
	if r.ops[send].Size != r.ops[recv].Size {
		if r.sizeMismatches == 0 {
			r.firstMismatch = recv
		}
		r.sizeMismatches++
	}
}

// summarize sums up.
func (r *run) summarize() (*Result, error) {
	if err := r.timeError(); err != nil {
		return nil, err
	}
	res := &Result{FinishTimes: make([]unit.Time, r.CountRanks()), Events: int(r.begunOps) + r.messages, Messages: r.messages, run: r}
	for i := range res.FinishTimes {
		for _, t := range r.cpuFree[i*r.cpus : (i+1)*r.cpus] {
			if t > math.MaxInt64/r.unitPicoseconds() {
				return nil, fmt.Errorf("rank %d: the finishing time in dialect %v is below 0 and wraps around: an overhead or gap is smaller than the O or G that an empty message saves", i, r.Dialect)
			}
			res.FinishTimes[i] = max(res.FinishTimes[i], unit.Time(t*r.unitPicoseconds()))
		}
		if res.FinishTimes[i] > res.LastFinish {
			res.LastFinish, res.LastRank = res.FinishTimes[i], i
		}
	}
	if r.sizeMismatches > 0 {
		more := ""
		if r.sizeMismatches > 1 {
			more = fmt.Sprintf(", and %d more pairs", r.sizeMismatches-1)
		}
		res.Warnings = append(res.Warnings, Warning{"size", fmt.Sprintf("%s receives a message of another size%s", r.describeLocation(r.firstMismatch), more)})
	}
	if r.earlyReceives > 0 {
		more := ""
		if r.earlyReceives > 1 {
			more = fmt.Sprintf(", and at %d more receives", r.earlyReceives-1)
		}
		res.Warnings = append(res.Warnings, Warning{"assertion", fmt.Sprintf("%s begins before its message arrives: ATLAHS prints no times, because an assertion fails here%s", r.describeLocation(r.firstEarlyReceive), more)})
	}
	if r.pendingOps == 0 && r.matcher.queuedOps == 0 {
		return res, nil
	}
	if r.Dialect == LogGOPSim && r.matcher.queuedOps == 0 {
		res.Warnings = append(res.Warnings, Warning{"unfinished", fmt.Sprintf("%d operations have not ended: a send of more than S bytes waits for ever if the receive that takes its message is of fewer", r.pendingOps)})
		return res, nil
	}
	b := r.blockedError()
	if r.Dialect == LGS {
		res.Warnings = append(res.Warnings, Warning{"unmatched", "the finishing times mean nothing: " + b.Error()})
		return res, nil
	}
	return nil, b
}
