package microbench

import (
	"encoding/binary"
	"runtime"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/model/unit"
)

// pairWorker is a pair of ranks that do commands, as one of the two sees it. P1 has the scheduler
// and is the Worker; P2 gets each command from P1 as a message.
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

// touched returns a buffer of n bytes whose pages have all been written to.
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
	runtime.KeepAlive(host.RunPaceWork())
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
		// No wait: the first rounds take much longer than those that follow, and a wait that begins
		// with them lasts.
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

// pairsWorker is one rank of a job in which one pair of ranks at a time executes commands. Rank 0
// has the scheduler and is the Worker. It tells two ranks that they are a pair; the others sleep.
type pairsWorker struct {
	*Experiment
	c  *mpi.Comm
	at [2]int      // the pair at hand; the same twice: none
	me *pairWorker // of this rank, if it is of the pair
}

// Tags of what rank 0 tells ranks beside commands, and of results.
const (
	turns = orders + 1 + iota
	results
)

// idle is how long a rank sleeps before it looks whether it is its turn.
const idle = 200 * unit.Microsecond

func (w *pairsWorker) Now() unit.Time { return w.c.Wtime() }

// Do lets the pair of a command do it. It is called at rank 0.
func (w *pairsWorker) Do(c Command) (Result, error) {
	w.turn(c.Pair)
	if w.me != nil { // as P1, which is the lower rank
		return w.me.Do(c)
	}
	words := c.Words()
	mpi.Send(w.c, words[:], c.Pair[0], orders)
	raw := make([]int64, w.c.Probe(c.Pair[0], results).Bytes/8)
	mpi.Recv(w.c, raw, c.Pair[0], results)
	return resultOf(raw), nil
}

// turn makes a pair the current one.
func (w *pairsWorker) turn(pair [2]int) {
	if pair == w.at {
		return
	}
	w.leave()
	for _, r := range pair {
		if r != root {
			mpi.Send(w.c, []int64{int64(pair[0]), int64(pair[1])}, r, turns)
		}
	}
	w.at, w.me = pair, w.join(pair)
}

// join returns the worker of this rank, or nil if it is not of the pair.
func (w *pairsWorker) join(pair [2]int) *pairWorker {
	if !slices.Contains(pair[:], w.c.Rank()) {
		return nil
	}
	return w.worker(pairOf(w.c, pair[0], pair[1], w.c.CreateGroup), w.Step)
}

// leave ends the current pair.
func (w *pairsWorker) leave() {
	if w.at[0] == w.at[1] {
		return
	}
	if w.me != nil {
		w.me.end()
	} else {
		end := Command{Stage: len(stages)}.Words()
		mpi.Send(w.c, end[:], w.at[0], orders)
	}
	w.at, w.me = [2]int{}, nil
}

// end lets all ranks end.
func (w *pairsWorker) end() {
	w.leave()
	for r := 1; r < w.c.Size(); r++ {
		mpi.Send(w.c, []int64{0, 0}, r, turns)
	}
}

// follow does what rank 0 says until it is to end.
func (w *pairsWorker) follow() {
	for {
		for _, there := w.c.Iprobe(root, turns); !there; _, there = w.c.Iprobe(root, turns) {
			w.c.Compute(idle)
		}
		var pair [2]int64
		mpi.Recv(w.c, pair[:], root, turns)
		if pair[0] == pair[1] {
			return
		}
		if me := w.join([2]int{int(pair[0]), int(pair[1])}); me.p1 {
			w.obey(me)
		} else {
			me.follow()
		}
	}
}

// obey does the commands of rank 0 as P1 of a pair.
func (w *pairsWorker) obey(me *pairWorker) {
	for {
		var words [CommandWords]int64
		mpi.Recv(w.c, words[:], root, orders)
		c := commandOf(words)
		if c.Stage == len(stages) {
			me.end()
			return
		}
		r, _ := me.Do(c)
		mpi.Send(w.c, r.words(), root, results)
	}
}

// words returns a result as numbers.
func (r Result) words() []int64 {
	words := []int64{int64(r.Round), int64(r.Took)}
	for _, column := range append([][]unit.Time{r.Work}, r.Times...) {
		words = append(words, int64(len(column)))
		for _, t := range column {
			words = append(words, int64(t))
		}
	}
	return words
}

func resultOf(words []int64) Result {
	r := Result{Round: unit.Time(words[0]), Took: unit.Time(words[1])}
	var columns [][]unit.Time
	for words = words[2:]; len(words) > 0; words = words[1+len(columns[len(columns)-1]):] {
		column := make([]unit.Time, words[0])
		for i := range column {
			column[i] = unit.Time(words[1+i])
		}
		columns = append(columns, column)
	}
	r.Work, r.Times = columns[0], columns[1:]
	return r
}
