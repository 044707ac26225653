package device

import "github.com/loggp/loggp/model/unit"

// NoCapabilities has the accessors of a port without optional capabilities. A port embeds it and
// implements the accessors of what it has, so that a new capability leaves the other ports as they
// are.
type NoCapabilities struct{}

// Memory implements Port, as do the others.
func (NoCapabilities) Memory() Memory     { return nil }
func (NoCapabilities) Counters() Counters { return nil }
func (NoCapabilities) Watch() Watch       { return nil }
func (NoCapabilities) Queues() Queues     { return nil }
func (NoCapabilities) Signal() Signal     { return nil }
func (NoCapabilities) Channel() Channel   { return nil }
func (NoCapabilities) Datagram() Datagram { return nil }
func (NoCapabilities) Barrier() Barrier   { return nil }
func (NoCapabilities) Control() Control   { return nil }
func (NoCapabilities) Storage() Storage   { return nil }

// NoCompletion is the head of a put without a completion. The put has at most
// MaxWordsOfPutWithoutCompletion 8-byte words, which the port has copied when Put returns. A
// completion with this head arrives only if the put is refused.
var NoCompletion = Head{^uint64(0)}

// MaxWordsOfPutWithoutCompletion is how many words a put without a completion has at most, unless
// the memory is a PutWithoutCompletionLimiter.
const MaxWordsOfPutWithoutCompletion = 4

// PutWithoutCompletionLimiter is a Memory whose puts without a completion may be longer than
// MaxWordsOfPutWithoutCompletion.
type PutWithoutCompletionLimiter interface {
	Memory

	// MaxPutWithoutCompletion returns how many bytes such a put has at most.
	MaxPutWithoutCompletion() int
}

// MaxPutWithoutCompletion returns how many bytes a put without a completion has at most.
func MaxPutWithoutCompletion(m Memory) int {
	if t, ok := m.(PutWithoutCompletionLimiter); ok {
		return t.MaxPutWithoutCompletion()
	}
	return 8 * MaxWordsOfPutWithoutCompletion
}

// Key names memory that a rank has exposed, or one of its queues.
type Key uint64

// Memory reads and writes the memory of other ranks without their help, while they compute.
//
// Put and Get only start an access. When it has ended, Recv returns its completion: a packet from
// the rank itself with the head done and no data. Then the bytes are at the other side (Put) or in
// the local buffer (Get); until then the local and the remote bytes must not be changed. The head
// NoCompletion is for puts of a few words.
//
// Order: puts of one rank to another take effect in the order in which they were started: when any
// byte of a put is there, all bytes of earlier ones are. Gets and completions have no order. A
// packet that is sent after a put was found complete arrives after its bytes.
//
// Errors: an access outside of exposed memory is refused. Its completion says so in Refused,
// nothing is transferred, and other accesses are not affected. An access that is under way when its
// memory is withdrawn is carried out or refused, as a whole.
type Memory interface {
	// Expose lets other ranks access b under the key that it returns, until Withdraw. b may be
	// empty. All keys of a rank differ, and a key names nothing after Withdraw.
	Expose(b []byte) Key

	// Withdraw ends the exposure. It panics if k is not exposed.
	Withdraw(k Key)

	// Put writes b to offset off of the memory that dst exposed as k. Get reads from there into b.
	// dst may be the rank itself.
	Put(dst int, k Key, off int, b []byte, done Head)
	Get(dst int, k Key, off int, b []byte, done Head)
}

// AtomicMemory is a Memory in whose 64-bit words the machine can execute atomic operations without
// the help of the rank that exposes them, one after the other. Words are aligned, and in the byte
// order of the processor. Operations wait for the answer; refused is true where the word is not
// exposed, and nothing has changed.
type AtomicMemory interface {
	Memory

	// HasAtomics reports whether the machine executes them. If not, the methods must not be called.
	HasAtomics() bool

	// FetchAndAddWord adds delta to a word and returns its value before.
	FetchAndAddWord(dst int, k Key, off int, delta uint64) (old uint64, refused bool)

	// CompareAndSwapWord sets a word that equals compare to value, and returns its value before.
	CompareAndSwapWord(dst int, k Key, off int, compare, value uint64) (old uint64, refused bool)
}

// Atomics returns a memory as one with atomic operations, or nil if it has none.
func Atomics(m Memory) AtomicMemory {
	if a, ok := m.(AtomicMemory); ok && a.HasAtomics() {
		return a
	}
	return nil
}

// CountersPerRank is how many counters each rank has.
const CountersPerRank = 2

// Counters is a set of 64-bit registers in every rank, CountersPerRank each, zero at first. Both
// operations are atomic, on all ranks' registers alike, and wait for the answer. They need no help
// of dst.
type Counters interface {
	// FetchAndAddRegister adds delta to register r of rank dst and returns its value before.
	FetchAndAddRegister(dst, r int, delta int64) int64

	// FetchAndStoreRegister writes value to register r of rank dst and returns its value before. A
	// reset by FetchAndStoreRegister loses no FetchAndAddRegister: each is counted before it or
	// after it.
	FetchAndStoreRegister(dst, r int, value int64) int64
}

