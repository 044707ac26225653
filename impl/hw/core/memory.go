package core

import (
	"encoding/binary"
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
)

// RemoteAccess is a remote read or write in progress. The data is copied when the last byte
// arrives.
type RemoteAccess struct {
	Job                         *Job
	Network                     Network // carries the access
	Src, Dst                    int32   // origin and target ranks
	IsGet                       bool
	memoryKey                   device.Key
	memoryOffset                int
	Data                        []byte // memory of the origin
	CompletionPacketHead        device.Head
	NeedsNoCompletion           bool // the origin does not wait for its completion
	isTargetNotExposed          bool
	bytesOfPutWithoutCompletion [device.MaxWordsOfPutWithoutCompletion * 8]byte // data of a short put without completion
	longPutPacket               *Packet                                         // has the data of a longer put without completion; or nil
	PolledBy                    CompletionPoller                                // charges the polling of the completion; nil: no charge
	Transit                     Transit
	nextFreeAccess              *RemoteAccess // in the list of unused accesses
}

// Memory implements device.Port.
func (p *Port) Memory() device.Memory {
	if !p.hasRemoteMemory {
		return nil
	}
	return p
}

// portAsNodeMemory is the memory of the ranks of a node, which needs no registration with an
// interface.
type portAsNodeMemory struct{ *Port }

// NodeMemory implements device.NodeMemoryPort.
func (p *Port) NodeMemory() device.Memory {
	onlyFarRegisters := p.nearNetwork != nil && p.memoryRegistrar != nil && p.farNetwork == p.memoryRegistrar
	if p.hasRemoteMemory && !onlyFarRegisters || !p.Machine.HasRemoteMemoryAt(model.IntraNode) {
		return nil
	}
	return portAsNodeMemory{p}
}

func (m portAsNodeMemory) Expose(b []byte) device.Key {
	m.AwaitStore()
	return m.exposedMemory.Expose(b)
}

// Counters implements device.Port.
func (p *Port) Counters() device.Counters {
	if !p.Job.hasCounters {
		return nil
	}
	return p
}

// Expose and the methods below implement device.Memory.
func (p *Port) Expose(b []byte) device.Key {
	p.AwaitStore()
	if p.memoryRegistrar != nil {
		p.memoryRegistrar.RegisterMemory(p, b)
	}
	return p.exposedMemory.Expose(b)
}

// Withdraw implements device.Memory.
func (p *Port) Withdraw(k device.Key) {
	p.AwaitStore()
	if !p.exposedMemory.Withdraw(k) {
		panic(fmt.Sprintf("hw: withdraw of memory %#x that rank %d does not expose", k, p.ID))
	}
}

// Put implements device.Memory.
func (p *Port) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	p.startRemoteAccess(dst, k, off, b, done, false)
}

// Get implements device.Memory.
func (p *Port) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	p.startRemoteAccess(dst, k, off, b, done, true)
}

// MaxPutWithoutCompletion implements device.PutWithoutCompletionLimiter: the system copies what it
// sends.
func (p *Port) MaxPutWithoutCompletion() int {
	if r, ok := p.farNetwork.(RemoteNetwork); ok {
		return r.MaxEntryBytes()
	}
	return 8 * device.MaxWordsOfPutWithoutCompletion
}

func (p *Port) startRemoteAccess(dst int, k device.Key, off int, b []byte, done device.Head, get bool) {
	p.checkRank(dst)
	p.resetDeadlockDetection()
	p.AwaitStore()
	x := p.freeAccesses
	if x == nil {
		x = new(RemoteAccess)
	} else {
		p.freeAccesses = x.nextFreeAccess
	}
	*x = RemoteAccess{Job: p.Job, Network: p.networkTo(dst), Src: p.ID, Dst: int32(dst), IsGet: get, memoryKey: k, memoryOffset: off, Data: b, CompletionPacketHead: done}
	if !get && done == device.NoCompletion {
		x.NeedsNoCompletion = true
		switch most := p.MaxPutWithoutCompletion(); {
		case len(b) > most:
			panic(fmt.Sprintf("hw: put of %d bytes without a completion: %d at most", len(b), most))
		case len(b) > len(x.bytesOfPutWithoutCompletion):
			x.longPutPacket = p.newPacket(p.ID, p.ID, &done, b)
			x.Data = x.longPutPacket.Data
		default:
			x.Data = x.bytesOfPutWithoutCompletion[:copy(x.bytesOfPutWithoutCompletion[:], b)]
		}
	}
	x.Network.StartAccess(p, x)
}

