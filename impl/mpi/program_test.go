package mpi_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model"
)

// Random programs, that end and whose results are known.
//
// A program begins as a list of messages. Each rank sends and receives those of its own in the order of the list, so nobody
// waits in a circle however little is buffered: the first message of the list that is not through has both its ranks at
// it. Then what is not blocking is moved: posted earlier, waited for later, neither of which can make a circle. Receives get
// wildcards. A change is kept if by MPI's rules each receive still gets its own message.
//
// Where a receive may be from any source, who comes first is open. Those have a communicator of their own, and between barriers each
// rank posts them before the first message that is meant for them, or takes in all at the end.

// message is one message of a program.
type message struct {
	comm, tag, size int
	src, dst        int // ranks of the job
	mode            model.Mode
	seed            int  // of its text
	wild            bool // received from any source with any tag
}

// step is what a rank does at some point.
type step struct {
	do     deed
	m      *message // what it is about
	anyTag bool     // of a receive
	how    int      // random, for those that can be done in several ways
	fixed  bool     // may not be moved
}

type deed uint8

const (
	send    deed = iota // blocking
	start               // a send
	receive             // blocking
	post                // a receive
	wait                // for what was started or posted
	compute             // how µs
	look                // for a message that nobody sends: progress
	gather              // receive from any source, after a probe
	meet                // barrier
)

var deedNames = [...]string{"send", "start", "receive", "post", "wait", "compute", "look", "gather", "meet"}

func (s step) String() string {
	if s.m == nil {
		return deedNames[s.do]
	}
	return fmt.Sprintf("%s(%+v any tag %v)", deedNames[s.do], *s.m, s.anyTag)
}

// written is a program: the steps of each rank.
type written struct {
	ranks [][]step
	turn  []int // the ranks of communicator 1, in order
}

// anywhere is the communicator of messages from any source.
const anywhere = 2

// write makes up a program.
func write(r *rand.Rand) *written {
	n := 2 + r.IntN(7)
	p := &written{ranks: make([][]step, n), turn: r.Perm(n)}
	seed := 0
	for range 1 + r.IntN(3) {
		first := make([]int, n)
		for i := range p.ranks {
			first[i] = len(p.ranks[i])
		}
		p.phase(r, &seed)
		for i := range p.ranks {
			p.vary(r, i, first[i])
		}
	}
	for i := range p.ranks {
		p.spread(r, i)
	}
	return p
}

