package hw

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// port is a processor with its interface. What every packet needs comes first.
type port struct {
	*job
	device.None
	net     fabric    // nil where the network has ports of its own
	clock   unit.Time // until when the processor is busy; while its rank runs, not before the kernel's
	late    unit.Time // how long the network has held the processor up
	inbox   list      // packets that have arrived
	held    *packet   // lent to the rank until the next Recv
	rank    int32
	ahead   int16     // packets whose sending is an event to come
	waiting bool      // parked in Recv
	ended   bool      // its program has
	proc    *sim.Proc // that is life, until the program has ended
	noise   noise
	life    sim.Proc

	end      end // what the rank sees of the network
	naps     uint32
	polled   unit.Time // when a poll last found nothing
	nap      unit.Time // how long it then slept
	read     unit.Time // when the clock was last read
	reads    int       // how often since then
	gaze     unit.Time // for how long the last reading lasted
	memory   device.Regions
	counters [device.Counters]int64
}

// maxAhead is how many packets a rank may send before others get to run.
const maxAhead = 64

// packet is a packet under way or arrived.
type packet struct {
	device.Packet
	j     *job
	dst   int32
	local bool // not from the network: the end of a remote access
	next  *packet
	buf   []byte // memory of Data, kept when the packet is used again
	wire  wire   // where it is on its way
}

// list is a queue of packets. A packet is in one list at most.
type list struct{ head, tail *packet }

func (l *list) push(pk *packet) {
	if l.tail == nil {
		l.head = pk
	} else {
		l.tail.next = pk
	}
	l.tail = pk
}

func (l *list) pop() *packet {
	pk := l.head
	if l.head = pk.next; l.head == nil {
		l.tail = nil
	}
	pk.next = nil
	return pk
}

func (j *job) newPacket(src, dst int32, head *device.Head, data []byte) *packet {
	pk := j.free
	if pk == nil {
		pk = j.morePackets()
	}
	j.free = pk.next
	pk.next = nil
	pk.Src, pk.dst, pk.Head, pk.local, pk.Refused = int(src), dst, *head, false, false
	pk.Data = nil
	if len(data) > 0 {
		pk.buf = append(pk.buf[:0], data...)
		pk.Data = pk.buf
	}
	return pk
}

// morePackets makes packets, one for each rank or as many as one allocation is for, and returns the first. It is not inlined, so that newPacket is.
//
//go:noinline
func (j *job) morePackets() *packet {
	const most = 32
	all := make([]packet, min(len(j.ports), most))
	for i := range all {
		all[i].j, all[i].next = j, j.free
		j.free = &all[i]
	}
	return j.free
}

// arrival is the event of a packet that is there.
type arrival packet

// Act lets the packet arrive.
func (a *arrival) Act(uint64) { (*packet)(a).arrive() }

// arrive puts a packet into its destination's inbox. The rank goes on when the event has ended.
func (pk *packet) arrive() {
	p := &pk.j.ports[pk.dst]
	p.inbox.push(pk)
	if p.waiting {
		p.waiting = false
		if p.clock > p.kernel.Now() {
			p.kernel.At(p.clock, p.proc, 0)
		} else {
			p.proc.Wake()
		}
	}
}

// catchUp brings the processor's clock to the kernel's, if it is behind after a wait.
func (p *port) catchUp() { p.clock = max(p.clock, p.kernel.Now()) }

// pay lets the kernel's clock catch up with the processor's. The network may delay the processor meanwhile.
func (p *port) pay() {
	for d := p.clock - p.kernel.Now(); d > 0; d = p.clock - p.kernel.Now() {
		p.proc.Sleep(d)
	}
}

// charge lets the processor be busy for d, or about d where there is noise.
func (p *port) charge(d unit.Time) {
	if p.noise.relative > 0 {
		d = p.noise.vary(d)
	}
	p.clock += d
}

// about returns the rate, or about that rate where there is noise: what takes d at the one takes d with noise at the other.
func (p *port) about(r unit.Rate) unit.Rate {
	if p.noise.relative > 0 {
		r *= unit.Rate(float64(unit.Second) / float64(p.noise.vary(unit.Second)))
	}
	return r
}

func (p *port) Rank() int { return int(p.rank) }
func (p *port) Size() int { return len(p.ports) }

