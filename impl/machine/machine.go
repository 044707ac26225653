// Package machine is what can be known and said of the machine that the program runs on: its clock, its processors and which of them the
// program may use, and what else numbers measured on it depend on.
//
// It knows nothing of ranks that communicate, nor of what is measured. What cannot be found out, on this system or by this user, is left out.
package machine