// phase adds some messages and a barrier.
func (p *written) phase(r *rand.Rand, seed *int) {
	n := len(p.ranks)
	late := make([]bool, n) // takes in what is from any source at the end
	for i := range late {
		late[i] = r.IntN(2) == 0
	}
	ends := make([][]step, n)
	add := func(rank int, s step) { s.how = r.Int(); p.ranks[rank] = append(p.ranks[rank], s) }
	// later adds a step now, and its end now or at some time.
	later := func(rank int, s step) {
		add(rank, s)
		w := step{do: wait, m: s.m, how: r.Int()}
		if r.IntN(3) == 0 {
			add(rank, w)
		} else {
			ends[rank] = append(ends[rank], w)
		}
	}
	first := make([]int, n)
	for i := range first {
		first[i] = len(p.ranks[i])
	}
	var early [8][]step
	for range 3 + r.IntN(25) {
		*seed++
		m := &message{comm: r.IntN(3), tag: r.IntN(3), src: r.IntN(n), dst: r.IntN(n), mode: model.Mode(r.IntN(4)), seed: *seed}
		m.size = []func() int{func() int { return 0 }, func() int { return r.IntN(9) }, func() int { return r.IntN(600) }, func() int { return r.IntN(5000) },
			func() int { return r.IntN(5000) }, func() int { return r.IntN(20000) }}[r.IntN(6)]()
		switch {
		case m.comm == anywhere:
			m.wild = true
			if m.mode == model.Ready {
				m.mode = model.Standard
			}
			if late[m.dst] {
				add(m.src, step{do: start, m: m})
				ends[m.src] = append(ends[m.src], step{do: wait, m: m, how: r.Int()})
				ends[m.dst] = slices.Insert(ends[m.dst], 0, step{do: gather, m: m})
				continue
			}
			early[m.dst] = append(early[m.dst], step{do: post, m: m, fixed: true})
			ends[m.dst] = append(ends[m.dst], step{do: wait, m: m, how: r.Int()})
			if r.IntN(2) == 0 {
				add(m.src, step{do: send, m: m})
			} else {
				later(m.src, step{do: start, m: m})
			}
			continue
		case m.mode == model.Ready && m.src == m.dst:
			add(m.dst, step{do: post, m: m, fixed: true})
			add(m.src, step{do: send, m: m, fixed: true})
			ends[m.dst] = append(ends[m.dst], step{do: wait, m: m, how: r.Int()})
			continue
		case m.mode == model.Ready: // the receiver posts, and says so
			*seed++
			ready := &message{tag: 5, src: m.dst, dst: m.src, mode: model.Standard, seed: *seed}
			add(m.dst, step{do: post, m: m, fixed: true})
			add(m.dst, step{do: send, m: ready, fixed: true})
			add(m.src, step{do: receive, m: ready, fixed: true})
			if r.IntN(2) == 0 {
				add(m.src, step{do: send, m: m, fixed: true})
			} else {
				add(m.src, step{do: start, m: m, fixed: true})
				ends[m.src] = append(ends[m.src], step{do: wait, m: m, how: r.Int()})
			}
			ends[m.dst] = append(ends[m.dst], step{do: wait, m: m, how: r.Int()})
			continue
		case m.src == m.dst: // a rank that waits for itself waits for ever
			add(m.dst, step{do: post, m: m})
			ends[m.dst] = append(ends[m.dst], step{do: wait, m: m, how: r.Int()})
			if r.IntN(2) == 0 {
				add(m.src, step{do: send, m: m, fixed: true})
			} else {
				later(m.src, step{do: start, m: m, fixed: true})
			}
			continue
		}
		if r.IntN(2) == 0 {
			add(m.src, step{do: send, m: m})
		} else {
			later(m.src, step{do: start, m: m})
		}
		if r.IntN(2) == 0 {
			add(m.dst, step{do: receive, m: m})
		} else {
			later(m.dst, step{do: post, m: m})
		}
	}
	for i := range p.ranks {
		p.ranks[i] = slices.Insert(p.ranks[i], first[i], early[i]...)
		// What is gathered comes before any wait.
		slices.SortStableFunc(ends[i], func(a, b step) int { return int(b.do) - int(a.do) })
		gathers := 0
		for gathers < len(ends[i]) && ends[i][gathers].do == gather {
			gathers++
		}
		rest := ends[i][gathers:]
		r.Shuffle(len(rest), func(a, b int) { rest[a], rest[b] = rest[b], rest[a] })
		p.ranks[i] = append(append(p.ranks[i], ends[i]...), step{do: meet, fixed: true})
	}
}

// vary moves steps of a rank and puts wildcards into its receives, from a place on.
func (p *written) vary(r *rand.Rand, rank, from int) {
	for range 2 * (len(p.ranks[rank]) - from) {
		old := slices.Clone(p.ranks[rank])
		now := p.ranks[rank]
		i := from + r.IntN(len(now)-from)
		s := now[i]
		switch {
		case (s.do == post || s.do == receive) && !s.m.wild && r.IntN(2) == 0:
			now[i].anyTag = true
		case (s.do == post || s.do == start) && !s.fixed && i > from:
			to := from + r.IntN(i-from)
			now = slices.Insert(slices.Delete(now, i, i+1), to, s)
		case s.do == wait && i+1 < len(now):
			to := i
			for to+1 < len(now) && now[to+1].do != meet && now[to+1].do != gather && r.IntN(4) > 0 {
				to++
			}
			now = slices.Insert(slices.Delete(now, i, i+1), to, s)
		}
		p.ranks[rank] = now
		if !p.fair() {
			p.ranks[rank] = old
		}
	}
}

// spread lets a rank compute and look in between.
func (p *written) spread(r *rand.Rand, rank int) {
	var now []step
	for _, s := range p.ranks[rank] {
		switch r.IntN(6) {
		case 0:
			now = append(now, step{do: compute, how: 1 + r.IntN(30)})
		case 1:
			now = append(now, step{do: look})
		}
		now = append(now, s)
	}
	p.ranks[rank] = now
}

