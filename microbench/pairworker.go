package microbench

import (
	"encoding/binary"
	"runtime"
	"slices"

	"github.com/loggp/loggp/impl/machine"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model/unit"
)

// pairWorker is a pair of ranks that do commands, as one of the two sees it. P1 has the scheduler and
// is the Worker; P2 gets each command from P1 as a message.
type pairWorker struct {
	*pair
	plan    Plan
	reading unit.Time // what it costs to read the clock
	dither  dither
	work    func(*mpi.Comm) unit.Time

	paper         [8 * CommandWords]byte
	out, in, lent []byte // for all sizes, so that they stay where they were: in the caches
}

// orders is the tag of commands and of what P2 tells of its processor.
const orders = 2

func (p *Plan) worker(x *pair, step unit.Time) *pairWorker {
	w := &pairWorker{pair: x, plan: *p, work: fixedWork}
	most := max(slices.Max(p.Sizes), steadyBytes)
	w.out, w.in, w.lent = touched(most), touched(most), touched(4*(most+mpi.BsendOverhead))
	w.reading, w.dither = calibrate(x.roots[0]), ditherOf(x.roots[0], step)
	return w
}

// touched returns a buffer of n bytes, all of which have been written to.
func touched(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// fixedWork returns how long a fixed piece of work takes; 0 where time is not that of this machine.
func fixedWork(c *mpi.Comm) unit.Time {
	begin := c.Wtime()
	runtime.KeepAlive(machine.PaceWork())
	return c.Wtime() - begin
}

func (w *pairWorker) Now() unit.Time { return w.roots[0].Wtime() }

// Do does a command on both ranks. It is called at P1.
func (w *pairWorker) Do(c Command) (Result, error) {
	w.send(c)
	r := w.do(c)
	mpi.Recv(w.roots[0], w.paper[:8], 1, orders)
	if work := getTime(w.paper[:]); r.Work[0] > 0 && work > 0 {
		r.Work = append(r.Work, work)
	} else {
		r.Work = nil
	}
	return r, nil
}

// end lets P2 end. Its command has a stage that there is not.
func (w *pairWorker) end() { w.send(Command{Stage: len(stages)}) }

func (w *pairWorker) send(c Command) {
	raw := w.paper[:0]
	for _, n := range c.Words() {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(n))
	}
	mpi.Send(w.roots[0], raw, 1, orders)
}

// follow does what P1 sends until it is to end.
func (w *pairWorker) follow() {
	for {
		mpi.Recv(w.roots[0], w.paper[:], 0, orders)
		var words [CommandWords]int64
		for i := range words {
			words[i] = int64(binary.LittleEndian.Uint64(w.paper[8*i:]))
		}
		c := commandOf(words)
		if c.Stage == len(stages) {
			return
		}
		r := w.do(c)
		putTime(w.paper[:], r.Work[0])
		mpi.Send(w.roots[0], w.paper[:8], 0, orders)
	}
}

// do does a command on this rank. The result has this rank's work; P1's has all times.
func (w *pairWorker) do(c Command) Result {
	before := w.work(w.roots[0])
	w.reading = min(w.reading, readings(w.roots[0])) // the launch may have begun in a slow moment
	cell := Cell{modeNamed(c.Mode), c.Bytes}
	w.plan.Delta, w.plan.Warmup = c.Wait, 0
	b := w.pair.bench(&w.plan, cell)
	b.reading, b.dither, b.batch = w.reading, &w.dither, c.Batch
	if c.Bytes > len(w.out) {
		w.out, w.in, w.lent = touched(c.Bytes), touched(c.Bytes), touched(4*(c.Bytes+mpi.BsendOverhead))
	}
	b.out, b.in = w.out[:c.Bytes], w.in[:c.Bytes]
	b.attach(w.lent)
	defer b.detach()
	begin := w.Now()
	if c.Rounds == 0 {
		// No wait: the first rounds take much longer than those that follow, and a wait that begins with them lasts.
		w.plan.Warmup, w.plan.Delta = c.Warm, 1
		b.root, b.comm = 0, w.roots[0]
		pingPong(b, 0)
		return Result{Round: b.round, Took: w.Now() - begin, Work: []unit.Time{before}}
	}
	s, warm := stages[c.Stage], c.Warm
	for i, root := range w.roots {
		b.root, b.comm = i, root
		b.idle = true
		s.run(b, warm)
		warm = c.Rewarm()
		b.idle = false
		s.run(b, c.Rounds)
	}
	r := Result{Took: w.Now() - begin, Work: []unit.Time{max(before, w.work(w.roots[0]))}}
	b.gather()
	for _, t := range b.timers {
		r.Times = append(r.Times, t.times[0], t.times[1])
	}
	return r
}

// modeNumber returns the index of a mode among all, and modeNamed the mode at an index.
func modeNumber(name string) int {
	i := slices.IndexFunc(modes, func(m mode) bool { return m.Name == name })
	if i < 0 {
		return len(modes)
	}
	return i
}

func modeNamed(i int) string {
	if i < len(modes) {
		return modes[i].Name
	}
	return Message
}
