package host

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// processorUsage is the processor time that was used on a machine since it started, in ticks.
type processorUsage struct {
	at          time.Duration // on the monotonic clock
	allTicks    float64       // of all processors, in any state
	stolenTicks float64       // part that went to other virtual machines
	processes   map[int]processTicks
}

// processTicks is the processor time of a process.
type processTicks struct {
	name  string
	ticks float64
}

// ticksPerSecond is the number of ticks per second in /proc: USER_HZ, 100 on all systems.
const ticksPerSecond = 100

// maxProcesses is the number of processes that are read at most.
const maxProcesses = 10_000

// readProcessorUsage returns the usage of a machine until now.
func readProcessorUsage(files Files) processorUsage {
	u := processorUsage{at: time.Duration(Now()), processes: map[int]processTicks{}}
	for i, word := range strings.Fields(files.ValueOf("proc/stat", "cpu")) {
		n, _ := strconv.ParseFloat(word, 64)
		if i < 8 { // user nice system idle iowait irq softirq steal; the following are part of user and nice
			u.allTicks += n
		}
		if i == 7 {
			u.stolenTicks = n
		}
	}
	names, _ := fs.Glob(files, "proc/[0-9]*/stat")
	for _, name := range names[:min(maxProcesses, len(names))] {
		pid, err := strconv.Atoi(path.Base(path.Dir(name)))
		if t, ok := parseProcessStat(files.FirstLine(name)); err == nil && ok {
			u.processes[pid] = t
		}
	}
	return u
}

// parseProcessStat parses a line of /proc/PID/stat. The name stands in parentheses and may contain
// some. See proc_pid_stat(5): utime is the 14th field, stime the 15th.
func parseProcessStat(line string) (t processTicks, ok bool) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return t, false
	}
	fields := strings.Fields(line[end+1:]) // from the 3rd on
	if len(fields) < 13 {
		return t, false
	}
	user, err := strconv.ParseFloat(fields[11], 64)
	kernel, err2 := strconv.ParseFloat(fields[12], 64)
	return processTicks{line[open+1 : end], user + kernel}, err == nil && err2 == nil
}

// Processor shares of other processes from which they matter.
const (
	noteOthersShare = 0.05
	warnOthersShare = 0.25
)

// checkOtherProcesses checks how much of the processors, caches and memory bandwidth other
// processes take.
func checkOtherProcesses(p *Inspection) CheckResult {
	load, _, _ := strings.Cut(p.Files.FirstLine("proc/loadavg"), " ")
	elapsed := (p.Usage[1].at - p.Usage[0].at).Seconds()
	if elapsed <= 0 || len(p.Usage[1].processes) == 0 {
		return okResult("processes are not visible").withVerdict(Note, "interruptions show the time that others take, but not which processes they are", "")
	}
	others := map[string]float64{} // by name
	sum := 0.0
	for pid, t := range p.Usage[1].processes {
		if share := (t.ticks - p.Usage[0].processes[pid].ticks) / ticksPerSecond / elapsed; pid != p.PID && share > 0 {
			others[t.name] += share
			sum += share
		}
	}
	f := okResult("others use %.2f processors%s; load %s", sum, formatTopProcesses(others), load)
	const why = "they take the ranks' processors for milliseconds at a time, and caches and memory all the time: medians move by some percent, tails by a factor"
	const do = "stop them, or measure when they are done; repeat on several launches and compare"
	switch {
	case sum >= warnOthersShare:
		return f.withVerdict(Warning, why, do)
	case sum >= noteOthersShare:
		return f.withVerdict(Note, why, do)
	}
	return f
}

