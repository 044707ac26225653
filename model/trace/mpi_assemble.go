package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/workload"
)

// mpiAssembler makes a workload of the records of all ranks.
type mpiAssembler struct {
	communicatorResolver
	report               *Report
	anySource, noProcess int64 // the numbers of MPI_ANY_SOURCE and MPI_PROC_NULL
	programs             []mpiProgram
	tags                 map[[2]int64]uint32 // of the workload, by communicator and tag
}

// mpiProgram is what a rank does, before its receives are matched.
type mpiProgram struct {
	ops                   []workload.Op
	before                [][]uint32
	ids                   []uint64 // lines
	messages              []mpiMessage
	nextWaitsFor          []uint32 // operations for which the next one waits
	requests              map[int64]uint32
	blockCollectiveCounts map[*communicator]int64 // collective operations with blocks so far
}

// mpiMessage is a send or a receive.
type mpiMessage struct {
	op           uint32
	start        int64 // microseconds
	peer         int   // -1: any
	tag          int64 // -1: any
	communicator *communicator
	isMatched    bool

	inCollective bool // of a collective operation, which no receive with any tag takes
}

// newMPIAssembler returns an assembler of records. Open MPI and MPICH give names without a process
// other numbers; MPICH's communicators are numbers with 0x4 or 0x8 in their highest four bits.
func newMPIAssembler(files []rankFile, report *Report) *mpiAssembler {
	a := &mpiAssembler{report: report, anySource: -1, noProcess: -2, tags: map[[2]int64]uint32{}}
	for i := range files {
		a.ranks = append(a.ranks, mpiRank{name: files[i].name, calls: files[i].calls})
		report.Calls += len(files[i].calls)
	}
	for _, c := range a.ranks[0].calls {
		if form := callForms[c.name]; form.kind >= sendCall && form.kind != waitCall && form.kind != waitAllCall {
			x := callArguments{mpiCall: &c}
			if top := uint64(x.communicator(form.communicatorArgument).number) >> 28; top == 4 || top == 8 {
				a.anySource, a.noProcess = -2, -1
			}
			break
		}
	}
	return a
}

func (a *mpiAssembler) assemble() (*workload.Workload, error) {
	if err := a.resolveCalls(); err != nil {
		return nil, err
	}
	a.programs = make([]mpiProgram, len(a.ranks))
	for rank := range a.ranks {
		if err := a.addCalls(rank); err != nil {
			return nil, err
		}
	}
	a.matchReceives()
	w := &workload.Workload{}
	for i, c := range a.all {
		name := "MPI_COMM_WORLD"
		if i > 0 {
			name = fmt.Sprintf("communicator %d", i)
		}
		w.Groups = append(w.Groups, workload.Group{Name: name, Ranks: c.ranks})
	}
	peers := make([]int, len(a.ranks))
	for i := range peers {
		peers[i] = i
	}
	for rank := range a.ranks {
		r, err := a.buildRank(rank, peers)
		if err != nil {
			return nil, err
		}
		w.Ranks = append(w.Ranks, r)
	}
	a.copySizesToRoots(w)
	return w, nil
}

// addCalls makes operations of the calls of a rank. What passes between two calls is computing.
func (a *mpiAssembler) addCalls(rank int) error {
	r, p := &a.ranks[rank], &a.programs[rank]
	p.requests, p.blockCollectiveCounts = map[int64]uint32{}, map[*communicator]int64{}
	end := r.calls[0].start
	for i := range r.calls {
		c := &r.calls[i]
		p.addOperation(workload.Op{Kind: workload.Compute, Size: uint64(c.start-end) * 1000}, c, true)
		end = c.end
		x := callArguments{mpiCall: c}
		if err := a.addCall(rank, i, &x); err != nil || x.err != nil {
			return fmt.Errorf("%s:%d: %w", r.name, c.line, cmp.Or(x.err, err))
		}
	}
	if n := len(p.requests); n > 0 {
		a.report.OpenRequests += n
	}
	return nil
}

