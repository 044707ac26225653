// Package loggp measures, models and compares the communication performance of message passing. It
// is the library behind the command loggp:
//
//   - [Measure] times messages and collective operations, on emulated machines and on this
//     computer.
//   - [Fit] fits the parameters of a machine to samples.
//   - [Predict] computes the cost of messages from parameters, or from the steps of an emulated
//     machine.
//   - [Compare] and [Report] show samples of several machines, or next to predictions.
//   - [Run] runs a Go program that calls MPI on an emulated machine, and records its time line.
//   - [Simulate] computes when the ranks of a communication schedule finish; [CompareSchedules]
//     also runs it on machines.
//
// Each function takes a struct of options and returns a result with numbers and a document. The
// zero value of an optional field is its default. A wrong option is an [OptionError]. The package
// prints nothing and reads no flags. Parameters and their units are those of package model; times
// are integer picoseconds. Package impl/library/mpi has the functions that programs call.
package loggp
