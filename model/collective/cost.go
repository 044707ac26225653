package collective

import (
	"iter"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Machine is what messages and local work take.
type Machine struct {
	model.Parameters
	Copy unit.PerByte // of what is copied
	Fold unit.PerByte // of what is combined
}

// Cost is when the ranks of a job are done. All begin at time 0.
type Cost struct {
	Last     unit.Time // the last one
	First    unit.Time // the first one
	Messages int
	Bytes    int // that were sent
}

// Cost adds up what an algorithm takes by LogGP, with the schedule of each rank:
//
//   - to send k bytes keeps the processor busy for o_s(k). It then waits until the interface is free, which a message takes for g + (k−1) G;
//   - the last byte arrives L + (k−1) G after the first has left. The other interface takes messages in as fast as this one sends them, one after
//     another;
//   - to take it in keeps the processor busy for o_r(k). A rank that waits for a message takes in all that comes before it, in the order in which it comes;
//     what was taken in before is there when it is wanted.
//
// A message is taken to be copied to where it belongs at once, and the network to have room. Alexandrov et al. 1995.
func (m Machine) Cost(a *Algorithm, j Job) Cost {
	x := &account{Machine: m, ranks: make([]clock, j.Ranks)}
	for r := range x.ranks {
		next, stop := iter.Pull(a.Steps(j, r))
		defer stop()
		x.ranks[r] = clock{rank: r, next: next, slot: -1}
		x.advance(&x.ranks[r])
	}
	for len(x.queue) > 0 {
		x.act(x.pop())
	}
	c := Cost{First: x.ranks[0].now, Messages: x.messages, Bytes: x.bytes}
	for i := range x.ranks {
		c.First, c.Last = min(c.First, x.ranks[i].now), max(c.Last, x.ranks[i].now)
	}
	return c
}

// account is a job under way. Ranks that can act are in a heap by the time at which they will, so that messages enter the network in the order of
// time.
type account struct {
	Machine
	ranks           []clock
	queue           []*clock
	messages, bytes int
}

// clock is a rank.
type clock struct {
	rank    int
	next    func() (Step, bool)
	step    Step
	now     unit.Time
	out, in unit.Time // until when its interfaces are taken
	sent    bool      // what the step has to send
	mail    []letter  // that has come, or will, in that order
	taken   []int     // from whom messages were taken in that nobody has wanted yet
	slot    int       // in the heap, or −1
	waits   bool      // for a message, and none has come
	at      unit.Time // when it acts
}

type letter struct {
	from int
	at   unit.Time // when its last byte is there
	size int
}

// advance takes the next step of a rank, and goes through those that are local.
func (x *account) advance(c *clock) {
	for {
		st, ok := c.next()
		if !ok {
			return
		}
		switch st.Kind {
		case Transfer:
			c.step, c.sent = st, st.To == None
			x.schedule(c)
			return
		case Copy:
			c.now += x.Copy.Time(st.Send.Len)
		default:
			c.now += x.Fold.Time(st.Send.Len)
		}
	}
}

// schedule puts a rank into the heap if it can act, by the time at which a message of its leaves, or one is there for it.
func (x *account) schedule(c *clock) {
	if !c.sent {
		c.at = max(c.now+x.SendO.Time(c.step.Send.Len), c.out)
		x.push(c)
		return
	}
	switch {
	case slices.Contains(c.taken, c.step.From):
		c.at = c.now
	case len(c.mail) > 0:
		c.at = max(c.now, c.mail[0].at)
	default:
		c.waits = true
		return
	}
	c.waits = false
	x.push(c)
}

// act lets a rank do what it is scheduled for.
func (x *account) act(c *clock) {
	if c.sent {
		x.receive(c)
		return
	}
	x.send(c)
	c.sent = true
	if c.step.From == None {
		x.advance(c)
	} else {
		x.schedule(c)
	}
}

// receive lets a rank go on that has the message it wants, or take in the next one.
func (x *account) receive(c *clock) {
	c.now = c.at
	if i := slices.Index(c.taken, c.step.From); i >= 0 {
		c.taken = slices.Delete(c.taken, i, i+1)
		x.advance(c)
		return
	}
	l := c.mail[0]
	c.mail = c.mail[1:]
	c.now += x.RecvO.Time(l.size)
	if l.from == c.step.From {
		x.advance(c)
		return
	}
	c.taken = append(c.taken, l.from)
	x.schedule(c)
}

// send lets the message of a rank's step leave.
func (x *account) send(c *clock) {
	k := c.step.Send.Len
	long := x.BigGap.Time(max(k-1, 0))
	c.now = c.at
	c.out = c.at + x.Gap + long
	to := &x.ranks[c.step.To]
	begin := max(c.at+x.L, to.in)
	to.in = begin + x.Gap + long
	to.mail = append(to.mail, letter{c.rank, begin + long, k})
	x.messages++
	x.bytes += k
	if to.slot < 0 && to.waits {
		x.schedule(to)
	}
}

// before orders ranks by the time at which they act, then by their number.
func (c *clock) before(d *clock) bool { return c.at < d.at || c.at == d.at && c.rank < d.rank }

func (x *account) push(c *clock) {
	x.queue = append(x.queue, c)
	i := len(x.queue) - 1
	for ; i > 0 && c.before(x.queue[(i-1)/2]); i = (i - 1) / 2 {
		x.put(i, x.queue[(i-1)/2])
	}
	x.put(i, c)
}

func (x *account) pop() *clock {
	first, last := x.queue[0], len(x.queue)-1
	c := x.queue[last]
	x.queue = x.queue[:last]
	i := 0
	for last > 0 {
		child := 2*i + 1
		if child+1 < last && x.queue[child+1].before(x.queue[child]) {
			child++
		}
		if child >= last || !x.queue[child].before(c) {
			x.put(i, c)
			break
		}
		x.put(i, x.queue[child])
		i = child
	}
	first.slot = -1
	return first
}

func (x *account) put(i int, c *clock) { x.queue[i], c.slot = c, i }