// Watch lets a rank wait until something happens to it, whatever it is, and read what others write.
//
// The events of a rank are: a packet arrives for it, a completion included; a put to its memory or
// an entry for one of its queues takes effect; a message or a datagram arrives; a message that
// Channel.Send has refused may be taken now; a handler of a signal returns.
//
// No wake-up is lost: a rank reads EventCount, looks at what it waits for, and waits for more
// events than it has read. WaitForWordChange is such a loop. In virtual time, Wait returns when a
// loop that polls (LoadWord, Recv(false), Queues.First, Channel.Recv) would first have seen the
// event, and both cost the same.
type Watch interface {
	// EventCount returns how many events the rank has had. Several at once may count as one. A loop
	// of EventCount sees them.
	EventCount() uint64

	// WaitForEvent blocks until there are more events than seen, or until the rank's clock reaches
	// deadline, and reports whether there are more. A deadline that has passed does not block.
	WaitForEvent(seen uint64, deadline unit.Time) bool

	// LoadWord returns the 64-bit word at offset off of the memory that the rank itself exposes as
	// k, in the byte order of the processor. A word that was put as a whole is read as a whole, and
	// when it is read all bytes of its put are there. A loop of calls sees what others write.
	// LoadWord panics if the word is not exposed.
	LoadWord(k Key, off int) uint64
}

// WordWaiter is a Watch that looks at a word itself each time that something happens to the rank.
type WordWaiter interface {
	Watch

	// WaitForWordChange does what the function WaitForWordChange does, in the same time.
	WaitForWordChange(k Key, off int, old uint64) uint64
}

// WaitForWordChange waits until a word is not old, and returns it. The word is that of
// w.LoadWord(k, off).
func WaitForWordChange(w Watch, k Key, off int, old uint64) uint64 {
	if x, ok := w.(WordWaiter); ok {
		return x.WaitForWordChange(k, off, old)
	}
	for {
		seen := w.EventCount()
		if word := w.LoadWord(k, off); word != old {
			return word
		}
		w.WaitForEvent(seen, Forever)
	}
}

// EntryOverhead is how many bytes of a queue an entry takes besides its own.
const EntryOverhead = 8

// EnqueueFlags change what Enqueue does.
type EnqueueFlags uint8

// The flags of Enqueue.
const (
	RetryAfterRefusal     EnqueueFlags = 1 << iota // append though an earlier entry of this writer was refused
	CompleteOnlyIfRefused                          // send a completion only if the entry is refused
)

// Queues is rings in the memory of their receivers, into which other ranks append entries without
// help and which refuse what does not fit.
//
// Order: the entries of one writer are in a queue in the order in which they were started, and so
// are an entry and the puts of its writer to the same rank: a put that was started before the entry
// is there when the entry is. Entries of different writers are in any order. The completions of a
// writer's entries for one queue come in the order of the entries.
//
// Refusal: an entry is refused if it does not fit into the free room, if the queue does not exist,
// or if the queue has refused an entry of the same writer and none with RetryAfterRefusal has been
// taken since. So a writer may start many entries without waiting for their completions: those that
// are taken are always the first, without gaps, and it starts the others again, the first of them
// with RetryAfterRefusal. A machine may refuse an entry for a while though there is room.
type Queues interface {
	// MaxEntryBytes returns the length of the longest entry.
	MaxEntryBytes() int

	// Create makes a queue of this rank, with room for entries whose bytes, with EntryOverhead more
	// for each, are at most size. All keys of a rank's queues differ, and a key names nothing after
	// Destroy. Destroy panics if k is no queue.
	Create(size int) Key
	Destroy(k Key)

	// Enqueue starts to append b to the queue k of rank dst, which may be the rank itself. The port
	// has taken b when Enqueue returns. A completion with the head done is received as that of a
	// put; it says in Refused whether the entry was refused. If b is longer than its limit, Enqueue
	// panics.
	Enqueue(dst int, k Key, b []byte, flags EnqueueFlags, done Head)

	// First returns the oldest entry of the rank's own queue k, or nil if it is empty: a packet
	// with its writer and bytes, and no head. It does not wait, and a loop of Firsts sees what
	// arrives. The entry is read-only and stays until Drop removes it and frees its room.
	First(k Key) *Packet
	RemoveFirst(k Key)

	// IsRefusing reports whether the rank's own queue k has refused an entry of a writer, and taken
	// none with RetryAfterRefusal since. A refusal is an event of Watch.
	IsRefusing(k Key) bool
}