// addOperation adds an operation. If it blocks, what follows waits for it. Computing for no time is
// left out.
func (p *mpiProgram) addOperation(o workload.Op, c *mpiCall, blocks bool) uint32 {
	n := uint32(len(p.ops))
	if o.Kind == workload.Compute && o.Size == 0 {
		return n
	}
	p.ops, p.before, p.ids = append(p.ops, o), append(p.before, slices.Clone(p.nextWaitsFor)), append(p.ids, uint64(c.line))
	if blocks {
		p.nextWaitsFor = append(p.nextWaitsFor[:0], n)
	}
	return n
}

// addCall makes operations of a call.
func (a *mpiAssembler) addCall(rank, i int, x *callArguments) error {
	p, c := &a.programs[rank], x.mpiCall
	form, of := callForms[c.name], a.ranks[rank].communicatorOfCall[i]
	switch form.kind {
	case sendCall, recvCall:
		op, any, err := a.addMessage(rank, x, form.kind, of, x.number(3), x.number(4), x.bytes(form.countArgument, form.dataArgument), form.isBlocking)
		if err != nil {
			return err
		}
		if form.requestArgument > 0 && any {
			p.requests[x.number(form.requestArgument)] = op
		}
	case sendRecvCall:
		before := slices.Clone(p.nextWaitsFor)
		send, sends, wrong := a.addMessage(rank, x, sendCall, of, x.number(3), x.number(4), x.bytes(1, 2), false)
		p.nextWaitsFor = append(p.nextWaitsFor[:0], before...)
		recv, receives, err := a.addMessage(rank, x, recvCall, of, x.number(8), x.number(9), x.bytes(6, 7), false)
		if wrong != nil || err != nil {
			return cmp.Or(wrong, err)
		}
		if sends && receives {
			p.nextWaitsFor = append(p.nextWaitsFor[:0], send, recv)
		} else if sends {
			p.nextWaitsFor = append(p.nextWaitsFor[:0], send)
		} else if receives {
			p.nextWaitsFor = append(p.nextWaitsFor[:0], recv)
		}
	case waitCall:
		p.addWait(x.number(0), 1, 8)
	case waitAllCall:
		p.addWait(x.number(1), x.number(0), p.requestBytes())
	case collectiveCall:
		o := workload.Op{Kind: workload.Collective, Operation: form.operation, Peer: uint32(of.id)}
		if form.countArgument > 0 {
			o.Size = x.bytes(form.countArgument, form.dataArgument)
		}
		if form.byRanks > 0 {
			o.Size *= uint64(len(of.ranks))
		}
		if form.rootArgument > 0 {
			root := x.number(form.rootArgument)
			if x.err == nil && (root < 0 || root >= int64(len(of.ranks))) {
				return fmt.Errorf("%s: its root is rank %d of %d", c.name, root, len(of.ranks))
			}
			o.Root = uint32(max(root, 0))
		}
		p.addOperation(o, c, true)
	case blocksCall:
		return a.addBlocks(rank, x, of)
	}
	return nil
}

// firstBlocksTag is the tag of the messages of the first collective operation with blocks of a
// communicator.
const firstBlocksTag = 1 << 40

