// Package shmem is what a message-passing library needs of a machine with one-sided communication,
// in the manner of the Cray T3D's SHMEM: processing elements (PEs) write each other's memory (put),
// increment each other's register (fetch-and-increment), and wait for words that others write.
//
// Where the machine has remote memory, counters and a wait for memory, these are used. Elsewhere
// the other PE carries out what packets ask of it, in its calls: a PE that computes does not.
//
// PEs have symmetric memory: a block of the same length in each, zero at first. Other memory is
// written under the key that its owner has exposed it by.
package shmem

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// PE is a processing element: one rank of a job. Its methods are for the rank's program alone.
type PE struct {
	port          device.Port
	rank, peCount int
	memory        device.Memory // nil: packets do what it would
	counters      device.Counters
	watch         device.Watch
	barrier       device.Barrier // nil: by words in symmetric memory

	symmetric       device.Key
	symmetricMemory []byte       // barrier words, then what the user asked for
	symmetricKeys   []device.Key // of the blocks of all PEs; nil: as the PE's own
	openPuts        int          // of user's bytes that are under way
	words           [device.MaxWordsOfPutWithoutCompletion * 8]byte
	barrierCount    uint64 // barriers that were begun

	exposed           device.Regions // without remote memory: the memory that others may write,
	register          int64          // the register,
	handledPackets    uint64         // how many packets were handled,
	answer            int64          // and the answer to a fetch-and-increment,
	hasAnswer         bool           // if it has come
	answerDestination []byte         // for what was asked of another's memory
	packet            device.Packet
	reply             device.Packet
}

// barrierRounds is the largest number of rounds of a barrier. Each round has a word in front of the
// symmetric memory.
const (
	barrierRounds   = 32
	symmetricOffset = barrierRounds * 8
)

// kinds of packets
const (
	kindPut       = iota + 1 // key and offset: write the data
	kindIncrement            // fetch-and-increment
	kindFetched              // its answer
	kindSetup                // keys of symmetric memory
	kindCompleted            // a put or get has ended
	kindGet                  // key, offset and length: answer with the data
	kindGetReply             // the answer
)

// minPlacedBytes is the least data that a port may put into memory before its packet is received.
// Words that announce data are shorter, so they come after it.
const minPlacedBytes = 256

// Run runs a program on all ranks of a world, with as much symmetric memory as bytes says for their
// number.
func Run(w device.World, bytes func(ranks int) int, program func(*PE) error) error {
	return w.Run(func(p device.Port) error {
		e := NewPE(p, bytes(p.Size()))
		e.Barrier(nil)
		err := program(e)
		if err == nil {
			e.Barrier(nil) // others may need the PE until then
		}
		return err
	})
}

// NewPE begins shared memory on a port. All ranks of the job call it, with the same number of bytes
// of symmetric memory, before they use the port otherwise.
func NewPE(p device.Port, bytes int) *PE {
	e := &PE{port: p, rank: p.Rank(), peCount: p.Size(), symmetricMemory: make([]byte, symmetricOffset+bytes)}
	if m, c, w := p.Memory(), p.Counters(), p.Watch(); m != nil && c != nil && w != nil {
		e.memory, e.counters, e.watch, e.barrier = m, c, w, p.Barrier()
		e.symmetric = m.Expose(e.symmetricMemory)
		e.exchangeKeys()
		return e
	}
	e.symmetric = e.exposed.Expose(e.symmetricMemory)
	if x, ok := p.(device.DirectPlacer); ok {
		x.SetPlacement(e.placeData)
	}
	return e
}

// Rank returns the number of the PE, from 0.
func (e *PE) Rank() int { return e.rank }

// Size returns how many PEs there are.
func (e *PE) Size() int { return e.peCount }

// Now returns the PE's clock.
func (e *PE) Now() unit.Time { return e.port.Now() }

// Compute keeps the processor busy for d.
func (e *PE) Compute(d unit.Time) { e.port.Delay(d) }

// HasRemoteMemory reports whether the machine carries out puts and fetch-and-increments itself.
func (e *PE) HasRemoteMemory() bool { return e.memory != nil }

// exchangeKeys tells all PEs the keys of all, in rounds in which the number of known keys doubles
// (Bruck et al. 1997, section 3).
func (e *PE) exchangeKeys() {
	n := e.peCount
	known := make([]byte, 8*n) // of the PEs from this one on
	binary.NativeEndian.PutUint64(known, uint64(e.symmetric))
	early := map[int][]byte{}
	for d := 1; d < n; d *= 2 {
		more := 8 * min(d, n-d)
		e.port.Send((e.rank-d+n)%n, &device.Packet{Head: device.Head{kindSetup}, Data: known[:more]})
		for from := (e.rank + d) % n; early[from] == nil; {
			q := e.port.Recv(true)
			early[q.Src] = append([]byte{}, q.Data...)
		}
		copy(known[8*d:], early[(e.rank+d)%n])
	}
	keys, alike := make([]device.Key, n), true
	for i := range n {
		k := device.Key(binary.NativeEndian.Uint64(known[8*i:]))
		keys[(e.rank+i)%n] = k
		alike = alike && k == e.symmetric
	}
	if !alike {
		e.symmetricKeys = keys
	}
}

