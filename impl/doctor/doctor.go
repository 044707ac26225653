// Package doctor says beforehand what on this machine will spoil a measurement, by how much, and what to do about it.
//
// A Patient is the machine as it was found: its files under /proc and /sys, and what was tried and measured on it. A check looks at a patient and
// has one finding. To add a check is a function and a line in the list of checks. Checks change nothing and measure nothing, so that a test
// can give them any machine.
package doctor

import "fmt"

// Verdict says how much a finding matters.
type Verdict uint8

// The verdicts.
const (
	OK      Verdict = iota // nothing to be done
	Note                   // numbers are sound, and depend on it
	Warning                // it spoils numbers
	Problem                // it makes measuring impossible
)

var verdicts = [...]string{OK: "ok", Note: "note", Warning: "warning", Problem: "problem"}

func (v Verdict) String() string { return verdicts[v] }

// Finding is what a check found.
type Finding struct {
	Check   string
	Verdict Verdict
	Found   string
	Why     string // what it does to numbers; "" if nothing
	Do      string // what to do about it; "" if nothing is to be done
}

func found(format string, args ...any) Finding { return Finding{Found: fmt.Sprintf(format, args...)} }

// matters returns the finding with a verdict, the reason and what to do.
func (f Finding) matters(v Verdict, why, do string) Finding {
	f.Verdict, f.Why, f.Do = v, why, do
	return f
}

// check is a function that looks at one thing.
type check struct {
	name  string
	look  func(*Patient) Finding
	brief bool // it needs no long look, and what it warns of is worth a line beside numbers
}

// checks are all that there are, in the order in which they are shown.
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

// Look returns what the checks find, in their order.
func Look(p *Patient) []Finding {
	return look(p, func(check) bool { return true })
}

func look(p *Patient, wanted func(check) bool) []Finding {
	var list []Finding
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
func Worst(list []Finding) Verdict {
	worst := OK
	for _, f := range list {
		worst = max(worst, f.Verdict)
	}
	return worst
}