// addBlocks adds the messages of a collective operation whose blocks have a size each, all at once.
func (a *mpiAssembler) addBlocks(rank int, x *callArguments, of *communicator) error {
	p := &a.programs[rank]
	tag := firstBlocksTag + p.blockCollectiveCounts[of]
	p.blockCollectiveCounts[of]++
	before := slices.Clone(p.nextWaitsFor)
	var all []uint32
	for direction, kind := range []workload.Kind{workload.Recv, workload.Send} {
		list := strings.Split(x.text(2-direction), ",")
		if x.err == nil && len(list) != len(of.ranks) {
			return fmt.Errorf("%s: argument %d has %d numbers of bytes for %d ranks", x.name, 3-direction, len(list), len(of.ranks))
		}
		for i, text := range list {
			bytes, err := strconv.ParseUint(text, 10, 42)
			if err != nil && x.err == nil {
				return fmt.Errorf("%s: argument %d: %.40q is no number of bytes", x.name, 3-direction, text)
			}
			if bytes == 0 || x.err != nil {
				continue
			}
			p.nextWaitsFor = append(p.nextWaitsFor[:0], before...)
			m := mpiMessage{start: x.start, peer: of.ranks[i], tag: tag, communicator: of, inCollective: true}
			m.op = p.addOperation(workload.Op{Kind: kind, Size: bytes}, x.mpiCall, false)
			p.messages = append(p.messages, m)
			all = append(all, m.op)
		}
	}
	if p.nextWaitsFor = append(p.nextWaitsFor[:0], before...); len(all) > 0 {
		p.nextWaitsFor = append(p.nextWaitsFor[:0], all...)
	}
	return x.err
}

// addMessage adds a send or a receive, if its peer is a process.
func (a *mpiAssembler) addMessage(rank int, x *callArguments, kind callKind, of *communicator, peer, tag int64, bytes uint64, blocks bool) (op uint32, isMessage bool, err error) {
	if x.err != nil {
		return 0, false, x.err
	}
	isAny := kind == recvCall && peer == a.anySource
	switch {
	case peer == a.noProcess:
		return 0, false, nil
	case !isAny && (peer < 0 || peer >= int64(len(of.ranks))):
		return 0, false, fmt.Errorf("%s: its peer is rank %d of %d", x.name, peer, len(of.ranks))
	case tag < 0 && kind == sendCall:
		return 0, false, fmt.Errorf("%s: its tag is %d, and that of a send is not negative", x.name, tag)
	}
	m := mpiMessage{start: x.start, peer: -1, tag: max(tag, -1), communicator: of}
	if !isAny {
		m.peer = of.ranks[peer]
	}
	o := workload.Op{Kind: workload.Send, Size: bytes}
	if kind == recvCall {
		o.Kind = workload.Recv
	}
	p := &a.programs[rank]
	m.op = p.addOperation(o, x.mpiCall, blocks)
	p.messages = append(p.messages, m)
	return m.op, true, nil
}

// requestBytes returns the size of a request in the record's process: pointers of Open MPI have 8
// bytes, numbers of MPICH 4.
func (p *mpiProgram) requestBytes() int64 {
	for at := range p.requests {
		if at%8 != 0 {
			return 4
		}
	}
	return 8
}

// addWait makes what follows wait for the requests that are open in a list at an address.
func (p *mpiProgram) addWait(at, count, size int64) {
	for i := range count {
		if len(p.requests) == 0 {
			return
		}
		if op, open := p.requests[at+i*size]; open {
			if !slices.Contains(p.nextWaitsFor, op) {
				p.nextWaitsFor = append(p.nextWaitsFor, op)
			}
			delete(p.requests, at+i*size)
		}
	}
}

// arrivedSend is a send to a rank.
type arrivedSend struct {
	*mpiMessage
	from  int
	bytes uint64
}

// matchReceives finds the send of each receive, and gives the receive its bytes, as its buffer may
// be longer. Receives of a rank take, in order, the first send that fits, by the time at which it
// was recorded. Of receives from any source or with any tag this says what a simulation could not
// know.
func (a *mpiAssembler) matchReceives() {
	to := make([][]arrivedSend, len(a.ranks))
	for rank := range a.programs {
		p := &a.programs[rank]
		for i := range p.messages {
			if m := &p.messages[i]; p.ops[m.op].Kind == workload.Send {
				to[m.peer] = append(to[m.peer], arrivedSend{m, rank, p.ops[m.op].Size})
			}
		}
	}
	for rank := range a.programs {
		slices.SortStableFunc(to[rank], func(x, y arrivedSend) int { return cmp.Compare(x.start, y.start) })
		a.matchReceivesOf(rank, to[rank])
	}
}

