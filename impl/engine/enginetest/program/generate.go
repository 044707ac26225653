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
	openComms          []*communicator // communicators that may be used
	firstMovableAction int             // number of the first action since the last barrier
	wildcardPlans      map[receiver]wildcardPlan
	lastID             int
	repeatableMessages []*message // may be sent again until the next barrier
	waitedAtPhaseEnd   []*message // their senders may wait for them when all receives are posted
}

// receiver is a receiver with planned wildcards between two barriers.
type receiver struct {
	comm *communicator
	dst  int
}

// wildcardPlan says which receives have wildcards.
type wildcardPlan struct {
	tags   [randomTagCount]bool
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
	w.Tuning = w.drawRules()
	all := make([]int, w.Ranks)
	for i := range all {
		all[i] = i
	}
	w.comms = []*communicator{{groups: [][]int{all}}}
	w.openComms = slices.Clone(w.comms)
	for range 1 + w.IntN(3) {
		w.addPhase()
	}
	return w.Program
}

// addPhase adds communicators, messages and operations, and a barrier.
func (w *generator) addPhase() {
	for range w.IntN(3) {
		w.addNewCommunicator()
	}
	w.firstMovableAction, w.wildcardPlans, w.repeatableMessages = w.lastID+1, map[receiver]wildcardPlan{}, nil
	first := len(w.Actions)
	for range 3 + w.IntN(25) {
		w.addRandomAction()
	}
	w.lastID++
	to := w.lastID
	for _, i := range w.Actions[first:] {
		for _, s := range i.steps {
			s.latest = min(s.latest, to)
		}
	}
	for _, m := range w.waitedAtPhaseEnd {
		m.senderWaitsFrom = to
	}
	w.waitedAtPhaseEnd = nil
	w.moveSteps(first)
	meet := &action{id: w.lastID, name: "barrier", isRequired: true}
	for r := range w.Ranks {
		meet.steps = append(meet.steps, &step{rank: r, position: w.lastID, turn: waitTurn, name: "barrier", run: func(x *runner) error {
			x.comms[0].Barrier()
			return nil
		}})
	}
	w.Actions = append(w.Actions, meet)
	w.addFree()
}

// addRandomAction adds an action of a random kind.
func (w *generator) addRandomAction() {
	switch w.IntN(12) {
	case 0, 1:
		w.addCollective()
	case 2:
		w.addRing()
	default:
		w.addMessage()
	}
}

// addAction adds an action without steps.
func (w *generator) addAction(name string, t *communicator) *action {
	w.lastID++
	i := &action{id: w.lastID, name: name, comm: t}
	w.Actions = append(w.Actions, i)
	return i
}

// addStep adds a step with a fixed position.
func (w *generator) addStep(i *action, rank int, at turn, name string, do func(x *runner) error) *step {
	s := &step{rank: rank, position: i.id, turn: at, earliest: i.id, latest: i.id, name: name, run: do}
	i.steps = append(i.steps, s)
	return s
}

// addSenderSteps adds the steps of a message's sender. Steps that may move do so back to the last
// barrier, or up to the next.
func (w *generator) addSenderSteps(i *action, m *message, blocks, fixed bool) {
	if blocks && m.persistent[0] == nil {
		w.addStep(i, m.src, blockingTurn, "send", func(x *runner) error { return x.send(m) }).sends = []*message{m}
		return
	}
	s := w.addStep(i, m.src, startTurn, "start", func(x *runner) error { return x.startSend(m) })
	s.sends = []*message{m}
	switch {
	case fixed:
		s.turn = blockingTurn
	case m.persistent[0] == nil:
		s.earliest = w.firstMovableAction
	}
	if m.isRequestFreed = m.persistent[0] == nil && w.IntN(8) == 0; !m.isRequestFreed {
		w.addWait(i, m.src, m, false)
	}
}

