package doctor

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

	"github.com/loggp/loggp/impl/real/host"
)

// usage is the processor time that was used on a machine since it started, in ticks.
type usage struct {
	at        time.Duration // on the monotonic clock
	all       float64       // of all processors, in any state
	stolen    float64       // part that went to other virtual machines
	processes map[int]ticks
}

// ticks is the processor time of a process.
type ticks struct {
	name string
	n    float64
}

// hertz is the number of ticks per second in /proc: USER_HZ, 100 on all systems.
const hertz = 100

// most is the number of processes that are read at most.
const most = 10_000

// used returns the usage of a machine until now.
func used(files host.Files) usage {
	u := usage{at: time.Duration(host.Now()), processes: map[int]ticks{}}
	for i, word := range strings.Fields(files.Value("proc/stat", "cpu")) {
		n, _ := strconv.ParseFloat(word, 64)
		if i < 8 { // user nice system idle iowait irq softirq steal; the following are part of user and nice
			u.all += n
		}
		if i == 7 {
			u.stolen = n
		}
	}
	names, _ := fs.Glob(files, "proc/[0-9]*/stat")
	for _, name := range names[:min(most, len(names))] {
		pid, err := strconv.Atoi(path.Base(path.Dir(name)))
		if t, ok := process(files.Line(name)); err == nil && ok {
			u.processes[pid] = t
		}
	}
	return u
}

// process parses a line of /proc/PID/stat. The name stands in parentheses and may contain some. See
// proc_pid_stat(5): utime is the 14th field, stime the 15th.
func process(line string) (t ticks, ok bool) {
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
	return ticks{line[open+1 : end], user + kernel}, err == nil && err2 == nil
}

// Processor shares of other processes from which they matter.
const (
	little = 0.05
	much   = 0.25
)

// busy: other processes take processors, caches and memory bandwidth.
func busy(p *Host) Result {
	load, _, _ := strings.Cut(p.Files.Line("proc/loadavg"), " ")
	elapsed := (p.Usage[1].at - p.Usage[0].at).Seconds()
	if elapsed <= 0 || len(p.Usage[1].processes) == 0 {
		return found("processes are not visible").matters(Note, "interruptions show the time that others take, but not which processes they are", "")
	}
	others := map[string]float64{} // by name
	sum := 0.0
	for pid, t := range p.Usage[1].processes {
		if share := (t.n - p.Usage[0].processes[pid].n) / hertz / elapsed; pid != p.Self && share > 0 {
			others[t.name] += share
			sum += share
		}
	}
	f := found("others use %.2f processors%s; load %s", sum, topProcesses(others), load)
	const why = "they take the ranks' processors for milliseconds at a time, and caches and memory all the time: medians move by some percent, tails by a factor"
	const do = "stop them, or measure when they are done; repeat on several launches and compare"
	switch {
	case sum >= much:
		return f.matters(Warning, why, do)
	case sum >= little:
		return f.matters(Note, why, do)
	}
	return f
}

// topProcesses names the processes that use most.
func topProcesses(others map[string]float64) string {
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
	littleLost = 0.001
	muchLost   = 0.02
)

// interruptions: measured times include what interrupts a thread that only reads the clock.
func interruptions(p *Host) Result {
	if len(p.Interruptions) == 0 {
		return notMeasured(p.InterruptionsErr, "what interrupts ranks shows in the tails alone")
	}
	worst := slices.MaxFunc(p.Interruptions, func(a, b host.Interruptions) int { return cmp.Compare(a.Share(), b.Share()) })
	f := found("%s misses %.3g %% of the time: %d gaps in %.2g s, the longest %v", theWorst(worst.Processor, len(p.Interruptions)),
		100*worst.Share(), worst.Count, worst.Watched.Seconds(), worst.Longest.Round(time.Microsecond))
	if worst.Switches > 0 {
		f.Found += fmt.Sprintf("; %d times another thread ran", worst.Switches)
	}
	hit := "none of the times that were watched was hit"
	if worst.Count > 0 {
		hit = fmt.Sprintf("one time of 1 us in %.0f is hit, and longer by %v at the mean", float64(worst.Watched)/float64(worst.Count)/1e3, (worst.Lost / time.Duration(worst.Count)).Round(time.Microsecond))
	}
	do := "keep other processors for interrupts and for others (isolcpus, irqbalance), and start on quiet ones with taskset -c"
	if worst.Switches > 0 {
		do = "other threads ran there: stop them (see busy), or start on other processors with taskset -c"
	}
	switch {
	case worst.Share() >= muchLost:
		return f.matters(Warning, hit, do)
	case worst.Share() >= littleLost:
		return f.matters(Note, hit, do)
	}
	return f
}

// notMeasured is the result of a check whose measurement failed, or had no processor.
func notMeasured(err error, why string) Result {
	if err == nil {
		err = errors.New("no processor is known")
	}
	return found("not measured: %v", err).matters(Note, why, "")
}

// theWorst names a processor that is the worst of several.
func theWorst(processor, of int) string {
	if of == 1 {
		return fmt.Sprintf("processor %d", processor)
	}
	return fmt.Sprintf("processor %d, the worst of %d,", processor, of)
}

// Parts of the time at a slowed pace from which they matter.
const (
	littleSlowed = 0.05
	muchSlowed   = 0.25
)

// pace: a core is slower if its other hardware thread is busy, and no clock shows it.
func pace(p *Host) Result {
	if len(p.Paces) == 0 {
		return notMeasured(p.PacesErr, "samples tell it: each says at which pace the processors worked")
	}
	worst := slices.MaxFunc(p.Paces, func(a, b host.Pace) int { return cmp.Compare(a.Slowed, b.Slowed) })
	f := found("%s is slowed %.3g %% of the time; a piece of work takes %.3g us at best, and %.3g at the median", theWorst(worst.Processor, len(p.Paces)), 100*worst.Slowed, worst.Best.Seconds()*1e6, worst.Median.Seconds()*1e6)
	const why = "something else runs on another thread of its core, or its clock is lowered: what a rank does alone (o_s, o_r) takes up to twice as long, for milliseconds or minutes"
	const do = "measure tells such samples from the others, and needs time for enough of these: a larger --budget, or a quieter hour; on a machine of your own stop what runs beside, or turn hardware threads off"
	switch {
	case worst.Slowed >= muchSlowed:
		return f.matters(Warning, why, do)
	case worst.Slowed >= littleSlowed:
		return f.matters(Note, why, do)
	}
	return f
}

// virtual: the host moves and interrupts virtual processors.
func virtual(p *Host) Result {
	if !p.Files.Virtual() {
		return found("no")
	}
	f := found("yes, and the time it says others took is %.3g %%", 100*p.stolen())
	if p.stolen() >= muchLost/2 {
		return f.matters(Warning, "the host runs other virtual machines on these processors meanwhile, and their time is measured too", "measure on a machine of your own, or when the host is quiet")
	}
	return f.matters(Note,
		"the host moves processors between cores, so that the way of a cache line changes from launch to launch, by up to a factor of ten, and its own interruptions are not counted here",
		"measure several launches, compare those of one mode (fact line_ns), and look at interruptions and cache lines")
}

// stolen returns the part of the time that other virtual machines took during the inspection.
func (p *Host) stolen() float64 {
	return (p.Usage[1].stolen - p.Usage[0].stolen) / max(p.Usage[1].all-p.Usage[0].all, 1)
}