// CopyData copies the bytes. It fails if the target's memory is not exposed when the access
// arrives.
func (x *RemoteAccess) CopyData() {
	p := &x.Job.Ports[x.Dst]
	there, ok := p.exposedMemory.Access(x.memoryKey, x.memoryOffset, len(x.Data))
	switch {
	case !ok:
		x.isTargetNotExposed = true
	case x.IsGet:
		device.CopyBytes(x.Data, there)
	default:
		device.CopyBytes(there, x.Data)
		p.watchEventCount++
		p.resumeForChange()
	}
}

// EndsWithoutCompletion reports whether an access ends when its data has been copied, because no
// rank is notified.
func (x *RemoteAccess) EndsWithoutCompletion() bool {
	return x.NeedsNoCompletion && !x.isTargetNotExposed
}

// Complete notifies the origin that its access is complete.
func (x *RemoteAccess) Complete() {
	var pk *Packet
	if !x.EndsWithoutCompletion() {
		pk = x.Job.newPacket(x.Src, x.Src, &x.CompletionPacketHead, nil)
		pk.isCompletion, pk.Refused, pk.polledBy = true, x.isTargetNotExposed, x.PolledBy
	}
	x.Job.Probe.CompletionReported(x, pk)
	x.Data = nil
	if x.longPutPacket != nil {
		x.Job.ReleasePacket(x.longPutPacket)
		x.longPutPacket = nil
	}
	x.nextFreeAccess, x.Job.freeAccesses = x.Job.freeAccesses, x
	if pk != nil {
		pk.Arrive()
	}
}

// RegisterUpdate is an update of a register, or of a word of memory: setting it to a value, adding
// the value, or setting it if it equals another one.
type RegisterUpdate struct {
	replacesValue, comparesValue bool
	value, compared              int64
	isOfMemory                   bool
	memoryKey                    device.Key
	memoryOffset                 int
}

// apply returns a value after the update.
func (c *RegisterUpdate) apply(old int64) int64 {
	switch {
	case c.comparesValue && old != c.compared:
		return old
	case c.replacesValue:
		return c.value
	}
	return old + c.value
}

// HasAtomics implements device.AtomicMemory, as do the methods below.
func (p *Port) HasAtomics() bool { return p.Machine.HasAtomicMemory() }

// FetchAndAddWord implements device.AtomicMemory.
func (p *Port) FetchAndAddWord(dst int, k device.Key, off int, delta uint64) (uint64, bool) {
	return p.fetchAndUpdateWord(dst, RegisterUpdate{value: int64(delta), isOfMemory: true, memoryKey: k, memoryOffset: off})
}

// CompareAndSwapWord implements device.AtomicMemory.
func (p *Port) CompareAndSwapWord(dst int, k device.Key, off int, compare, value uint64) (uint64, bool) {
	return p.fetchAndUpdateWord(dst, RegisterUpdate{replacesValue: true, comparesValue: true, value: int64(value), compared: int64(compare), isOfMemory: true, memoryKey: k, memoryOffset: off})
}

func (p *Port) fetchAndUpdateWord(dst int, c RegisterUpdate) (uint64, bool) {
	p.AwaitStore()
	p.isWordRefused = false
	old := p.fetchAndUpdateRegister(dst, 0, c)
	return uint64(old), p.isWordRefused
}

// FetchAndAddRegister implements device.Counters.
func (p *Port) FetchAndAddRegister(dst, r int, delta int64) int64 {
	return p.fetchAndUpdateRegister(dst, r, RegisterUpdate{value: delta})
}

// FetchAndStoreRegister implements device.Counters.
func (p *Port) FetchAndStoreRegister(dst, r int, value int64) int64 {
	return p.fetchAndUpdateRegister(dst, r, RegisterUpdate{replacesValue: true, value: value})
}

func (p *Port) fetchAndUpdateRegister(dst, r int, c RegisterUpdate) int64 {
	p.checkRank(dst)
	p.resetDeadlockDetection()
	p.ElapseCharges()
	return p.networkTo(dst).UpdateRegister(p, dst, r, c)
}

// UpdateRegisterOf updates a register of a rank at the current time and returns the previous value.
func (p *Port) UpdateRegisterOf(dst, r int, c RegisterUpdate) int64 {
	q := &p.Ports[dst]
	if c.isOfMemory {
		return p.updateWordOf(q, c)
	}
	old := q.atomicRegisters[r]
	q.atomicRegisters[r] = c.apply(old)
	q.resumeForChange()
	return old
}

// updateWordOf updates a word of the memory that a rank exposes, and returns the previous value.
func (p *Port) updateWordOf(q *Port, c RegisterUpdate) int64 {
	there, ok := q.exposedMemory.Access(c.memoryKey, c.memoryOffset, 8)
	if !ok {
		p.isWordRefused = true
		return 0
	}
	old := int64(binary.NativeEndian.Uint64(there))
	binary.NativeEndian.PutUint64(there, uint64(c.apply(old)))
	q.watchEventCount++
	q.resumeForChange()
	return old
}
