package device

// None is the optional capabilities of a port that has none. A port embeds it and implements the
// accessors of what it has, so that a new capability leaves the other ports as they are.
type None struct{}

// Memory implements Port, as do the others.
func (None) Memory() Memory   { return nil }
func (None) Counter() Counter { return nil }

// Key names memory that a rank has exposed.
type Key uint64

// Memory reads and writes the memory of other ranks without their help, while they compute.
//
// Put and Get only start an access. When it has ended, Recv returns its completion: a packet from
// the rank itself with the head done and no data. Then the bytes are at the other side (Put) or in
// the local buffer (Get); until then the local and the remote bytes must not be changed.
//
// Order: puts of one rank to another take effect in the order in which they were started: when any
// byte of a put is there, all bytes of earlier ones are. Gets and completions have no order. A packet
// that is sent after a put was found complete arrives after its bytes.
//
// Errors: an access outside of exposed memory is refused. Its completion says so in Refused, nothing
// is transferred, and other accesses are not affected. An access that is under way when its memory
// is withdrawn is carried out or refused, as a whole.
type Memory interface {
	// Expose lets other ranks access b under the key that it returns, until Withdraw. b may be empty.
	// All keys of a rank differ, and a key names nothing after Withdraw.
	Expose(b []byte) Key

	// Withdraw ends that. To withdraw what is not exposed panics.
	Withdraw(k Key)

	// Put writes b to offset off of the memory that dst exposed as k. Get reads from there into b.
	// dst may be the rank itself.
	Put(dst int, k Key, off int, b []byte, done Head)
	Get(dst int, k Key, off int, b []byte, done Head)
}

// Counters is how many counters each rank has.
const Counters = 2

// Counter is a set of 64-bit registers in every rank, Counters each, zero at first. Both operations
// are atomic, on all ranks' registers alike, and wait for the answer. They need no help of dst.
type Counter interface {
	// Add adds delta to register r of rank dst and returns what was there: fetch-and-add.
	Add(dst, r int, delta int64) int64

	// Swap writes value to the register and returns what was there. A reset by Swap loses no Add:
	// each is counted before it or after it.
	Swap(dst, r int, value int64) int64
}
