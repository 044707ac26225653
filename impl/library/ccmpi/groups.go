package ccmpi

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/library/multicast"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// group is a multicast group of ranks of a communicator. Group is nil if the group could not be
// created, because a member is in too many others.
type group struct {
	*multicast.Group
	id      uint32
	context uint32 // of the communicator whose static group it is, or a number of its own
	members []int  // ranks of the communicator, in order
}

// groupID returns the number of a group. Two groups that have a rank in common differ in their
// contexts, and two groups of the same context differ in their first rank, so no two groups of a
// job have the same number.
func groupID(k *mpi.CollectiveCall, context uint32, first int) uint32 {
	return context*uint32(k.Port().Size()) + uint32(k.JobRank(first))
}

// createGroup creates a group of some ranks of the communicator. All ranks of the communicator call
// it; those that are not members get nil. If a member cannot join another group, Group is nil at
// all members.
func (r *rank) createGroup(k *mpi.CollectiveCall, context uint32, members []int) *group {
	member := slices.Contains(members, k.Comm().Rank())
	g := &group{id: groupID(k, context, members[0]), context: context, members: members}
	failed := byte(0)
	if member {
		world := make([]int, len(members))
		for i, m := range members {
			world[i] = k.JobRank(m)
		}
		var err error
		if g.Group, err = r.multicastPort.Open(g.id, world); err != nil {
			if !isOutOfGroups(err) {
				k.Fail(engine.ErrOther, "%v", err)
			}
			failed, g.Group = 1, nil
		}
	}
	if r.barrierWithMaximum(k, failed) > 0 { // this is also a barrier: no multicast arrives before all members have joined
		if g.Group != nil {
			g.Group.Close()
		}
		g.Group = nil
	} else if member {
		r.counts.created++
	}
	if !member {
		return nil
	}
	return g
}

// destroyGroup leaves a group, and is called by its members.
func (r *rank) destroyGroup(k *mpi.CollectiveCall, g *group) {
	if g.Group == nil {
		return
	}
	r.binomialBarrier(k, g.members, 0, nil)
	g.Group.Close()
	g.Group = nil
	r.counts.destroyed++
}

// Barrier implements mpi.Collectives, if the platform says what a barrier costs. The first call
// creates the static group of the communicator, as a program's first barrier ends its
// initialization.
func (r *rank) Barrier(k *mpi.CollectiveCall) bool {
	if r.options.Compiled.BarrierTimePerMessage == 0 {
		return false
	}
	r.staticGroup(k)
	r.barrierWithData(k, nil)
	return true
}

// barrier is a barrier of the communicator within a call.
func (r *rank) barrier(k *mpi.CollectiveCall) {
	if r.options.Compiled.BarrierTimePerMessage == 0 {
		k.Barrier()
		return
	}
	r.barrierWithData(k, nil)
}

// barrierWithMaximum is a barrier of the communicator that returns the highest of the numbers that
// its ranks give.
func (r *rank) barrierWithMaximum(k *mpi.CollectiveCall, v byte) byte {
	if r.options.Compiled.BarrierTimePerMessage == 0 {
		return byte(k.AllreduceMax(uint32(v)))
	}
	b := [1]byte{v}
	r.barrierWithData(k, b[:])
	return b[0]
}

// barrierWithData is binomialBarrier of the communicator, with the cost of the library.
func (r *rank) barrierWithData(k *mpi.CollectiveCall, b []byte) {
	r.members = r.members[:0]
	for i := range k.Comm().Size() {
		r.members = append(r.members, i)
	}
	r.binomialBarrier(k, r.members, r.options.Compiled.BarrierTimePerMessage, b)
}

// binomialBarrier is a barrier of some ranks: messages go up a binomial tree to the first, and down
// again. Each message that a rank receives takes a time in addition to its own. If b has a byte, it
// becomes the highest of all members.
func (r *rank) binomialBarrier(k *mpi.CollectiveCall, members []int, each unit.Time, b []byte) {
	at, n := slices.Index(members, k.Comm().Rank()), len(members)
	receive := func(from int, b []byte) {
		k.Sendrecv(collective.NoRank, nil, members[from], b)
		k.Port().Delay(each)
	}
	theirs := r.workBuffer(len(b))
	mask := 1
	for ; mask < n && at&mask == 0; mask <<= 1 {
		if child := at | mask; child < n {
			receive(child, theirs)
			for i, v := range theirs {
				b[i] = max(b[i], v)
			}
		}
	}
	if at != 0 {
		k.Sendrecv(members[at^mask], b, collective.NoRank, nil)
		receive(at^mask, b)
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if child := at | mask; child < n {
			k.Sendrecv(members[child], b, collective.NoRank, nil)
		}
	}
}