// addReceiverSteps adds the steps of a message's receiver.
func (w *generator) addReceiverSteps(i *action, m *message, blocks bool) {
	if blocks && m.persistent[1] == nil {
		w.addStep(i, m.dst, blockingTurn, "receive", func(x *runner) error { return x.receive(m) }).receives = []*message{m}
		return
	}
	s := w.addStep(i, m.dst, startTurn, "post", func(x *runner) error { return x.postReceive(m) })
	if s.receives = []*message{m}; m.persistent[1] == nil {
		s.earliest = w.firstMovableAction
	}
	w.addWait(i, m.dst, m, true)
}

// addWait adds the wait for a started operation, now or later.
func (w *generator) addWait(i *action, rank int, m *message, incoming bool) {
	s := w.addStep(i, rank, waitTurn, "wait", func(x *runner) error { return x.wait(m, incoming) })
	s.latest, s.canFollowBarrier, s.waitsFor, s.waitsForReceive = 1<<30, !m.anySource, m, incoming
}

// drawMessage draws the properties of a message other than its ranks.
func (w *generator) drawMessage(m *message) {
	m.id, m.action, m.senderWaitsFrom = w.lastID, w.lastID, w.lastID
	m.tag, m.mode = w.IntN(randomTagCount), model.Mode(w.IntN(4))
	m.variants = [2]int{w.Int(), w.Int()}
	m.unit = unitLayouts[w.IntN(len(unitLayouts))]
	m.unitCount = w.drawBytes(20000) / m.unit.size()
}

// drawBytes draws a number of bytes.
func (w *generator) drawBytes(most int) int {
	return w.IntN(1 + min(most, []int{0, 8, 64, 600, 5000, 20000}[w.IntN(6)]))
}

// drawLayouts draws the layout of a message's data on both sides.
func (w *generator) drawLayouts(m *message) {
	m.sendPlacement, m.receivePlacement = randomPlacement(w.Rand, m.unit, m.unitCount, 1), randomPlacement(w.Rand, m.unit, m.unitCount, 2)
	if m.anySource {
		room := maxAnySourceBytes / m.unit.size()
		m.receivePlacement = randomPlacement(w.Rand, m.unit, room, 1)
	} else if w.IntN(3) == 0 {
		m.receivePlacement.count++ // space for more data
	}
}

// maxAnySourceBytes is the maximum size in bytes of a message received from any source.
const maxAnySourceBytes = 4800

// addMessage adds a message between two ranks.
func (w *generator) addMessage() {
	if len(w.repeatableMessages) > 0 && w.IntN(4) == 0 {
		w.addRepeatedMessage()
		return
	}
	t := w.openComms[w.IntN(len(w.openComms))]
	m := &message{comm: t}
	group := t.groups[w.IntN(len(t.groups))]
	m.src = group[w.IntN(len(group))]
	peers := t.peersOf(m.src)
	m.dst = peers[w.IntN(len(peers))]
	plan := w.wildcardsOf(t, m.dst)
	if w.IntN(10) == 0 && !plan.anyTag && m.src != m.dst {
		w.addCancelledMessage(m)
		return
	}
	i := w.addAction("message", t)
	w.drawMessage(m)
	if plan.tags[m.tag] {
		m.anySource, m.anyTag, m.unit = true, plan.anyTag, plan.unit
		if m.mode == model.ReadyMode {
			m.mode = model.StandardMode
		}
		m.unitCount = w.drawBytes(maxAnySourceBytes) / m.unit.size()
	}
	w.drawLayouts(m)
	if w.IntN(3) == 0 {
		w.makePersistent(m, plan)
	}
	w.addMessageSteps(i, m)
}

// makePersistent makes the requests of a message persistent. A rank completes such a request before
// it starts it again.
func (w *generator) makePersistent(m *message, plan wildcardPlan) {
	w.repeatableMessages = append(w.repeatableMessages, m)
	if (!m.anySource || plan.early) && w.IntN(3) > 0 {
		m.persistent[0] = &persistentRequestID{m.action}
	}
	if (!m.anySource || !plan.early) && w.IntN(3) > 0 {
		m.persistent[1] = &persistentRequestID{m.action}
	}
}

