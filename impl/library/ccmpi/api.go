package ccmpi

import (
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/phases"
)

// The calls of CC-MPI in addition to those of MPI. They are collective over the communicator unless
// stated otherwise.

// Bcast multicasts the root's data to all ranks, on the static group of the communicator.
func Bcast(c *mpi.Comm, b mpi.Buffer, root int) {
	var in, out []mpi.Buffer
	if c.Rank() == root {
		in = []mpi.Buffer{b}
	} else {
		out = []mpi.Buffer{b}
	}
	c.RunLibraryCollective("Bcast", collective.Bcast, root, in, out, func(own mpi.Collectives, k *mpi.CollectiveCall, in, out [][]byte) {
		r := rankOf(own, k)
		r.broadcast(k, r.staticGroupOrFail(k), root, append(in, out...)[0])
	})
}

// Scatter is Comm.Scatter by one multicast of all parts, for any length.
func Scatter(c *mpi.Comm, send, recv mpi.Buffer, root int) {
	var in []mpi.Buffer
	if c.Rank() == root {
		in = []mpi.Buffer{send.SubBuffer(0, c.Size()*send.Count)}
	}
	c.RunLibraryCollective("Scatter", collective.Scatter, root, in, []mpi.Buffer{recv}, func(own mpi.Collectives, k *mpi.CollectiveCall, in, out [][]byte) {
		r := rankOf(own, k)
		r.staticGroupOrFail(k)
		var all []byte
		if len(in) > 0 {
			all = in[0]
		}
		r.scatterByMulticast(k, all, out[0])
	})
}

// staticGroupOrFail returns the static group. The call fails if the communicator has none.
func (r *rank) staticGroupOrFail(k *mpi.CollectiveCall) *group {
	g := r.staticGroup(k)
	if g == nil {
		k.Fail(engine.ErrOther, "the communicator has no multicast group, because one of its ranks is in as many as its network interface allows: close some, or free communicators")
	}
	return g
}

// GroupManagement is how the multicast group of a one-to-many exchange is managed.
type GroupManagement string

// Group management of a single call. ScattervOpenGroup is the third scheme.
const (
	StaticGroup  GroupManagement = "static"  // the group of the communicator
	DynamicGroup GroupManagement = "dynamic" // a group for each call, of the root and the ranks whose parts are not empty
)

// Scatterv is Comm.Scatterv by two multicasts, first of the lengths of the parts and then of the
// parts. With a static group all ranks receive both. With a dynamic group all ranks take part in
// its creation, and only those whose parts are not empty receive the second multicast.
func Scatterv(c *mpi.Comm, by GroupManagement, send mpi.Buffer, counts, offsets []int, recv mpi.Buffer, root int) {
	c.RunLibraryCollective("Scatterv", collective.Scatter, root, partsAtRoot(c, send, counts, offsets, root), []mpi.Buffer{recv}, func(own mpi.Collectives, k *mpi.CollectiveCall, in, out [][]byte) {
		r := rankOf(own, k)
		g := r.staticGroupOrFail(k)
		sizes := r.multicastLengths(k, g, root, in)
		if by == DynamicGroup {
			members := groupMembers(root, sizes)
			if g = r.createGroup(k, k.NewCommNumber(), members); g == nil {
				return
			}
			if g.Group == nil {
				k.Fail(engine.ErrOther, "no multicast group for this call: a rank is in as many as its network interface allows; close one, or use a static group")
			}
			defer r.destroyGroup(k, g)
		}
		r.multicastAllParts(k, g, root, sizes, in, out[0])
	})
}

// partsAtRoot returns the parts of a buffer at the root.
func partsAtRoot(c *mpi.Comm, b mpi.Buffer, counts, offsets []int, root int) []mpi.Buffer {
	if c.Rank() != root {
		return nil
	}
	all := make([]mpi.Buffer, min(len(counts), len(offsets)))
	for i := range all {
		all[i] = b.SubBuffer(offsets[i], counts[i])
	}
	return all
}

// ScattervGroup is a multicast group for repeated Scatterv calls with the same root, receivers and
// lengths: compiler-assisted group management. Each rank has its own value.
type ScattervGroup struct {
	c     *mpi.Comm
	root  int
	sizes []int // in bytes, by rank
	group *group
}

// ScattervOpenGroup creates a group of the root and the ranks whose parts are not empty, and tells
// all ranks the lengths of the parts (MPI_Scatterv_open_group). counts, in elements of a type, is
// significant at the root only. The call fails if a member cannot join another group.
func ScattervOpenGroup(c *mpi.Comm, counts []int, of_ *mpi.Datatype, root int) *ScattervGroup {
	s := &ScattervGroup{c: c, root: root}
	c.RunLibraryCollective("Scatterv_open_group", collective.Scatter, root, nil, nil, func(own mpi.Collectives, k *mpi.CollectiveCall, _, _ [][]byte) {
		r := rankOf(own, k)
		in := make([][]byte, 0, c.Size())
		if c.Rank() == root {
			if len(counts) != c.Size() {
				k.Fail(engine.ErrCount, "%d counts, and the communicator has %d ranks", len(counts), c.Size())
			}
			longest := 0
			for _, n := range counts {
				longest = max(longest, n*of_.Size())
			}
			b := make([]byte, longest)
			for _, n := range counts {
				in = append(in, b[:n*of_.Size()])
			}
		}
		s.sizes = r.multicastLengths(k, r.staticGroupOrFail(k), root, in)
		s.group = r.createGroup(k, k.NewCommNumber(), groupMembers(root, s.sizes))
		if s.group != nil && s.group.Group == nil {
			k.Fail(engine.ErrOther, "no multicast group: a rank is in as many as its network interface allows; close one, or use Scatterv, whose static group is there")
		}
	})
	return s
}

