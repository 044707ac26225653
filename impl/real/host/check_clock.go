package host

// userSpaceClockSources are the clock sources that are read without a system call.
var userSpaceClockSources = map[string]bool{"tsc": true, "kvm-clock": true, "hyperv_clocksource_tsc_page": true, "arch_sys_counter": true, "timebase": true, "tod": true, "riscv_clocksource": true}

// Limits for a clock, in nanoseconds.
const (
	maxReadingCostNanos = 150 // a reading
	maxClockStepNanos   = 100 // a step
)

// checkClock checks the cost of reading the clock, which every measured time includes, and its
// steps, which hide anything shorter.
func checkClock(p *Inspection) CheckResult {
	source := p.Files.ClockSource()
	step, cost := 1e3*p.ClockStep.Micros(), 1e3*p.ClockReadingCost.Micros()
	name := source
	if name == "" {
		name = "unknown source"
	}
	f := okResult("%s: steps of %.3g ns, and a reading costs %.3g ns", name, step, cost)
	const why = "the cost is taken out of times, and its variation is not: times below some hundred ns are uncertain; steps round each time, of which only batches help"
	const do = "see why the kernel does not trust a better clock (dmesg | grep -i clocksource): echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"
	if source != "" && !userSpaceClockSources[source] || cost > maxReadingCostNanos || step > maxClockStepNanos {
		return f.withVerdict(Warning, why, do)
	}
	return f
}

// checkCommonClock checks that all processors share one clock, which times from one rank to another
// assume.
func checkCommonClock(p *Inspection) CheckResult {
	switch {
	case len(p.rankProcessors()) < 2:
		return okResult("one processor has one")
	case p.ClockOffsetErr != nil || p.CacheLinesErr != nil && len(p.CacheLines) == 0:
		return okResult("not checked: %v", firstError(p.ClockOffsetErr, p.CacheLinesErr)).withVerdict(Note, "times that begin on one rank and end on another need one clock for both; round trips do not", "")
	case !p.ClockOffset.IncludesZero():
		return okResult("no: one processor is ahead of the other by %v ns", p.ClockOffset).withVerdict(Warning, "times that begin on one rank and end on another are wrong by as much; round trips are not",
			"choose another clock source, or look at round trips alone")
	}
	return okResult("yes: 0 is within %v ns", p.ClockOffset)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// defaultTimerSlackNanos is the default timer slack of the kernel, in nanoseconds.
const defaultTimerSlackNanos = 50_000

// checkTimerSlack checks by how much timers fire late.
func checkTimerSlack(p *Inspection) CheckResult {
	ns, ok := p.Files.FirstNumber("proc/self/timerslack_ns")
	switch {
	case !ok:
		return okResult("timer slack unknown")
	case ns > defaultTimerSlackNanos:
		return okResult("timers may be %.3g us late", float64(ns)/1e3).withVerdict(Note, "sleeps of the benchmark end later, so it takes longer; measured times are not affected",
			"start it from a shell without this setting (systemd: TimerSlackNSec)")
	}
	return okResult("timers may be %.3g us late", float64(ns)/1e3)
}

// Ratios of cache line times from which they matter.
const (
	maxMedianRatio   = 1.15 // of the medians before and after
	maxQuartileRatio = 1.5  // of the quartiles
)

// checkCacheLines checks the time of a cache line transfer: a short message over shared memory
// takes one or two.
func checkCacheLines(p *Inspection) CheckResult {
	switch {
	case len(p.rankProcessors()) < 2:
		return okResult("needs two processors")
	case len(p.CacheLines) == 0:
		return okResult("not passed: %v", p.CacheLinesErr).withVerdict(Warning, "the two processors did not run at the same time, and spinning ranks will not either", "see busy and interruptions")
	}
	a, b := p.CacheLines[0], p.CacheLines[len(p.CacheLines)-1]
	f := okResult("one way %v", b)
	low, high := min(a.Median, b.Median), max(a.Median, b.Median)
	switch {
	case high > maxMedianRatio*low:
		f.Found = "one way " + a.String() + " at first and " + b.String() + " later"
		return f.withVerdict(Warning, "all times of short messages over shared memory change with it, from launch to launch and within one",
			"measure more launches, and compare those of one mode (fact line_ns); see busy and virtual machine")
	case b.High > maxQuartileRatio*b.Low:
		return f.withVerdict(Note, "it depends on where in memory a line is: two launches of the same program differ by as much", "measure several launches")
	}
	return f
}
