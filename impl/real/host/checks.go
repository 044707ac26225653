package host

import (
	"context"
	"fmt"
)

// Verdict says how much a finding matters.
type Verdict uint8

// The verdicts, from the best to the worst.
const (
	OK      Verdict = iota // nothing to do
	Note                   // measurements are sound, but depend on the finding
	Warning                // it disturbs measurements
	Problem                // measuring is impossible
)

var verdictNames = [...]string{OK: "ok", Note: "note", Warning: "warning", Problem: "problem"}

func (v Verdict) String() string { return verdictNames[v] }

// CheckResult is the result of a check.
type CheckResult struct {
	Check   string // name of the check
	Verdict Verdict
	Found   string // the finding
	Why     string // its effect on measurements; "" if none
	Do      string // what to do about it; "" if nothing
}

// okResult returns a finding with the verdict OK.
func okResult(format string, args ...any) CheckResult {
	return CheckResult{Found: fmt.Sprintf(format, args...)}
}

// withVerdict returns the result with a verdict, its effect and what to do.
func (f CheckResult) withVerdict(v Verdict, why, do string) CheckResult {
	f.Verdict, f.Why, f.Do = v, why, do
	return f
}

// check is a named function that checks one thing.
type check struct {
	name    string
	run     func(*Inspection) CheckResult
	isQuick bool // it is fast, and its warnings belong beside measured numbers
}

// checks are all checks, in the order of the table.
var checks = []check{
	{"system", checkSystem, true},
	{"processors", checkProcessors, true},
	{"pinning", checkPinning, true},
	{"cores", checkCores, true},
	{"kinds", checkProcessorKinds, true},
	{"memory nodes", checkMemoryNodes, false},
	{"quota", checkQuota, true},
	{"busy", checkOtherProcesses, false},
	{"interruptions", checkInterruptions, true},
	{"pace", checkPace, false},
	{"virtual machine", checkVirtualMachine, false},
	{"frequency", checkFrequency, false},
	{"power", checkPower, true},
	{"idle states", checkIdleStates, false},
	{"clock", checkClock, true},
	{"common clock", checkCommonClock, false},
	{"cache lines", checkCacheLines, false},
	{"memory", checkMemory, true},
	{"copies", checkProcessCopies, false},
	{"sleep", checkTimerSlack, false},
	{"loopback", checkLoopback, false},
	{"MPI", checkMPI, false},
	{"/dev/shm", checkDevShm, false},
}

// RunChecks returns the results of all checks, in their order.
func RunChecks(p *Inspection) []CheckResult {
	var results []CheckResult
	for _, c := range checks {
		results = append(results, c.result(p))
	}
	return results
}

func (c check) result(p *Inspection) CheckResult {
	r := c.run(p)
	r.Check = c.name
	return r
}

// WorstVerdict returns the worst verdict.
func WorstVerdict(list []CheckResult) Verdict {
	worst := OK
	for _, f := range list {
		worst = max(worst, f.Verdict)
	}
	return worst
}

// QuickWarnings returns check and finding of everything that would disturb a measurement of a job
// with that many ranks, as far as 50 ms show it.
func QuickWarnings(ctx context.Context, ranks int) []string {
	p := inspectInstantly(ranks)
	p.watchProcessors(ctx, p.rankProcessors(), shortWatch)
	return p.quickWarnings()
}

func (p *Inspection) quickWarnings() []string {
	var list []string
	for _, c := range checks {
		if !c.isQuick {
			continue
		}
		if r := c.result(p); r.Verdict >= Warning {
			list = append(list, r.Check+": "+r.Found)
		}
	}
	return list
}
