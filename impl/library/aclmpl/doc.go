// Package aclmpl is a message-passing library for machines with one-sided communication, after
// ACLMPL (Painter et al. 1995), which was built for parallel volume rendering on the Cray T3D. It
// is not MPI: it stands beside package mpi.
//
// Two groups of calls share no code path. Receives of one group do not see messages of the other.
//
// Synchronous: Send, Receive and SendReceive. Sender and receiver meet; nothing is buffered or
// copied. The receiver puts a request block of 16 bytes into the sender's memory: where its buffer
// is, how long, and a flag. The blocks are indexed by the receiver, so each has one writer and
// needs no lock. The sender waits for the block, puts the data, and then a completion block of 8
// bytes: the length and a flag. One completion block for each PE is enough, since a PE receives
// from one other at a time. So a message costs a round trip and 24 bytes of control:
//
//	receiver                                         sender
//	request block: buffer, length, READY   →         waits for READY
//	                                       ←         data
//	waits for DONE                         ←         fence; completion block: length, DONE
//
// Asynchronous: SendAsync, ReceiveAsync and TryReceive. Each PE has a pool of slots. A sender
// claims one by incrementing the receiver's register remotely, and puts its message there: header
// and data, and behind a fence the status. The receiver copies it from the slot. When the last slot
// has been written, the receiver waits until all are written, moves what it has not received yet to
// a list, and frees the pool. So a message is copied once, or twice if it went through the list. A
// sender that finds the pool full tries again, and drains its own pool between the tries.
//
// Broadcast and Reduce are made of synchronous messages. Their root is PE 0.
//
// This is the port to machines with put and fetch-and-increment. Options.Port chooses another
// one: messages by an arena of shared memory (arena.go), or by PVM (pvm.go), whose Send does
// not wait for its receive.
//
// # Guarantees
//
//   - A message arrives once, unchanged.
//   - Synchronous messages match by PE alone: the k-th Send of PE a to PE b goes to the k-th
//     Receive of b from a.
//   - Asynchronous messages of one sender are received in the order in which they were sent, among
//     those that a receive asks for: by source and tag, or AnyPE and AnyTag.
//   - SendReceive with any partners does not deadlock where all PEs call it. SendAsync completes if
//     the receiver receives, or makes any asynchronous call: a full pool blocks senders, and
//     nothing is lost.
//   - Reduce combines operands in the order of the PEs, for any number of PEs and elements.
//   - A call that cannot be carried out ends the program of the PE, and Run returns an *Error.
//
// # What the paper does not say
//
// These choices are ours: 32 slots (Options.Slots) of 4096 bytes (Options.SlotSize). A longer
// asynchronous message is sent in segments, each in a slot of its own; a receive that has found the
// first segment waits for the others. Synchronous messages have no tags, asynchronous ones do. A
// message that is longer than the receive's buffer is an error. Broadcast and Reduce serve any
// number of PEs: phases leave out PEs that are not there, and binary swap first combines pairs of
// neighbours until the number is a power of two.
package aclmpl