// Expose lets others put into b by the key that it returns, until Withdraw.
func (e *PE) Expose(b []byte) device.Key {
	if e.memory != nil {
		return e.memory.Expose(b)
	}
	return e.exposed.Expose(b)
}

// Withdraw ends that.
func (e *PE) Withdraw(k device.Key) {
	if e.memory != nil {
		e.memory.Withdraw(k)
	} else if !e.exposed.Withdraw(k) {
		panic(fmt.Sprintf("shmem: withdraw of memory %#x that PE %d does not expose", k, e.rank))
	}
}

// Put starts to write b to offset off of what dst has exposed as k. The bytes belong to the PE
// until Quiet. Puts to one PE take effect in the order in which they were started.
func (e *PE) Put(dst int, k device.Key, off int, b []byte) {
	if len(b) == 0 {
		return
	}
	if e.memory == nil {
		e.sendRequest(dst, device.Head{kindPut, uint64(k), uint64(off)}, b)
		return
	}
	e.openPuts++
	e.memory.Put(dst, k, off, b, device.Head{kindCompleted})
}

// PutSymmetric is Put to offset off of the symmetric memory of dst.
func (e *PE) PutSymmetric(dst, off int, b []byte) {
	e.Put(dst, e.symmetricKey(dst), symmetricOffset+off, b)
}

// GetSymmetric reads offset off of the symmetric memory of src into b, and blocks until the data
// has arrived.
func (e *PE) GetSymmetric(src, off int, b []byte) {
	if len(b) == 0 {
		return
	}
	if e.memory != nil {
		e.Quiet()
		e.openPuts++
		e.memory.Get(src, e.symmetricKey(src), symmetricOffset+off, b, device.Head{kindCompleted})
		e.Quiet()
		return
	}
	e.answerDestination, e.hasAnswer = b, false
	e.sendRequest(src, device.Head{kindGet, uint64(symmetricOffset + off), uint64(len(b))}, nil)
	for !e.hasAnswer {
		e.handlePacket(e.port.Recv(true))
	}
}

// PutWords puts up to four words to offset off of the symmetric memory of dst. They are there all
// at once, or the first at least as early as the last. The words are taken when it returns.
func (e *PE) PutWords(dst, off int, words ...uint64) { e.putWords(dst, symmetricOffset+off, words...) }

func (e *PE) putWords(dst, off int, words ...uint64) {
	b := e.words[:0]
	for _, w := range words {
		b = binary.NativeEndian.AppendUint64(b, w)
	}
	if e.memory == nil {
		e.sendRequest(dst, device.Head{kindPut, uint64(e.symmetric), uint64(off)}, b)
		return
	}
	e.memory.Put(dst, e.symmetricKey(dst), off, b, device.NoCompletion)
}

// symmetricKey returns the key of the symmetric memory of a PE.
func (e *PE) symmetricKey(dst int) device.Key {
	if e.symmetricKeys == nil {
		return e.symmetric
	}
	return e.symmetricKeys[dst]
}

// Quiet waits until all puts of bytes have taken effect and their bytes may be used again. Without
// remote memory they may only be used again.
func (e *PE) Quiet() {
	for e.openPuts > 0 {
		e.handlePacket(e.port.Recv(true))
	}
}

// FetchAndIncrement increments the register of dst by one and returns what was there.
func (e *PE) FetchAndIncrement(dst int) int64 {
	switch {
	case e.memory != nil:
		return e.counters.FetchAndAddRegister(dst, 0, 1)
	case dst == e.rank:
		e.register++
		return e.register - 1
	}
	e.sendRequest(dst, device.Head{kindIncrement}, nil)
	for e.hasAnswer = false; !e.hasAnswer; {
		e.handlePacket(e.port.Recv(true))
	}
	return e.answer
}

// ResetRegister sets the PE's own register to 0.
func (e *PE) ResetRegister() {
	if e.memory != nil {
		e.counters.FetchAndStoreRegister(e.rank, 0, 0)
		return
	}
	e.register = 0
}

// Symmetric returns the PE's own symmetric memory. Use Load to read a word that other PEs may be
// writing.
func (e *PE) Symmetric() []byte { return e.symmetricMemory[symmetricOffset:] }

// LoadWord returns a word of the PE's own symmetric memory. Data that was put before that word has
// arrived as well.
func (e *PE) LoadWord(off int) uint64 { return e.loadWord(symmetricOffset + off) }

func (e *PE) loadWord(off int) uint64 {
	if e.memory != nil {
		return e.watch.LoadWord(e.symmetric, off)
	}
	return binary.NativeEndian.Uint64(e.symmetricMemory[off:])
}

