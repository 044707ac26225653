package core

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// Remote is a Network by which ranks have memory, counters, queues and signals of others. It takes
// the bytes of an entry when its call returns.
type Remote interface {
	Network
	Limit() int                               // length of the longest entry
	Enqueue(p *Port, x *Entry)                // charges the start of an entry, and schedules what leads to its Append
	Dequeue(p *Port)                          // charges taking an entry out of a queue, whose bytes the rank copies
	Raise(p *Port, dst int, head device.Head) // charges the start of a signal, and schedules what leads to its Interrupt
	Upcall(p *Port)                           // charges the way into a handler and back
}

// Offer gives the ranks of the job the capabilities of a Remote.
func (j *Job) Offer() { j.remote, j.counters, j.queues, j.watched = true, true, true, true }

// remoteTo returns the network by which a rank reaches the memory of another one.
func (p *Port) remoteTo(rank int) Remote { return p.network(rank).(Remote) }

// Entry is an entry on its way to a queue, or in the queue.
type Entry struct {
	*Packet // its bytes; its fields Src and Dst are the writer and the rank whose queue it is
	key     device.Key
	flags   device.EnqueueFlags
	done    device.Head
	refused bool
	next    *Entry
}

// rings is the queues of a rank. A key is a place, which is not used again.
type rings []*ring // nil: destroyed

// ring is a queue in the memory of its rank.
type ring struct {
	size, used  int
	first, last *Entry
	refusing    map[int]bool // by writer: an entry was refused, and none with Retry was taken since
	seen        bool         // the first entry has been paid for
}

// queue is a port as its queues' Queue.
type queue struct{ *Port }

// Queue implements device.Port.
func (p *Port) Queue() device.Queue {
	if !p.Job.queues {
		return nil
	}
	return queue{p}
}

func (q queue) Limit() int { return q.remoteTo(int(q.ID)).Limit() }

func (q queue) Create(size int) device.Key {
	q.queues = append(q.queues, &ring{size: size, refusing: map[int]bool{}})
	return device.Key(len(q.queues) - 1)
}

func (q queue) Destroy(k device.Key) {
	q.own(k)
	q.queues[k] = nil
}

// own returns one of the rank's own queues.
func (q queue) own(k device.Key) *ring {
	if k >= device.Key(len(q.queues)) || q.queues[k] == nil {
		panic(fmt.Sprintf("hw: rank %d has no queue %d", q.ID, k))
	}
	return q.queues[k]
}

func (q queue) Enqueue(dst int, k device.Key, b []byte, flags device.EnqueueFlags, done device.Head) {
	q.check(dst)
	net := q.remoteTo(dst)
	if len(b) > net.Limit() {
		panic(fmt.Sprintf("hw: an entry of %d bytes: %d at most", len(b), net.Limit()))
	}
	x := q.entries
	if x == nil {
		x = new(Entry)
	} else {
		q.entries = x.next
	}
	*x = Entry{Packet: q.newPacket(q.ID, int32(dst), &done, b), key: k, flags: flags, done: done}
	x.Net = net
	net.Enqueue(q.Port, x)
}

// Append appends the entry to its queue, or refuses it. It reports whether the writer is to be
// notified.
func (x *Entry) Append() (tell bool) {
	p := &x.J.Ports[x.Dst]
	x.refused = !p.append(x)
	p.events++
	p.concern()
	return x.refused || x.flags&device.Quiet == 0
}

func (p *Port) append(x *Entry) bool {
	if p.ended || x.key >= device.Key(len(p.queues)) || p.queues[x.key] == nil {
		return false
	}
	r := p.queues[x.key]
	used := r.used + len(x.Data) + device.EntryOverhead
	if used > r.size || r.refusing[x.Src] && x.flags&device.Retry == 0 {
		r.refusing[x.Src] = true
		return false
	}
	r.refusing[x.Src] = false
	x.Head = device.Head{} // until here it has said what is under way
	r.used = used
	if x.next = nil; r.first == nil {
		r.first = x
	} else {
		r.last.next = x
	}
	r.last = x
	return true
}

// Completion returns the packet that tells the writer whether the entry was accepted; the packet is
// used when it Arrives.
func (x *Entry) Completion() *Packet {
	pk := x.J.newPacket(int32(x.Src), int32(x.Src), &x.done, nil)
	pk.local, pk.Refused = true, x.refused
	x.J.Probe.Finishes(nil, pk)
	if x.refused {
		x.free()
	}
	return pk
}

// free takes back an entry that is in no queue.
func (x *Entry) free() {
	j := x.J
	j.Release(x.Packet)
	x.Packet = nil
	x.next, j.entries = j.entries, x
}

func (q queue) First(k device.Key) *device.Packet {
	q.Pay()
	q.deliver()
	r := q.own(k)
	if r.first == nil {
		q.again(&q.loads, freeReadings)
		return nil
	}
	if !r.seen {
		r.seen = true
		q.remoteTo(int(q.ID)).Dequeue(q.Port)
	}
	return &r.first.Packet.Packet
}

func (q queue) Refusing(k device.Key) bool {
	for _, refusing := range q.own(k).refusing {
		if refusing {
			return true
		}
	}
	return false
}

func (q queue) Drop(k device.Key) {
	r := q.own(k)
	x := r.first
	if x == nil {
		panic(fmt.Sprintf("hw: drop from queue %d of rank %d, which is empty", k, q.ID))
	}
	r.first, r.seen = x.next, false
	r.used -= len(x.Data) + device.EntryOverhead
	x.free()
}
