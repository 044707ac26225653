package program

import (
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/model"
)

// generator generates a program.
type generator struct {
	*rand.Rand
	*Program
	open  []*communicator // communicators that may be used
	from  int             // number of the first action since the last barrier
	plans map[plan]wild
	ids   int
	kept  []*message // may be sent again until the next barrier
	last  []*message // their senders may wait for them when all receives are posted
}

// plan is a receiver with planned wildcards between two barriers.
type plan struct {
	comm *communicator
	dst  int
}

// wild says which receives have wildcards.
type wild struct {
	tags   [tags]bool
	anyTag bool // all of them, with any tag
	early  bool // posted before the first message
	unit   *layout
}

// New generates a random program for at most most ranks.
func New(seed uint64, most int) *Program {
	w := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), Program: &Program{Seed: seed, Ranks: 2}}
	w.Ranks += w.IntN(min(most, 8) - 1)
	if w.IntN(4) == 0 {
		w.Ranks = 2 + w.IntN(most-1)
	}
	w.Tuning = w.rules()
	all := make([]int, w.Ranks)
	for i := range all {
		all[i] = i
	}
	w.comms = []*communicator{{groups: [][]int{all}}}
	w.open = slices.Clone(w.comms)
	for range 1 + w.IntN(3) {
		w.phase()
	}
	return w.Program
}

// phase adds communicators, messages and operations, and a barrier.
func (w *generator) phase() {
	for range w.IntN(3) {
		w.newCommunicator()
	}
	w.from, w.plans, w.kept = w.ids+1, map[plan]wild{}, nil
	first := len(w.Actions)
	for range 3 + w.IntN(25) {
		w.add()
	}
	w.ids++
	to := w.ids
	for _, i := range w.Actions[first:] {
		for _, s := range i.steps {
			s.to = min(s.to, to)
		}
	}
	for _, m := range w.last {
		m.due = to
	}
	w.last = nil
	w.move(first)
	meet := &action{id: w.ids, name: "barrier", keep: true}
	for r := range w.Ranks {
		meet.steps = append(meet.steps, &step{rank: r, when: w.ids, turn: finish, name: "barrier", do: func(x *runner) error {
			x.comms[0].Barrier()
			return nil
		}})
	}
	w.Actions = append(w.Actions, meet)
	w.freeCommunicator()
}

// add adds an action of a random kind.
func (w *generator) add() {
	switch w.IntN(12) {
	case 0, 1:
		w.operation()
	case 2:
		w.ring()
	default:
		w.message()
	}
}

// action adds an action without steps.
func (w *generator) action(name string, t *communicator) *action {
	w.ids++
	i := &action{id: w.ids, name: name, comm: t}
	w.Actions = append(w.Actions, i)
	return i
}

// step adds a step with a fixed position.
func (w *generator) step(i *action, rank int, at turn, name string, do func(x *runner) error) *step {
	s := &step{rank: rank, when: i.id, turn: at, from: i.id, to: i.id, name: name, do: do}
	i.steps = append(i.steps, s)
	return s
}

// sends adds the steps of a message's sender. Steps that may move do so back to the last barrier,
// or up to the next.
func (w *generator) sends(i *action, m *message, blocks, fixed bool) {
	if blocks && m.again[0] == nil {
		w.step(i, m.src, block, "send", func(x *runner) error { return x.send(m) }).sends = []*message{m}
		return
	}
	s := w.step(i, m.src, begin, "start", func(x *runner) error { return x.start(m) })
	s.sends = []*message{m}
	switch {
	case fixed:
		s.turn = block
	case m.again[0] == nil:
		s.from = w.from
	}
	if m.freed = m.again[0] == nil && w.IntN(8) == 0; !m.freed {
		w.waits(i, m.src, m, false)
	}
}

// receives adds the steps of a message's receiver.
func (w *generator) receives(i *action, m *message, blocks bool) {
	if blocks && m.again[1] == nil {
		w.step(i, m.dst, block, "receive", func(x *runner) error { return x.receive(m) }).posts = []*message{m}
		return
	}
	s := w.step(i, m.dst, begin, "post", func(x *runner) error { return x.post(m) })
	if s.posts = []*message{m}; m.again[1] == nil {
		s.from = w.from
	}
	w.waits(i, m.dst, m, true)
}

// waits adds the wait for a started operation, now or later.
func (w *generator) waits(i *action, rank int, m *message, incoming bool) {
	s := w.step(i, rank, finish, "wait", func(x *runner) error { return x.wait(m, incoming) })
	s.to, s.late, s.waits, s.incoming = 1<<30, !m.anySource, m, incoming
}