// Tier implements device.Port.
func (p *port) Tier(rank int) model.Tier { return p.cfg.Machine.Tier(int(p.rank), rank) }

// Node implements device.Port.
func (p *port) Node() string {
	m := p.cfg.Machine
	return fmt.Sprintf("%s, node %d", m.Name, m.Node(int(p.rank)))
}

// Tick implements device.Port: readings are multiples of it.
func (p *port) Tick() unit.Time { return p.cfg.Machine.Timer }

// stare is how often a rank may read the clock before it moves, by steps that double. A program that waits for a time reads it until then.
const stare = 1000

func (p *port) Now() unit.Time {
	p.pay()
	if p.read != p.kernel.Now() {
		p.reads, p.gaze = 0, 0
	} else if p.reads++; p.reads > stare {
		p.gaze = min(max(2*p.gaze, p.cfg.Machine.Timer), longestNap)
		p.clock += p.gaze
		p.pay()
	}
	now := p.kernel.Now()
	p.read = now
	return now - now%p.cfg.Machine.Timer
}

func (p *port) Spend(w model.CostKey, n int) { p.charge(p.soft[w] * unit.Time(n)) }

func (p *port) Delay(d unit.Time) {
	p.clock += d
	p.pay()
}

func (p *port) Copy(dst, src []byte) int {
	n := copy(dst, src)
	if n > 0 {
		p.charge(p.cfg.Machine.Processor.Copy.Start + p.copying.time(n))
	}
	return n
}

func (p *port) Send(dst int, x *device.Packet) {
	p.check(dst)
	if p.ahead >= maxAhead {
		p.pay()
	}
	p.net.send(p, p.newPacket(p.rank, int32(dst), &x.Head, x.Data))
}

// close lets the rank do to its end what it has been charged, and say farewell.
func (p *port) close() {
	p.pay()
	p.part()
}

// check panics if there is no such rank.
func (p *port) check(rank int) {
	if rank < 0 || rank >= len(p.ports) {
		panic(fmt.Sprintf("hw: no rank %d among %d", rank, len(p.ports)))
	}
}

// Recv takes the first packet that has arrived. A packet is in the inbox no later than the processor's own time, and packets
// that come later stand behind it, so only an empty inbox makes the rank wait for the kernel.
func (p *port) Recv(block bool) *device.Packet {
	p.giveBack()
	if !block && p.inbox.head == nil && !p.poll() {
		return nil
	}
	for p.inbox.head == nil {
		p.waiting = true
		p.proc.Park()
		p.catchUp()
	}
	pk := p.inbox.pop()
	p.held = pk
	if !pk.local {
		p.net.receive(p, pk)
	}
	return &pk.Packet
}

// giveBack takes back the packet that the rank was lent.
func (p *port) giveBack() {
	if p.held != nil {
		p.held.next, p.free = p.free, p.held
		p.held = nil
	}
}

// poll lets time pass until the processor's own, and reports whether a packet is in the inbox then.
func (p *port) poll() bool {
	p.pay()
	if p.inbox.head == nil {
		if p.polled != p.kernel.Now() {
			p.nap = 0
		} else {
			p.idle()
		}
	}
	p.polled = p.kernel.Now()
	return p.inbox.head != nil
}

// longestNap is how long a rank may sleep that polls at no cost for the time, or for what others do to its memory.
const longestNap = 10 * unit.Microsecond

// idle lets a rank that polls at no cost sleep until a packet comes, or for a while that doubles each time.
//
// Note: to sleep until the next event is not enough. Where two ranks poll, that is the other's poll, at the same time.
func (p *port) idle() {
	p.nap = min(max(2*p.nap, p.cfg.Machine.Timer), longestNap)
	p.waiting = true
	p.kernel.At(p.kernel.Now()+p.nap, (*alarm)(p), uint64(p.naps))
	p.proc.Park()
	p.catchUp()
	p.naps++
}

// alarm is the end of a rank's nap.
type alarm port

// Act wakes the rank if it still sleeps.
func (a *alarm) Act(nap uint64) {
	if p := (*port)(a); p.waiting && uint64(p.naps) == nap {
		p.waiting = false
		p.proc.Wake()
	}
}
