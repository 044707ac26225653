// Package doctor reports, before a measurement, what on this machine will spoil it, by how much,
// and what to do about it.
//
// A Host is what was found about the machine: its files under /proc and /sys, and what was tried
// and measured on it. A check is a function of a Host and has one Result. To add a check, write a
// function and add it to the list of checks. Checks change nothing and measure nothing, so that a
// test can give them any machine.
package doctor

import "fmt"

// Verdict says how much a result matters.
type Verdict uint8

// The verdicts.
const (
	OK      Verdict = iota // nothing to do
	Note                   // measurements are sound, but depend on it
	Warning                // it spoils measurements
	Problem                // measuring is impossible
)

var verdicts = [...]string{OK: "ok", Note: "note", Warning: "warning", Problem: "problem"}

func (v Verdict) String() string { return verdicts[v] }

// Result is the result of a check.
type Result struct {
	Check   string
	Verdict Verdict
	Found   string
	Why     string // its effect on measurements; "" if none
	Do      string // what to do about it; "" if nothing
}

func found(format string, args ...any) Result { return Result{Found: fmt.Sprintf(format, args...)} }

// matters returns the result with a verdict, its effect and what to do.
func (f Result) matters(v Verdict, why, do string) Result {
	f.Verdict, f.Why, f.Do = v, why, do
	return f
}

// check is a named function that checks one thing.
type check struct {
	name  string
	look  func(*Host) Result
	brief bool // it is fast, and its warnings belong beside measured numbers
}

// checks are all checks, in the order of the table.
var checks = []check{
	{"system", system, true},
	{"processors", processors, true},
	{"pinning", pinning, true},
	{"cores", cores, true},
	{"kinds", kinds, true},
	{"memory nodes", nodes, false},
	{"quota", quota, true},
	{"busy", busy, false},
	{"interruptions", interruptions, true},
	{"pace", pace, false},
	{"virtual machine", virtual, false},
	{"frequency", frequency, false},
	{"power", power, true},
	{"idle states", idle, false},
	{"clock", clock, true},
	{"common clock", common, false},
	{"cache lines", lines, false},
	{"memory", memory, true},
	{"copies", copies, false},
	{"sleep", sleep, false},
	{"loopback", loopback, false},
	{"MPI", vendor, false},
	{"/dev/shm", shared, false},
}

// Look returns the results of the checks, in their order.
func Look(p *Host) []Result {
	return look(p, func(check) bool { return true })
}

func look(p *Host, wanted func(check) bool) []Result {
	var list []Result
	for _, c := range checks {
		if wanted(c) {
			f := c.look(p)
			f.Check = c.name
			list = append(list, f)
		}
	}
	return list
}

// Worst returns the worst verdict.
func Worst(list []Result) Verdict {
	worst := OK
	for _, f := range list {
		worst = max(worst, f.Verdict)
	}
	return worst
}