// fair says whether each receive with a source gets its own message. These are MPI's rules: of a communicator and a pair of ranks, messages
// are taken in the order in which they were sent and receives in the order in which they were posted, as far as tags allow. As
// all messages of a pair come in order, it does not matter when they come.
func (p *written) fair() bool {
	type way struct{ comm, src, dst int }
	sent := map[way][]*message{}
	for _, steps := range p.ranks {
		for _, s := range steps {
			if (s.do == send || s.do == start) && !s.m.wild {
				w := way{s.m.comm, s.m.src, s.m.dst}
				sent[w] = append(sent[w], s.m)
			}
		}
	}
	for _, steps := range p.ranks {
		for _, s := range steps {
			if (s.do != receive && s.do != post) || s.m.wild {
				continue
			}
			w := way{s.m.comm, s.m.src, s.m.dst}
			i := slices.IndexFunc(sent[w], func(m *message) bool { return s.anyTag || m.tag == s.m.tag })
			if i < 0 || sent[w][i] != s.m {
				return false
			}
			sent[w] = slices.Delete(sent[w], i, i+1)
		}
	}
	return true
}

// runner is a rank that runs a program.
type runner struct {
	comms [3]*mpi.Comm
	turn  []int
	open  []*running
	phase int // how many barriers have been
}

// running is a send or receive under way.
type running struct {
	step
	request mpi.Request
	buf     []byte
	status  mpi.Status
}

// run runs the steps of a rank.
func (p *written) run(c *mpi.Comm) error {
	x := &runner{comms: [3]*mpi.Comm{c, c.Create(c.Group().Include(p.turn)), nil}, turn: p.turn}
	all := make([]int, c.Size())
	for i := range all {
		all[i] = i
	}
	x.comms[anywhere] = c.Create(c.Group().Include(all))
	buffer := 0
	for _, s := range p.ranks[c.Rank()] {
		if (s.do == send || s.do == start) && s.m.mode == model.Buffered {
			buffer += s.m.size + mpi.BsendOverhead
		}
	}
	c.AttachBuffer(make([]byte, buffer))
	for i, s := range p.ranks[c.Rank()] {
		if err := x.do(p, s); err != nil {
			return fmt.Errorf("rank %d, step %d, %v: %w", c.Rank(), i, s, err)
		}
	}
	c.DetachBuffer()
	c.Barrier()
	for i, c := range x.comms {
		if st, ok := c.Iprobe(mpi.AnySource, mpi.AnyTag); ok {
			return fmt.Errorf("rank %d: a message is left in communicator %d: %+v", x.comms[0].Rank(), i, st)
		}
	}
	return nil
}

// rank returns the rank in a communicator of a rank of the job.
func (x *runner) rank(comm, rank int) int {
	if comm == 1 {
		return slices.Index(x.turn, rank)
	}
	return rank
}

func (x *runner) do(p *written, s step) error {
	me := x.comms[0]
	switch s.do {
	case compute:
		me.Compute(us * 1)
		for range s.how / 10 {
			me.Compute(us * 20)
		}
		return nil
	case look:
		me.Iprobe(0, 77)
		return nil
	case meet:
		err := x.wild(p)
		me.Barrier()
		return err
	}
	m := s.m
	c := x.comms[m.comm]
	src, dst := x.rank(m.comm, m.src), x.rank(m.comm, m.dst)
	tag := m.tag
	if s.anyTag {
		tag = mpi.AnyTag
	}
	want := mpi.Status{Source: src, Tag: m.tag, Bytes: m.size}
	switch s.do {
	case send:
		b := text(m.size, m.seed)
		[...]func(mpi.Buffer, int, int){c.Send, c.Ssend, c.Rsend, c.Bsend}[m.mode](mpi.Of(b), dst, m.tag)
		clear(b)
	case start:
		b := text(m.size, m.seed)
		r := [...]func(mpi.Buffer, int, int) mpi.Request{c.Isend, c.Issend, c.Irsend, c.Ibsend}[m.mode](mpi.Of(b), dst, m.tag)
		x.open = append(x.open, &running{step: s, request: r, buf: b})
	case receive:
		switch s.how % 4 {
		case 0:
			if st := c.Probe(src, tag); st != want {
				return fmt.Errorf("Probe: %+v, want %+v", st, want)
			}
		case 1:
			for {
				st, ok := c.Iprobe(src, tag)
				if ok && st != want {
					return fmt.Errorf("Iprobe: %+v, want %+v", st, want)
				}
				if ok {
					break
				}
			}
		}
		b := make([]byte, m.size+s.how%3)
		return equal("Recv", mpi.Recv(c, b, src, tag), b, want, m.seed)
	case post:
		r := &running{step: s, buf: make([]byte, m.size+s.how%3)}
		if m.wild {
			r.buf = make([]byte, 20000)
			src, tag = mpi.AnySource, mpi.AnyTag
		}
		r.request = mpi.Irecv(c, r.buf, src, tag)
		x.open = append(x.open, r)
	case gather:
		st := c.Probe(mpi.AnySource, mpi.AnyTag)
		r := &running{step: s, buf: make([]byte, st.Bytes)}
		if got := mpi.Recv(c, r.buf, st.Source, st.Tag); got != st {
			return fmt.Errorf("Recv: %+v after Probe: %+v", got, st)
		}
		r.status = st
		x.open = append(x.open, r)
	case wait:
		return x.wait(s)
	}
	return nil
}