// draw draws the properties of a message other than its ranks.
func (w *generator) draw(m *message) {
	m.id, m.action, m.due = w.ids, w.ids, w.ids
	m.tag, m.mode = w.IntN(tags), model.Mode(w.IntN(4))
	m.how = [2]int{w.Int(), w.Int()}
	m.unit = units[w.IntN(len(units))]
	m.units = w.length(20000) / m.unit.size()
}

// length draws a number of bytes.
func (w *generator) length(most int) int {
	return w.IntN(1 + min(most, []int{0, 8, 64, 600, 5000, 20000}[w.IntN(6)]))
}

// shape draws the layout of a message's data on both sides.
func (w *generator) shape(m *message) {
	m.out, m.in = arrange(w.Rand, m.unit, m.units, 1), arrange(w.Rand, m.unit, m.units, 2)
	if m.anySource {
		room := mostAny / m.unit.size()
		m.in = arrange(w.Rand, m.unit, room, 1)
	} else if w.IntN(3) == 0 {
		m.in.count++ // space for more data
	}
}

// mostAny is the maximum size in bytes of a message received from any source.
const mostAny = 4800

// message adds a message between two ranks.
func (w *generator) message() {
	if len(w.kept) > 0 && w.IntN(4) == 0 {
		w.another()
		return
	}
	t := w.open[w.IntN(len(w.open))]
	m := &message{comm: t}
	group := t.groups[w.IntN(len(t.groups))]
	m.src = group[w.IntN(len(group))]
	peers := t.peers(m.src)
	m.dst = peers[w.IntN(len(peers))]
	plan := w.plan(t, m.dst)
	if w.IntN(10) == 0 && !plan.anyTag && m.src != m.dst {
		w.cancelled(m)
		return
	}
	i := w.action("message", t)
	w.draw(m)
	if plan.tags[m.tag] {
		m.anySource, m.anyTag, m.unit = true, plan.anyTag, plan.unit
		if m.mode == model.ReadyMode {
			m.mode = model.StandardMode
		}
		m.units = w.length(mostAny) / m.unit.size()
	}
	w.shape(m)
	if w.IntN(3) == 0 {
		w.keep(m, plan)
	}
	w.place(i, m)
}

// keep makes the requests of a message persistent. A rank completes such a request before it starts
// it again.
func (w *generator) keep(m *message, plan wild) {
	w.kept = append(w.kept, m)
	if (!m.anySource || plan.early) && w.IntN(3) > 0 {
		m.again[0] = &persistentOp{m.action}
	}
	if (!m.anySource || !plan.early) && w.IntN(3) > 0 {
		m.again[1] = &persistentOp{m.action}
	}
}

// another adds a message with the properties of an earlier one.
func (w *generator) another() {
	m := *w.kept[w.IntN(len(w.kept))]
	i := w.action("message again", m.comm)
	m.id, m.action, m.due = i.id, i.id, i.id
	m.how = [2]int{w.Int(), w.Int()}
	w.place(i, &m)
}

// place adds the steps of a message.
func (w *generator) place(i *action, m *message) {
	switch self := m.src == m.dst; { // a rank must not wait for itself
	case m.anySource:
		w.fromAny(i, m)
	case m.mode == model.ReadyMode:
		w.ready(i, m)
	default:
		w.receives(i, m, !self && w.IntN(2) == 0)
		w.sends(i, m, w.IntN(2) == 0, self)
	}
}

// cancelled adds a message that its sender cancels, and a message that says whether it was
// cancelled.
func (w *generator) cancelled(m *message) {
	i := w.action("cancelled message", m.comm)
	w.draw(m)
	if m.tag = cancelTag; m.mode == model.ReadyMode {
		m.mode = model.StandardMode
	}
	w.shape(m)
	w.ids++
	n := &message{id: w.ids, action: i.id, due: i.id, comm: w.comms[0], src: m.src, dst: m.dst, tag: newsTag, units: 1, unit: units[0], out: placement{units[0], 1, 1}, in: placement{units[0], 1, 1}}
	w.step(i, m.src, block, "start and cancel", func(x *runner) error { return x.cancel(m, n) }).sends = []*message{m, n}
	w.step(i, m.dst, block, "receive unless cancelled", func(x *runner) error { return x.receiveUnlessCancelled(m, n) }).posts = []*message{n, m}
}

// plan returns the wildcards of a receiver. Receives in the job's communicator never have any tag,
// because other actions use tags there.
func (w *generator) plan(t *communicator, dst int) wild {
	at := plan{t, dst}
	x, ok := w.plans[at]
	if !ok {
		x.early, x.unit = w.IntN(2) == 0, units[w.IntN(len(units))]
		switch w.IntN(4) {
		case 0:
			x.anyTag = t.id > 0
			for i := range x.tags {
				x.tags[i] = x.anyTag
			}
		case 1:
			for i := range x.tags {
				x.tags[i] = w.IntN(2) == 0
			}
		}
		w.plans[at] = x
	}
	return x
}

