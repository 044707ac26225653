// Package host describes the computer that this program runs on, and reports what would disturb a
// measurement there.
//
// Its lower half reads and measures: files under /proc and /sys, the clock, the processors that the
// program may use, cache line transfers between them, interruptions, and their pace. Facts describe
// the computer in the head of a data set; those that this system or this user cannot find out are
// left out.
//
// Its upper half checks. An Inspection holds everything that was read, tried and measured. A check
// is a function of an Inspection and returns one CheckResult: a verdict, what was found, why it
// matters, and what to do. To add a check, write the function and add it to the table in checks.go.
// Checks read and change nothing else, so a test can give them any computer.
//
// The package knows nothing of communication or of samples.
package host
