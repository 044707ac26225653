// Package loggp measures, models and compares the communication performance of message passing. It
// has what the command loggp does, for programs:
//
//   - [Measure] takes samples of messages and collective operations, on emulated machines and here.
//   - [Fit] finds the parameters of a machine from samples.
//   - [Predict] says what messages cost by parameters, or by the steps of an emulated machine.
//   - [Compare] and [Report] show samples, of several machines side by side or beside predictions.
//   - [Run] runs a Go program that calls MPI on an emulated machine, and records its time line.
//   - [Simulate] computes when the ranks of a communication schedule finish, and [CompareSchedules]
//     runs schedules on machines beside that.
//
// Each takes a struct of options whose zero value is right where a field is not required, and
// returns an outcome with its numbers and a document. An error about an option is an
// [OptionError]. The package prints nothing and reads no flags; package reports/render writes
// documents as text, Markdown and pages.
//
// Model parameters and their units are those of package model, and times are integer picoseconds.
// Emulated machines have virtual time, which is the same on every computer. Package
// impl/library/mpi has the functions that programs call.
package loggp