// wait waits for a message in one of several ways. Others may end as well.
func (x *runner) wait(s step) error {
	at := slices.IndexFunc(x.open, func(r *running) bool { return r.m == s.m && !r.ended() })
	if at < 0 {
		return nil // ended with another
	}
	r := x.open[at]
	for !r.ended() {
		reqs := make([]mpi.Request, len(x.open))
		for i := range reqs {
			reqs[i] = x.open[i].request
		}
		index, sts := make([]int, len(reqs)), make([]mpi.Status, len(reqs))
		n := 1
		switch s.how % 6 {
		case 0:
			index[0], sts[0] = at, r.request.Wait()
		case 1:
			st, ok := r.request.Test()
			if !ok {
				n = 0
			}
			index[0], sts[0] = at, st
		case 2:
			index[0], sts[0] = mpi.WaitAny(reqs)
		case 3:
			n = mpi.WaitSome(reqs, index, sts)
		case 4:
			if n = 0; mpi.TestAll(reqs[at:at+1], sts) {
				n, index[0] = 1, at
			}
		case 5:
			n = mpi.TestSome(reqs, index, sts)
		}
		for i := range n {
			if err := x.end(x.open[index[i]], sts[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *running) ended() bool { return r.request.Null() }

// end notes the end of an operation, and compares what was received if that is known.
func (x *runner) end(r *running, st mpi.Status) error {
	r.request, r.status = mpi.Request{}, st
	if r.do == start {
		clear(r.buf)
		return nil
	}
	if r.m.wild {
		return nil
	}
	return equal(fmt.Sprint("receive of ", *r.m), st, r.buf, mpi.Status{Source: x.rank(r.m.comm, r.m.src), Tag: r.m.tag, Bytes: r.m.size}, r.m.seed)
}

// wild says whether what came from any source in a phase can be: from each source the messages that were sent, in order. It ends the phase.
func (x *runner) wild(p *written) error {
	me := x.comms[0].Rank()
	var sources [8][]*message
	for src, steps := range p.ranks {
		phase := 0
		for _, s := range steps {
			switch {
			case s.do == meet:
				phase++
			case (s.do == send || s.do == start) && s.m.wild && s.m.dst == me && phase == x.phase:
				sources[src] = append(sources[src], s.m)
			}
		}
	}
	for _, r := range x.open {
		if !r.m.wild || r.do == start {
			continue
		}
		st := r.status
		if st.Source < 0 || len(sources[st.Source]) == 0 {
			return fmt.Errorf("from any source: %+v, which was not sent", st)
		}
		m := sources[st.Source][0]
		sources[st.Source] = sources[st.Source][1:]
		if err := equal("from any source", st, r.buf, mpi.Status{Source: m.src, Tag: m.tag, Bytes: m.size}, m.seed); err != nil {
			return err
		}
	}
	for _, r := range x.open {
		if !r.ended() {
			return fmt.Errorf("not waited for: %v", r.step)
		}
	}
	x.open = nil
	x.phase++
	return nil
}