// fromAny adds the steps of a message received from any source.
func (w *generator) fromAny(i *action, m *message) {
	if w.plan(m.comm, m.dst).early {
		w.receives(i, m, false)
		post := i.steps[0]
		post.when = w.from
		w.sends(i, m, w.IntN(2) == 0, m.src == m.dst)
		return
	}
	w.sends(i, m, m.mode == model.BufferedMode && m.src != m.dst && w.IntN(2) == 0, false)
	if last := i.steps[len(i.steps)-1]; last.turn == finish {
		last.when = 1 << 30 // after all receives
		w.last = append(w.last, m)
	}
	w.receives(i, m, w.IntN(2) == 0)
	for _, s := range i.steps {
		if s.posts != nil {
			s.from = i.id // otherwise an earlier receive could wait for a later message
		}
	}
}

// ready adds a message in ready mode: the receiver posts its receive and tells the sender.
func (w *generator) ready(i *action, m *message) {
	w.receives(i, m, false)
	if m.src != m.dst {
		w.tell(i, m.dst, m.src, goTag, "go")
	}
	w.sends(i, m, w.IntN(2) == 0, true)
}

// tell adds an empty message in the job's communicator.
func (w *generator) tell(i *action, src, dst, tag int, name string) {
	w.ids++
	m := &message{id: w.ids, action: i.id, due: i.id, comm: w.comms[0], src: src, dst: dst, tag: tag, unit: units[0], out: placement{units[0], 0, 1}, in: placement{units[0], 0, 1}}
	w.step(i, src, block, name, func(x *runner) error { return x.send(m) }).sends = []*message{m}
	w.step(i, dst, block, name, func(x *runner) error { return x.receive(m) }).posts = []*message{m}
}

// move moves steps since the last barrier, and inserts wildcards into receives.
func (w *generator) move(first int) {
	for _, i := range w.Actions[first:] {
		for _, s := range i.steps {
			switch {
			case s.turn == finish:
				s.when = min(s.to, s.when+w.far())
				if w.IntN(5) == 0 && s.late {
					s.when = s.to + w.IntN(60) // after the barrier
				}
				continue
			case s.turn == begin && s.when > s.from:
				old := s.when
				s.when = max(s.from, s.when-w.far())
				if !w.fair() {
					s.when = old
				}
			}
			for _, m := range s.posts {
				if p := w.plans[plan{m.comm, m.dst}]; p.tags == [tags]bool{} && m.again[1] == nil && m.tag != cancelTag && m.tag != newsTag && w.IntN(3) == 0 {
					m.anyTag = true
					m.anyTag = w.fair()
				}
			}
		}
	}
}

// far draws the distance by which a step is moved.
func (w *generator) far() int { return w.IntN([]int{1, 4, 20}[w.IntN(3)]) }

// ring adds a ring of ranks in which each sends to the next and receives from the previous one at
// the same time, or a chain with two ends.
func (w *generator) ring() {
	t := w.open[w.IntN(len(w.open))]
	if t.inter() {
		return
	}
	group := t.groups[0]
	r := w.Perm(len(group))[:1+w.IntN(len(group))]
	for _, k := range r {
		if w.plan(t, group[k]).anyTag {
			return
		}
	}
	i := w.action("ring", t)
	closed, replace := w.IntN(3) > 0, w.IntN(3) == 0
	var common message
	w.draw(&common)
	common.mode = model.StandardMode
	to := make([]*message, len(r)) // received by rank k of the ring
	for k := range r {
		if k == 0 && !closed {
			continue
		}
		m := common
		w.ids++
		m.id = w.ids
		m.comm, m.src, m.dst, m.tag = t, group[r[(k+len(r)-1)%len(r)]], group[r[k]], goTag
		if !replace {
			m.units = w.length(20000) / m.unit.size()
		}
		w.shape(&m)
		to[k] = &m
	}
	for k := range r {
		in, out := to[k], to[(k+1)%len(r)]
		if replace && in != nil && out != nil {
			out.out = in.in
			if out.out.count*out.out.each > out.units { // the shared buffer has no space for more
				out.out.count--
				in.in.count--
			}
		}
		s := w.step(i, group[r[k]], block, "send and receive", func(x *runner) error { return x.exchange(t, out, in, replace) })
		if out != nil {
			s.sends = []*message{out}
		}
		if in != nil {
			s.posts = []*message{in}
		}
	}
}