// formatTopProcesses names the processes that use most.
func formatTopProcesses(others map[string]float64) string {
	names := slices.SortedFunc(maps.Keys(others), func(a, b string) int {
		return cmp.Or(cmp.Compare(others[b], others[a]), cmp.Compare(a, b))
	})
	var words []string
	for _, name := range names[:min(3, len(names))] {
		words = append(words, fmt.Sprintf("%s %.2f", name, others[name]))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// Lost parts of the time from which they matter.
const (
	noteLostShare = 0.001
	warnLostShare = 0.02
)

// checkInterruptions checks how often a thread that only reads the clock is interrupted: measured
// times include the same interruptions.
func checkInterruptions(p *Inspection) CheckResult {
	if len(p.Interruptions) == 0 {
		return notMeasuredResult(p.InterruptionsErr, "what interrupts ranks shows in the tails alone")
	}
	worst := slices.MaxFunc(p.Interruptions, func(a, b Interruptions) int { return cmp.Compare(a.LostShare(), b.LostShare()) })
	f := okResult("%s is interrupted %.3g %% of the time: %s in %.2g s, the longest %v", formatWorstProcessor(worst.Processor, len(p.Interruptions)),
		100*worst.LostShare(), countText(worst.GapCount, "gap"), worst.WatchedTime.Seconds(), worst.LongestGap.Round(time.Microsecond))
	if worst.ContextSwitches > 0 {
		f.Found += fmt.Sprintf("; %s by another thread", countText(worst.ContextSwitches, "preemption"))
	}
	hit := "none of the times that were watched was hit"
	if worst.GapCount > 0 {
		hit = fmt.Sprintf("one time of 1 us in %.0f is hit, and longer by %v at the mean", float64(worst.WatchedTime)/float64(worst.GapCount)/1e3, (worst.LostTime / time.Duration(worst.GapCount)).Round(time.Microsecond))
	}
	do := "keep other processors for interrupts and for others (isolcpus, irqbalance), and start on quiet ones with taskset -c"
	if worst.ContextSwitches > 0 {
		do = "other threads ran there: stop them (see busy), or start on other processors with taskset -c"
	}
	switch {
	case worst.LostShare() >= warnLostShare:
		return f.withVerdict(Warning, hit, do)
	case worst.LostShare() >= noteLostShare:
		return f.withVerdict(Note, hit, do)
	}
	return f
}

// notMeasuredResult is the result of a check whose measurement failed, or had no processor.
func notMeasuredResult(err error, why string) CheckResult {
	if err == nil {
		err = errors.New("no processor is known")
	}
	return okResult("not measured: %v", err).withVerdict(Note, why, "")
}

// countText returns a number of things: 1 gap, 2 gaps.
func countText(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// formatWorstProcessor names a processor that is the worst of several.
func formatWorstProcessor(processor, of int) string {
	if of == 1 {
		return fmt.Sprintf("processor %d", processor)
	}
	return fmt.Sprintf("processor %d, the worst of %d,", processor, of)
}

// Parts of the time at a slowed pace from which they matter.
const (
	noteSlowedShare = 0.05
	warnSlowedShare = 0.25
)

// checkPace checks whether other hardware threads slow the ranks down, which no clock shows.
func checkPace(p *Inspection) CheckResult {
	if len(p.Paces) == 0 {
		return notMeasuredResult(p.PacesErr, "samples tell it: each says at which pace the processors worked")
	}
	worst := slices.MaxFunc(p.Paces, func(a, b Pace) int { return cmp.Compare(a.SlowedShare, b.SlowedShare) })
	f := okResult("%s is slowed %.3g %% of the time; a piece of work takes %.3g us at best, and %.3g at the median", formatWorstProcessor(worst.Processor, len(p.Paces)), 100*worst.SlowedShare, worst.BestTime.Seconds()*1e6, worst.MedianTime.Seconds()*1e6)
	const why = "something else runs on another thread of its core, or its clock is lowered: what a rank does alone (o_s, o_r) takes up to twice as long, for milliseconds or minutes"
	const do = "measure tells such samples from the others, and needs time for enough of these: a larger --budget, or a quieter hour; on a machine of your own stop what runs beside, or turn hardware threads off"
	switch {
	case worst.SlowedShare >= warnSlowedShare:
		return f.withVerdict(Warning, why, do)
	case worst.SlowedShare >= noteSlowedShare:
		return f.withVerdict(Note, why, do)
	}
	return f
}

// checkVirtualMachine checks whether a hypervisor moves and interrupts the processors.
func checkVirtualMachine(p *Inspection) CheckResult {
	if !p.Files.IsVirtualMachine() {
		return okResult("no")
	}
	f := okResult("yes, and the time it says others took is %.3g %%", 100*p.stolenShare())
	if p.stolenShare() >= warnLostShare/2 {
		return f.withVerdict(Warning, "the host runs other virtual machines on these processors meanwhile, and their time is measured too", "measure on a machine of your own, or when the host is quiet")
	}
	return f.withVerdict(Note,
		"the host moves processors between cores, so that the way of a cache line changes from launch to launch, by up to a factor of ten, and its own interruptions are not counted here",
		"measure several launches, compare those of one mode (fact line_ns), and look at interruptions and cache lines")
}

// stolenShare returns the part of the time that other virtual machines took during the inspection.
func (p *Inspection) stolenShare() float64 {
	return (p.Usage[1].stolenTicks - p.Usage[0].stolenTicks) / max(p.Usage[1].allTicks-p.Usage[0].allTicks, 1)
}
