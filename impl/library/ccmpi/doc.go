// Package ccmpi is compiled communication for MPI, after CC-MPI (Karwande 2003): collective
// operations that are divided into network control and data transmission, on machines with
// multicast.
//
// A job whose library has it (model.Library.Compiled) runs MPI programs unchanged, with these
// methods:
//
//   - Bcast is a reliable multicast to the communicator's group (package multicast).
//   - Scatter multicasts the blocks of all ranks together if they are short.
//   - Allgather is a gather and a broadcast over TCP, a multicast by each rank, or an exchange in
//     phases, by length.
//   - Alltoall is an exchange in phases: no rank sends or receives twice in a phase, and there is a
//     barrier between phases.
//   - Alltoallv gathers the lengths, computes phases (package phases) and exchanges the messages in
//     them; or it uses stored phases.
//
// A program or its compiler states what it knows about its communication by the functions of this
// package: how groups are managed (Scatterv, ScattervOpenGroup), and which part of the network
// control is left to the run (AlltoallvControl1, AlltoallvControl2, AlltoallvDataTrans2).
//
// # Groups
//
// A communicator has one static group. The first call that needs it creates it, and Free destroys
// it. If a rank is already in as many groups as its network interface allows, 20 in the source, the
// communicator has no group: MPI's operations then use messages as other libraries do, and calls
// that ask for a multicast fail. So does ScattervOpenGroup.
//
// All ranks of the communicator synchronize to create a group, so that no multicast arrives before
// its receivers have joined. The members synchronize to destroy it, so that none leaves while
// another waits for its acknowledgement.
//
// # Assumptions
//
// The source does not give the window and the timeout of multicasts, the packet size, the barrier,
// the threshold of the schedulers, what a program gets beyond 20 groups, how members of an opened
// group learn the lengths (here by a multicast on the static group), and which method MPI_Allgather
// uses for which length.
package ccmpi