// IsMember reports whether this rank is in the group.
func (s *ScattervGroup) IsMember() bool { return s.group != nil }

// DataMovement is Scatterv on the group, by one multicast (MPI_Scatterv_data_movement). It is
// collective over the members, and does nothing at other ranks. send and offsets are significant at
// the root only.
func (s *ScattervGroup) DataMovement(send mpi.Buffer, counts, offsets []int, recv mpi.Buffer) {
	if !s.IsMember() {
		return
	}
	s.c.RunLibraryCollective("Scatterv_data_movement", collective.Scatter, s.root, partsAtRoot(s.c, send, counts, offsets, s.root), []mpi.Buffer{recv}, func(own mpi.Collectives, k *mpi.CollectiveCall, in, out [][]byte) {
		if s.group.Group == nil {
			k.Fail(engine.ErrOther, "the group was closed")
		}
		rankOf(own, k).multicastAllParts(k, s.group, s.root, s.sizes, in, out[0])
	})
}

// CloseGroup destroys the group (MPI_Scatterv_close_group). It is collective over the members, and
// does nothing at other ranks.
func (s *ScattervGroup) CloseGroup() {
	if !s.IsMember() {
		return
	}
	s.c.RunLibraryCollective("Scatterv_close_group", collective.Scatter, s.root, nil, nil, func(own mpi.Collectives, k *mpi.CollectiveCall, _, _ [][]byte) {
		rankOf(own, k).destroyGroup(k, s.group)
	})
}

// Allgather is Comm.Allgather by one of the three methods.
func Allgather(c *mpi.Comm, by AllgatherMethod, send, recv mpi.Buffer) {
	c.RunLibraryCollective("Allgather", collective.Allgather, 0, []mpi.Buffer{send}, []mpi.Buffer{recv.SubBuffer(0, c.Size()*recv.Count)}, func(own mpi.Collectives, k *mpi.CollectiveCall, in, out [][]byte) {
		r := rankOf(own, k)
		if by == MulticastAllgather {
			r.staticGroupOrFail(k)
		}
		r.allgatherBy(k, by, in[0], out[0])
	})
}

// Schedule is the phases of an exchange, the same at all ranks.
type Schedule = phases.Schedule

// PartsByRank are what a rank sends to each rank, or receives from each, by rank.
type PartsByRank []mpi.Buffer

// PartsOf returns the parts of a buffer, each of so many elements that begin at an offset.
func PartsOf(b mpi.Buffer, counts, offsets []int) PartsByRank {
	all := make(PartsByRank, len(counts))
	for i := range all {
		all[i] = b.SubBuffer(offsets[i], counts[i])
	}
	return all
}

// AlltoallvControl1 gathers what all ranks send, and computes the phases of the exchange: the
// control of level 1 (MPI_Alltoallv_control1).
func AlltoallvControl1(c *mpi.Comm, send PartsByRank) *Schedule {
	var s *Schedule
	c.RunLibraryCollective("Alltoallv_control1", collective.Alltoall, 0, send, nil, func(own mpi.Collectives, k *mpi.CollectiveCall, in, _ [][]byte) {
		r := rankOf(own, k)
		s = r.schedulePhases(k, r.gatherPattern(k, in))
	})
	return s
}

// AlltoallvControl2 computes the phases of an exchange whose pattern is known: how many bytes each
// rank sends to each other one (MPI_Alltoallv_control2). It is a local call.
func AlltoallvControl2(c *mpi.Comm, pattern [][]int) *Schedule {
	var s *Schedule
	c.RunLibraryCollective("Alltoallv_control2", collective.Alltoall, 0, nil, nil, func(own mpi.Collectives, k *mpi.CollectiveCall, _, _ [][]byte) {
		s = rankOf(own, k).schedulePhases(k, pattern)
	})
	return s
}

// AlltoallvDataTrans2 exchanges messages in the phases of a schedule (MPI_Alltoallv_data_trans2).
func AlltoallvDataTrans2(c *mpi.Comm, s *Schedule, send, recv PartsByRank) {
	c.RunLibraryCollective("Alltoallv_data_trans2", collective.Alltoall, 0, send, recv, func(own mpi.Collectives, k *mpi.CollectiveCall, in, out [][]byte) {
		rankOf(own, k).exchangeByPhases(k, s, in, out)
	})
}

// AlltoallvData exchanges messages without phases: each rank starts all of its receives and sends
// in the order of ranks and waits for them (the data routine without control).
func AlltoallvData(c *mpi.Comm, send, recv PartsByRank) {
	c.RunLibraryCollective("Alltoallv_data", collective.Alltoall, 0, send, recv, func(own mpi.Collectives, k *mpi.CollectiveCall, in, out [][]byte) {
		rankOf(own, k)
		me := c.Rank()
		k.Port().Copy(out[me], in[me])
		exchangeUnscheduled(k, func(to int) []byte { return in[to] }, func(from int) []byte { return out[from] })
	})
}