// addRepeatedMessage adds a message with the properties of an earlier one.
func (w *generator) addRepeatedMessage() {
	m := *w.repeatableMessages[w.IntN(len(w.repeatableMessages))]
	i := w.addAction("message again", m.comm)
	m.id, m.action, m.senderWaitsFrom = i.id, i.id, i.id
	m.variants = [2]int{w.Int(), w.Int()}
	w.addMessageSteps(i, &m)
}

// addMessageSteps adds the steps of a message.
func (w *generator) addMessageSteps(i *action, m *message) {
	switch self := m.src == m.dst; { // a rank must not wait for itself
	case m.anySource:
		w.addAnySourceMessage(i, m)
	case m.mode == model.ReadyMode:
		w.addReadyMessage(i, m)
	default:
		w.addReceiverSteps(i, m, !self && w.IntN(2) == 0)
		w.addSenderSteps(i, m, w.IntN(2) == 0, self)
	}
}

// addCancelledMessage adds a message that its sender cancels, and a message that says whether it
// was cancelled.
func (w *generator) addCancelledMessage(m *message) {
	i := w.addAction("cancelled message", m.comm)
	w.drawMessage(m)
	if m.tag = cancelTag; m.mode == model.ReadyMode {
		m.mode = model.StandardMode
	}
	w.drawLayouts(m)
	w.lastID++
	n := &message{id: w.lastID, action: i.id, senderWaitsFrom: i.id, comm: w.comms[0], src: m.src, dst: m.dst, tag: cancelOutcomeTag, unitCount: 1, unit: unitLayouts[0], sendPlacement: placement{unitLayouts[0], 1, 1}, receivePlacement: placement{unitLayouts[0], 1, 1}}
	w.addStep(i, m.src, blockingTurn, "start and cancel", func(x *runner) error { return x.sendAndCancel(m, n) }).sends = []*message{m, n}
	w.addStep(i, m.dst, blockingTurn, "receive unless cancelled", func(x *runner) error { return x.receiveUnlessCancelled(m, n) }).receives = []*message{n, m}
}

// wildcardsOf returns the wildcards of a receiver. Receives in the job's communicator never have
// any tag, because other actions use tags there.
func (w *generator) wildcardsOf(t *communicator, dst int) wildcardPlan {
	at := receiver{t, dst}
	x, ok := w.wildcardPlans[at]
	if !ok {
		x.early, x.unit = w.IntN(2) == 0, unitLayouts[w.IntN(len(unitLayouts))]
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
		w.wildcardPlans[at] = x
	}
	return x
}

// addAnySourceMessage adds the steps of a message received from any source.
func (w *generator) addAnySourceMessage(i *action, m *message) {
	if w.wildcardsOf(m.comm, m.dst).early {
		w.addReceiverSteps(i, m, false)
		post := i.steps[0]
		post.position = w.firstMovableAction
		w.addSenderSteps(i, m, w.IntN(2) == 0, m.src == m.dst)
		return
	}
	w.addSenderSteps(i, m, m.mode == model.BufferedMode && m.src != m.dst && w.IntN(2) == 0, false)
	if last := i.steps[len(i.steps)-1]; last.turn == waitTurn {
		last.position = 1 << 30 // after all receives
		w.waitedAtPhaseEnd = append(w.waitedAtPhaseEnd, m)
	}
	w.addReceiverSteps(i, m, w.IntN(2) == 0)
	for _, s := range i.steps {
		if s.receives != nil {
			s.earliest = i.id // otherwise an earlier receive could wait for a later message
		}
	}
}

// addReadyMessage adds a message in ready mode: the receiver posts its receive and tells the
// sender.
func (w *generator) addReadyMessage(i *action, m *message) {
	w.addReceiverSteps(i, m, false)
	if m.src != m.dst {
		w.addControlMessage(i, m.dst, m.src, readyTag, "go")
	}
	w.addSenderSteps(i, m, w.IntN(2) == 0, true)
}