// StoreWord writes a word of the PE's own symmetric memory.
func (e *PE) StoreWord(off int, word uint64) {
	binary.NativeEndian.PutUint64(e.symmetricMemory[symmetricOffset+off:], word)
}

// EventCount returns how many events the PE has seen, for Wait: puts that took effect, above all.
func (e *PE) EventCount() uint64 {
	if e.memory != nil {
		return e.watch.EventCount()
	}
	return e.handledPackets
}

// WaitForEvent waits until there are more events than seen, as device.Watch does.
func (e *PE) WaitForEvent(seen uint64) {
	if e.memory != nil {
		e.watch.WaitForEvent(seen, device.Forever)
		return
	}
	for e.handledPackets == seen {
		e.handlePacket(e.port.Recv(true))
	}
}

// WaitForWordChange waits until a word of the PE's own symmetric memory is not old, and returns it.
func (e *PE) WaitForWordChange(off int, old uint64) uint64 {
	if e.memory != nil {
		return device.WaitForWordChange(e.watch, e.symmetric, symmetricOffset+off, old)
	}
	for e.LoadWord(off) == old {
		e.WaitForEvent(e.handledPackets)
	}
	return e.LoadWord(off)
}

// maxPolledPacketsPerPE is how many packets of each PE a call that does not wait takes in at most:
// what a message of ACLMPL has. PEs that try a fetch-and-increment again and again may ask faster
// than they can be answered.
const maxPolledPacketsPerPE = 4

// PollPackets takes in what has come, for loops that do not wait.
func (e *PE) PollPackets() {
	for range maxPolledPacketsPerPE * e.peCount {
		q := e.port.Recv(false)
		if q == nil {
			return
		}
		e.handlePacket(q)
	}
}

// Barrier returns when all PEs have called it (Hensgen, Finkel and Manber 1988: dissemination).
// While it waits it calls idle after each event, unless that is nil. It is Quiet, too.
func (e *PE) Barrier(idle func()) {
	e.Quiet()
	if e.barrier != nil {
		e.barrier.ArriveAtBarrier()
		e.waitUntil(idle, e.barrier.IsBarrierReleased)
		return
	}
	e.barrierCount++
	for r := range bits.Len(uint(e.peCount - 1)) {
		e.putWords((e.rank+1<<r)%e.peCount, 8*r, e.barrierCount)
		e.waitUntil(idle, func() bool { return e.loadWord(8*r) >= e.barrierCount }) // the other may be in the next barrier
	}
}

// waitUntil waits until something is so. Meanwhile it calls idle, if that is not nil.
func (e *PE) waitUntil(idle func(), so func() bool) {
	for {
		seen := e.EventCount()
		if idle != nil {
			idle()
		}
		if so() {
			return
		}
		e.WaitForEvent(seen)
	}
}

// sendRequest sends a packet that a PE is to carry out, or does so itself.
func (e *PE) sendRequest(dst int, h device.Head, b []byte) {
	e.packet = device.Packet{Src: e.rank, Head: h, Data: b}
	if dst == e.rank {
		e.handlePacket(&e.packet)
		return
	}
	e.port.Send(dst, &e.packet)
}

// handlePacket does what a packet asks for, or notes what it tells.
func (e *PE) handlePacket(q *device.Packet) {
	if q.Refused {
		panic(fmt.Sprintf("shmem: PE %d put to memory that is not exposed", e.rank))
	}
	switch q.Head[0] {
	case kindCompleted:
		e.openPuts--
	case kindPut:
		e.handledPackets++
		there, ok := e.exposed.Access(device.Key(q.Head[1]), int(q.Head[2]), len(q.Data))
		if !ok {
			panic(fmt.Sprintf("shmem: PE %d put to memory that PE %d does not expose", q.Src, e.rank))
		}
		if len(there) > 0 && &there[0] != &q.Data[0] { // else the port has put it there
			copy(there, q.Data)
		}
	case kindIncrement:
		e.reply.Head = device.Head{kindFetched, uint64(e.register)}
		e.port.Send(q.Src, &e.reply)
		e.register++
	case kindGet:
		e.reply.Head, e.reply.Data = device.Head{kindGetReply}, e.symmetricMemory[q.Head[1]:][:q.Head[2]]
		if q.Src == e.rank {
			e.handlePacket(&e.reply)
		} else {
			e.port.Send(q.Src, &e.reply)
		}
		e.reply.Data = nil
	case kindGetReply:
		copy(e.answerDestination, q.Data)
		e.hasAnswer = true
	case kindFetched:
		e.answer, e.hasAnswer = int64(q.Head[1]), true
	}
}

// placeData says where the data of a packet is to be, if it is long.
func (e *PE) placeData(_ int, h *device.Head, n int) []byte {
	if h[0] != kindPut || n < minPlacedBytes {
		return nil
	}
	there, _ := e.exposed.Access(device.Key(h[1]), int(h[2]), n)
	return there
}