// Signal runs a handler at another rank, even if that rank computes or waits.
//
// Handlers of a rank run one at a time, those of one sender in the order of its calls. Each runs
// once, in a goroutine of its own or in one of the port's calls, beside the rank's program. So the
// program masks signals while it uses what its handler uses.
//
// A handler may call Rank, Size, Now, Spend, Copy, Send, Put, Enqueue and RaiseAt of its port, and
// none that waits or receives. It does not end the wait of Recv; Watch.Wait sees its return as an
// event.
type Signal interface {
	// SetHandler sets the handler. Signals that come before it is set wait for it.
	SetHandler(handler func(src int, head Head))

	// RaiseAt runs the handler of rank dst, which may be the rank itself, and does not wait for it.
	// A signal comes in its turn among the puts and entries of its sender to the same rank: those
	// that were started before are there when the handler runs. A signal to a rank whose program
	// has ended is dropped.
	RaiseAt(dst int, head Head)

	// Mask keeps the handler from running. Mask(true) waits until it does not run; from then on
	// signals wait. Mask(false) runs those that have waited, and returns then.
	Mask(on bool)
}

// Priority is one of the two lanes of a Channel.
type Priority uint8

// The priorities.
const (
	LowPriority Priority = iota
	HighPriority
	NumPriorities
)

// Channel carries short messages in two priorities, which share no room: low messages that are not
// received do not hold up high ones.
//
// Order: messages of one rank to another with the same priority arrive in the order of Send, once
// each and unchanged. There is no order between the priorities, nor between messages and packets.
type Channel interface {
	// MaxMessageBytes returns the length of the longest message.
	MaxMessageBytes() int

	// Send sends b and returns true, or returns false if there is no room now: then nothing was
	// sent, and an event of the rank says when it may succeed. It does not wait. The port has taken
	// b when Send returns. A message to a rank whose program has ended is dropped. If b is longer
	// than MaxMessageBytes, Send panics.
	Send(dst int, p Priority, b []byte) bool

	// Recv takes the next message of a priority, or returns nil if there is none: a packet with its
	// sender and bytes, and no head. It does not wait, and a loop of Recvs sees what comes. The
	// packet is read-only and valid until the next Recv of this priority.
	Recv(p Priority) *Packet
}

// Datagram carries datagrams, to one rank or to all members of a group. A datagram arrives
// unchanged and from its sender, if it arrives: it may be lost, arrive twice, or in another order.
// A datagram that is sent again and again arrives some time. Nothing waits for room; what does not
// fit is lost.
type Datagram interface {
	// MaxDatagramBytes returns the length of the longest datagram.
	MaxDatagramBytes() int

	// Send sends b to a rank, which may be the rank itself. The port has taken b when Send returns.
	// If b is longer than MaxDatagramBytes, Send panics.
	Send(dst int, b []byte)

	// MaxGroups returns how many groups a rank may be a member of at a time. It is 0 where there is
	// no multicast.
	MaxGroups() int

	// Join makes the rank a member of a group, and reports false if it is one of Groups others
	// already. A datagram that is sent to the group from then on may arrive. None that is
	// sent after Leave does. To join or leave twice is as once.
	Join(group uint32) bool
	Leave(group uint32)

	// Multicast sends b to all other members of a group; it may reach each of them or not. The
	// sender need not be a member. The use of b is as in Send.
	Multicast(group uint32, b []byte)

	// Recv takes the next datagram: a packet with its sender and bytes, and no head. If there is
	// none, it waits until the rank's clock reaches deadline and then returns nil; a deadline that
	// has passed does not block. The packet is read-only and valid until the next Recv.
	Recv(deadline unit.Time) *Packet
}

// Storage is the file system of an emulated machine, which all ranks share. Where time is real,
// files take their own.
type Storage interface {
	// AccessFile takes the time of an access to a file with n bytes, behind the accesses that have
	// begun before. The processor waits.
	AccessFile(n int)
}

// Barrier is a barrier of all ranks of the job. A rank may do something else between its arrival
// and the opening, and arrives again only when it has passed.
type Barrier interface {
	// ArriveAtBarrier says that the rank has come to its next barrier. It does not wait.
	ArriveAtBarrier()

	// IsBarrierReleased reports whether all ranks have come to the barrier that this rank has come
	// to last. That they have is an event of the rank (Watch). It does not wait, and a loop of
	// calls sees it.
	IsBarrierReleased() bool
}

// Control is a network beside that of packets. It broadcasts words to all ranks and combines words
// of all ranks, like the control network of the CM-5. All ranks make the same calls in the same
// order.
type Control interface {
	// MaxWords returns the most words of a broadcast.
	MaxWords() int

	// Broadcast copies the words of rank root to words at every other rank, which has the same
	// number. It returns when the rank has them; root may have to wait until earlier ones were
	// taken.
	Broadcast(root int, words []uint32)

	// Combine combines a word of each rank, and returns the result when all have called it.
	Combine(op Combination, word uint32) uint32
}

// Combination is an operation of Control.Combine. All are associative and commutative.
type Combination uint8

// The combinations.
const (
	CombineAdd Combination = iota
	CombineMax
	CombineOr
	CombineXor
)

// Combine combines two words.
func (c Combination) Combine(a, b uint32) uint32 {
	switch c {
	case CombineMax:
		return max(a, b)
	case CombineOr:
		return a | b
	case CombineXor:
		return a ^ b
	}
	return a + b
}
