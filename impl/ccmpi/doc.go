// Package ccmpi is compiled communication for MPI, after CC-MPI (Karwande 2003): collective operations
// that are split into network control and data transmission, on machines with multicast.
//
// A job whose library has it (model.Library.Compiled) runs programs of MPI as they are, with these ways:
//
//   - Bcast is a reliable multicast to the communicator's group (package multicast).
//   - Scatter multicasts the parts of all ranks together if they are short.
//   - Allgather goes from each rank to each other one, or by a multicast of each rank, or in phases: by length.
//   - Alltoall goes in phases, in which no rank sends twice or receives twice. A barrier keeps phases apart.
//   - Alltoallv gathers the lengths, computes phases (package phases) and exchanges the messages in them;
//     or it takes phases that were stored before.
//
// What the program or its compiler knows of the communication it says by the calls of this package, which
// stand beside MPI's: how groups are managed (Scatterv, ScattervOpenGroup), and which part of the
// network control is left to the run (AlltoallvControl1, AlltoallvControl2, AlltoallvDataTrans2).
//
// # Groups
//
// A communicator has one static group, which the first call that needs it makes and Free destroys. If a
// rank of it is a member of as many groups as its network interface can tell apart, 20 in the source,
// the communicator does without: MPI's operations go by messages between two ranks, as those of other
// libraries, and calls that ask for a multicast fail. ScattervOpenGroup fails likewise.
//
// To make a group all ranks of the communicator meet, so that no multicast comes before its receivers
// are there. To destroy it its members meet, so that none leaves while another lacks its answer.
//
// # What the source does not say
//
// Window and timer of multicast, the threshold of schedulers, what a program gets beyond 20 groups, how
// the lengths come to the members of an opened group (they are multicast on the static group), and from
// which lengths on MPI_Allgather takes which way. These are ours.
package ccmpi
