// Package check explains what is wrong with message-passing programs, for package mpi: what the
// ranks of a deadlock wait for, how collective calls differ, what was sent and not received, and on
// which line of the program a call is.
//
// It works on what package engine and package mpi note of ranks. It neither communicates nor
// decides when to look.
package check