// staticGroup returns the group of all ranks of a communicator, or nil if it cannot have one. The
// first call creates it.
func (r *rank) staticGroup(k *mpi.CollectiveCall) *group {
	c := k.Comm()
	g, known := r.staticGroups[c]
	if !known {
		all := make([]int, c.Size())
		for i := range all {
			all[i] = i
		}
		g = r.createGroup(k, k.CommNumber(), all)
		r.staticGroups[c] = g
	}
	if g.Group == nil {
		return nil
	}
	return g
}

// Free implements mpi.Collectives: the static group is destroyed.
func (r *rank) Free(k *mpi.CollectiveCall) {
	if g := r.staticGroups[k.Comm()]; g != nil {
		r.destroyGroup(k, g)
		delete(r.staticGroups, k.Comm())
	}
}

// End implements mpi.Collectives. The rank acknowledges packets until all members of its static
// groups have received them: a rank that waits for an acknowledgement has not entered the barrier.
func (r *rank) End() {
	open := slices.SortedFunc(maps.Keys(r.staticGroups), func(a, b *mpi.Comm) int { return cmp.Compare(r.staticGroups[a].context, r.staticGroups[b].context) })
	for _, c := range open {
		c.RunLibraryCollective(mpi.FinalizeCall, collective.Barrier, 0, nil, nil, func(_ mpi.Collectives, k *mpi.CollectiveCall, _, _ [][]byte) {
			if r.staticGroups[c].Group != nil {
				r.barrier(k)
			}
		})
	}
}

// multicastMessage multicasts a message of this rank, and receive receives one of another rank.
func (r *rank) multicastMessage(k *mpi.CollectiveCall, g *group, b []byte) {
	r.counts.multicasts++
	if err := g.Send(b, k.Progress); err != nil {
		k.Fail(engine.ErrOther, "%v", err)
	}
}

func (r *rank) receiveMulticast(k *mpi.CollectiveCall, g *group, root int, b []byte) {
	r.counts.multicasts++
	switch n, err := g.Recv(k.JobRank(root), b, k.Progress); {
	case err != nil:
		k.Fail(engine.ErrOther, "%v", err)
	case n != len(b):
		k.Fail(engine.ErrTruncate, "rank %d multicast %d bytes where %d were expected: the ranks do not give as much as they take", root, n, len(b))
	}
}

// broadcast multicasts the root's b.
func (r *rank) broadcast(k *mpi.CollectiveCall, g *group, root int, b []byte) {
	if k.Comm().Rank() == root {
		r.multicastMessage(k, g, b)
	} else {
		r.receiveMulticast(k, g, root, b)
	}
}

// multicastLengths multicasts the lengths of the root's parts.
func (r *rank) multicastLengths(k *mpi.CollectiveCall, g *group, root int, in [][]byte) []int {
	b := make([]byte, lengthBytes*k.Comm().Size())
	for i := range in {
		binary.LittleEndian.PutUint32(b[lengthBytes*i:], uint32(len(in[i])))
	}
	r.broadcast(k, g, root, b)
	return decodeLengths(b)
}

// lengthBytes is the bytes of a length, an int of C.
const lengthBytes = 4

// decodeLengths returns the numbers of four bytes in b.
func decodeLengths(b []byte) []int {
	n := make([]int, len(b)/lengthBytes)
	for i := range n {
		n[i] = int(binary.LittleEndian.Uint32(b[lengthBytes*i:]))
	}
	return n
}

// multicastAllParts multicasts the concatenated parts of the root, from which each rank copies its
// own.
func (r *rank) multicastAllParts(k *mpi.CollectiveCall, g *group, root int, sizes []int, in [][]byte, out []byte) {
	me, at, total := k.Comm().Rank(), 0, 0
	for i, n := range sizes {
		if i == me {
			at = total
		}
		total += n
	}
	if sizes[me] != len(out) {
		k.Fail(engine.ErrTruncate, "rank %d gives %d bytes where %d are taken", root, sizes[me], len(out))
	}
	all := r.workBuffer(total)
	if me == root {
		n := 0
		for _, part := range in {
			n += k.Port().Copy(all[n:], part)
		}
	}
	r.broadcast(k, g, root, all)
	k.Port().Copy(out, all[at:at+len(out)])
}

// groupMembers returns the root and the ranks whose parts are not empty, in order.
func groupMembers(root int, sizes []int) []int {
	var all []int
	for i, n := range sizes {
		if i == root || n > 0 {
			all = append(all, i)
		}
	}
	return all
}