// addControlMessage adds an empty message in the job's communicator.
func (w *generator) addControlMessage(i *action, src, dst, tag int, name string) {
	w.lastID++
	m := &message{id: w.lastID, action: i.id, senderWaitsFrom: i.id, comm: w.comms[0], src: src, dst: dst, tag: tag, unit: unitLayouts[0], sendPlacement: placement{unitLayouts[0], 0, 1}, receivePlacement: placement{unitLayouts[0], 0, 1}}
	w.addStep(i, src, blockingTurn, name, func(x *runner) error { return x.send(m) }).sends = []*message{m}
	w.addStep(i, dst, blockingTurn, name, func(x *runner) error { return x.receive(m) }).receives = []*message{m}
}

// moveSteps moves steps since the last barrier, and inserts wildcards into receives.
func (w *generator) moveSteps(first int) {
	for _, i := range w.Actions[first:] {
		for _, s := range i.steps {
			switch {
			case s.turn == waitTurn:
				s.position = min(s.latest, s.position+w.drawDistance())
				if w.IntN(5) == 0 && s.canFollowBarrier {
					s.position = s.latest + w.IntN(60) // after the barrier
				}
				continue
			case s.turn == startTurn && s.position > s.earliest:
				old := s.position
				s.position = max(s.earliest, s.position-w.drawDistance())
				if !w.receivesOwnMessages() {
					s.position = old
				}
			}
			for _, m := range s.receives {
				if p := w.wildcardPlans[receiver{m.comm, m.dst}]; p.tags == [randomTagCount]bool{} && m.persistent[1] == nil && m.tag != cancelTag && m.tag != cancelOutcomeTag && w.IntN(3) == 0 {
					m.anyTag = true
					m.anyTag = w.receivesOwnMessages()
				}
			}
		}
	}
}

// drawDistance draws the distance by which a step is moved.
func (w *generator) drawDistance() int { return w.IntN([]int{1, 4, 20}[w.IntN(3)]) }

// addRing adds a ring of ranks in which each sends to the next and receives from the previous one
// at the same time, or a chain with two ends.
func (w *generator) addRing() {
	t := w.openComms[w.IntN(len(w.openComms))]
	if t.isInter() {
		return
	}
	group := t.groups[0]
	r := w.Perm(len(group))[:1+w.IntN(len(group))]
	for _, k := range r {
		if w.wildcardsOf(t, group[k]).anyTag {
			return
		}
	}
	i := w.addAction("ring", t)
	closed, replace := w.IntN(3) > 0, w.IntN(3) == 0
	var common message
	w.drawMessage(&common)
	common.mode = model.StandardMode
	to := make([]*message, len(r)) // received by rank k of the ring
	for k := range r {
		if k == 0 && !closed {
			continue
		}
		m := common
		w.lastID++
		m.id = w.lastID
		m.comm, m.src, m.dst, m.tag = t, group[r[(k+len(r)-1)%len(r)]], group[r[k]], readyTag
		if !replace {
			m.unitCount = w.drawBytes(20000) / m.unit.size()
		}
		w.drawLayouts(&m)
		to[k] = &m
	}
	for k := range r {
		in, out := to[k], to[(k+1)%len(r)]
		if replace && in != nil && out != nil {
			out.sendPlacement = in.receivePlacement
			if out.sendPlacement.count*out.sendPlacement.unitsPerElement > out.unitCount { // the shared buffer has no space for more
				out.sendPlacement.count--
				in.receivePlacement.count--
			}
		}
		s := w.addStep(i, group[r[k]], blockingTurn, "send and receive", func(x *runner) error { return x.sendAndReceive(t, out, in, replace) })
		if out != nil {
			s.sends = []*message{out}
		}
		if in != nil {
			s.receives = []*message{in}
		}
	}
}
