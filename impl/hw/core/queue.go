package core

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// RemoteNetwork is a Network by which ranks access memory, counters, queues and signals of others.
// SendEntry has copied the bytes of an entry when it returns.
type RemoteNetwork interface {
	Network
	MaxEntryBytes() int                            // length of the longest entry in bytes
	SendEntry(p *Port, x *QueueEntry)              // charges the start of an entry, and schedules events that lead to AppendToQueue
	ChargeDequeue(p *Port)                         // charges taking an entry from a queue; the rank copies its bytes
	SendSignal(p *Port, dst int, head device.Head) // charges the start of a signal, and schedules events that lead to DeliverSignal
	ChargeSignalHandler(p *Port)                   // charges entering and leaving a handler
}

// EnableMemoryCountersQueuesAndSignals gives the ranks of the job the capabilities of a
// RemoteNetwork.
func (j *Job) EnableMemoryCountersQueuesAndSignals() {
	j.hasRemoteMemory, j.hasCounters, j.hasQueuesAndSignals, j.hasWatch = true, true, true, true
}

// remoteNetworkTo returns the network by which a rank accesses the memory of another.
func (p *Port) remoteNetworkTo(rank int) RemoteNetwork { return p.networkTo(rank).(RemoteNetwork) }

// QueueEntry is an entry under way to a queue, or in it.
type QueueEntry struct {
	*Packet              // has the bytes; Src and Dst are the writer and the owner of the queue
	queueKey             device.Key
	enqueueFlags         device.EnqueueFlags
	completionPacketHead device.Head
	isRefused            bool
	nextEntry            *QueueEntry
}

// queueTable has the queues of a rank by key. Keys are not reused.
type queueTable []*entryQueue // nil: destroyed

// entryQueue is a queue in the memory of its rank.
type entryQueue struct {
	capacityBytes, usedBytes int
	first, last              *QueueEntry
	writerMustRetry          map[int]bool // by writer: an entry was refused, and no entry with Retry has been accepted since
	firstEntryCharged        bool         // taking the first entry has been charged
}

// portAsQueues implements device.Queues for a port.
type portAsQueues struct{ *Port }

// Queues implements device.Port.
func (p *Port) Queues() device.Queues {
	if !p.Job.hasQueuesAndSignals {
		return nil
	}
	return portAsQueues{p}
}

func (q portAsQueues) MaxEntryBytes() int { return q.remoteNetworkTo(int(q.ID)).MaxEntryBytes() }

func (q portAsQueues) Create(size int) device.Key {
	q.queues = append(q.queues, &entryQueue{capacityBytes: size, writerMustRetry: map[int]bool{}})
	return device.Key(len(q.queues) - 1)
}

func (q portAsQueues) Destroy(k device.Key) {
	q.ownQueue(k)
	q.queues[k] = nil
}

// ownQueue returns a queue of this rank.
func (q portAsQueues) ownQueue(k device.Key) *entryQueue {
	if k >= device.Key(len(q.queues)) || q.queues[k] == nil {
		panic(fmt.Sprintf("hw: rank %d has no queue %d", q.ID, k))
	}
	return q.queues[k]
}

func (q portAsQueues) Enqueue(dst int, k device.Key, b []byte, flags device.EnqueueFlags, done device.Head) {
	q.checkRank(dst)
	net := q.remoteNetworkTo(dst)
	if len(b) > net.MaxEntryBytes() {
		panic(fmt.Sprintf("hw: an entry of %d bytes: %d at most", len(b), net.MaxEntryBytes()))
	}
	x := q.freeEntries
	if x == nil {
		x = new(QueueEntry)
	} else {
		q.freeEntries = x.nextEntry
	}
	*x = QueueEntry{Packet: q.newPacket(q.ID, int32(dst), &done, b), queueKey: k, enqueueFlags: flags, completionPacketHead: done}
	x.Network = net
	net.SendEntry(q.Port, x)
}

// AppendToQueue appends the entry to its queue or refuses it. It reports whether the writer must be
// notified.
func (x *QueueEntry) AppendToQueue() (tell bool) {
	p := &x.Job.Ports[x.Dst]
	x.isRefused = !p.appendEntry(x)
	p.watchEventCount++
	p.resumeForChange()
	return x.isRefused || x.enqueueFlags&device.CompleteOnlyIfRefused == 0
}

func (p *Port) appendEntry(x *QueueEntry) bool {
	if p.hasProgramEnded || x.queueKey >= device.Key(len(p.queues)) || p.queues[x.queueKey] == nil {
		return false
	}
	r := p.queues[x.queueKey]
	used := r.usedBytes + len(x.Data) + device.EntryOverhead
	if used > r.capacityBytes || r.writerMustRetry[x.Src] && x.enqueueFlags&device.RetryAfterRefusal == 0 {
		r.writerMustRetry[x.Src] = true
		return false
	}
	r.writerMustRetry[x.Src] = false
	x.Head = device.Head{} // it described the transfer until now
	r.usedBytes = used
	if x.nextEntry = nil; r.first == nil {
		r.first = x
	} else {
		r.last.nextEntry = x
	}
	r.last = x
	return true
}

// NewCompletion returns a packet that tells the writer whether the entry was accepted. It is valid
// when it Arrives.
func (x *QueueEntry) NewCompletion() *Packet {
	pk := x.Job.newPacket(int32(x.Src), int32(x.Src), &x.completionPacketHead, nil)
	pk.isCompletion, pk.Refused, pk.polledBy = true, x.isRefused, nil
	x.Job.Probe.CompletionReported(nil, pk)
	if x.isRefused {
		x.recycle()
	}
	return pk
}

// recycle makes an entry that is in no queue available for reuse.
func (x *QueueEntry) recycle() {
	j := x.Job
	j.ReleasePacket(x.Packet)
	x.Packet = nil
	x.nextEntry, j.freeEntries = j.freeEntries, x
}

func (q portAsQueues) First(k device.Key) *device.Packet {
	q.ElapseCharges()
	q.runSignalHandler()
	r := q.ownQueue(k)
	if r.first == nil {
		q.throttlePolling(&q.loadThrottle, maxPollsWithoutTime)
		return nil
	}
	if !r.firstEntryCharged {
		r.firstEntryCharged = true
		q.remoteNetworkTo(int(q.ID)).ChargeDequeue(q.Port)
	}
	return &r.first.Packet.Packet
}

func (q portAsQueues) IsRefusing(k device.Key) bool {
	for _, refusing := range q.ownQueue(k).writerMustRetry {
		if refusing {
			return true
		}
	}
	return false
}

func (q portAsQueues) RemoveFirst(k device.Key) {
	r := q.ownQueue(k)
	x := r.first
	if x == nil {
		panic(fmt.Sprintf("hw: drop from queue %d of rank %d, which is empty", k, q.ID))
	}
	r.first, r.firstEntryCharged = x.nextEntry, false
	r.usedBytes -= len(x.Data) + device.EntryOverhead
	x.recycle()
}
