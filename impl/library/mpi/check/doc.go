// Package check explains errors of message-passing programs for package mpi: what the ranks of a
// deadlock wait for (DeadlockError), how collective calls differ (CallHistory), which messages were
// sent and not received (RankAudit), and which source line made a call (CallSite).
//
// It works on what packages engine and mpi record of each rank. It neither communicates nor decides
// when to check.
package check