func (a *mpiAssembler) matchReceivesOf(rank int, sends []arrivedSend) {
	type way struct {
		of   *communicator
		from int
		tag  int64
	}
	ways := map[way][]int{} // sends that were not taken by a receive of their source and tag
	for i, s := range sends {
		w := way{s.communicator, s.from, s.tag}
		ways[w] = append(ways[w], i)
	}
	first := 0 // send that was not taken
	p := &a.programs[rank]
	for i := range p.messages {
		m := &p.messages[i]
		if p.ops[m.op].Kind != workload.Recv {
			continue
		}
		k := -1
		if m.peer >= 0 && m.tag >= 0 {
			w := way{m.communicator, m.peer, m.tag}
			for k < 0 && len(ways[w]) > 0 {
				if !sends[ways[w][0]].isMatched {
					k = ways[w][0]
				}
				ways[w] = ways[w][1:]
			}
		} else {
			for first < len(sends) && sends[first].isMatched {
				first++
			}
			for j := first; j < len(sends) && k < 0; j++ {
				if s := sends[j]; !s.isMatched && !s.inCollective && s.communicator == m.communicator && (m.peer < 0 || s.from == m.peer) && (m.tag < 0 || s.tag == m.tag) {
					k = j
				}
			}
			if k >= 0 {
				a.report.MatchedByTime++
				m.peer, m.tag = sends[k].from, sends[k].tag
			}
		}
		if k >= 0 { // the check of the workload says what is missing
			sends[k].isMatched = true
			p.ops[m.op].Size = min(p.ops[m.op].Size, sends[k].bytes)
		}
	}
}

// buildRank returns a rank with its operations.
func (a *mpiAssembler) buildRank(rank int, peers []int) (workload.Rank, error) {
	p := &a.programs[rank]
	for _, m := range p.messages {
		if m.peer < 0 || m.tag < 0 {
			return workload.Rank{}, fmt.Errorf("%s:%d: nothing was sent that this receive could take", a.ranks[rank].name, p.ids[m.op])
		}
		key := [2]int64{int64(m.communicator.id), m.tag}
		tag, known := a.tags[key]
		if !known {
			tag = uint32(len(a.tags))
			a.tags[key] = tag
		}
		p.ops[m.op].Peer, p.ops[m.op].Tag = uint32(m.peer), tag
	}
	program := workload.NewProgram(a.ranks[rank].name)
	program.IDName = "line"
	var groups []int
	used := map[uint32]uint32{} // groups of the rank, by their number
	for i, o := range p.ops {
		if o.Kind == workload.Collective {
			n, known := used[o.Peer]
			if !known {
				n = uint32(len(groups))
				used[o.Peer], groups = n, append(groups, int(o.Peer))
			}
			o.Peer = n
		}
		program.AddOp(o, p.before[i]...)
		program.SetID(p.ids[i])
	}
	return workload.Rank{Program: program, Groups: groups, Peers: peers}, nil
}

// copySizesToRoots gives the roots of gather and scatter the sizes of other members: a root may
// have its own data in place, and then its arguments say nothing.
func (a *mpiAssembler) copySizesToRoots(w *workload.Workload) {
	type instance struct {
		group  int
		number int
	}
	sizes := map[instance]uint64{}
	for _, roots := range []bool{false, true} {
		for rank, r := range w.Ranks {
			counts := map[int]int{}
			for i, o := range r.Program.Ops() {
				if o.Kind != workload.Collective {
					continue
				}
				g := r.Groups[o.Peer]
				key := instance{g, counts[g]}
				counts[g]++
				isRoot := w.Groups[g].Ranks[o.Root] == rank
				if o.Operation != collective.Gather && o.Operation != collective.Scatter || isRoot != roots {
					continue
				}
				if !roots {
					sizes[key] = o.Size
				} else if size, known := sizes[key]; known {
					r.Program.Ops()[i].Size = size
				}
			}
		}
	}
}
