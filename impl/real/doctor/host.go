package doctor

import (
	"context"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/model/unit"
)

// Host is what was found about the machine.
type Host struct {
	System      string // runtime.GOOS
	Files       host.Files
	Ranks       int   // of the job that is to be measured
	Processors  []int // on which the program may run
	Root        bool  // the user is root
	Self        int   // this process
	Environment func(name string) string
	Program     func(name string) string // path of a program, or ""

	// Results of attempts: the error, or nil.
	Pinning error // of pinning a thread to each rank's processor
	Memory  error // of allocating shared memory
	Copies  error // of copying between processes

	// Measurements.
	FreeShm          int64 // bytes that /dev/shm has for this user; -1: unknown
	Step, Cost       unit.Time
	Offset           host.Offset // between the first two ranks' processors
	OffsetErr        error       // why it was not measured
	Lines            []host.CacheLineTimes
	LinesErr         error // why they were not measured
	Interruptions    []host.Interruptions
	InterruptionsErr error
	Paces            []host.Pace // of the ranks' processors
	PacesErr         error
	Usage            [2]usage // of the processors, before and after
}

// rankProcessors returns the processors of the ranks, or fewer if there are fewer processors.
func (p *Host) rankProcessors() []int { return p.Processors[:min(p.Ranks, len(p.Processors))] }

// Options say what to check for.
type Options struct {
	Ranks int           // of the job that is to be measured
	Watch time.Duration // total time to watch for interruptions
}

// Values of Options.Watch.
const (
	Thorough = 1200 * time.Millisecond
	Quick    = 200 * time.Millisecond
	briefly  = 25 * time.Millisecond
)

// tried is how much shared memory is tried for: more than a job of a few ranks needs.
const tried = 16 << 20

// Inspect examines this machine, for a little longer than Options.Watch. It fails when the context
// is done.
func Inspect(ctx context.Context, e Options) (*Host, error) {
	p := here(e.Ranks)
	p.FreeShm = -1
	if n, err := host.FreeSpace("/dev/shm"); err == nil {
		p.FreeShm = n
	}
	p.Usage[0] = used(p.Files)
	p.exchangeLines(ctx)
	p.watch(ctx, p.Processors, e.Watch)
	p.Paces, p.PacesErr = host.MeasurePaces(ctx, p.rankProcessors(), e.Watch/worked)
	p.exchangeLines(ctx)
	p.Usage[1] = used(p.Files)
	return p, context.Cause(ctx)
}

// here returns what takes no time to find out about this machine.
func here(ranks int) *Host {
	p := &Host{
		System: runtime.GOOS, Files: host.System(), Ranks: ranks, Processors: host.Processors(), Root: os.Geteuid() == 0, Self: os.Getpid(),
		Environment: os.Getenv, Program: program, Copies: host.ProcessCopy(),
	}
	if f, err := host.Memory(tried); err != nil {
		p.Memory = err
	} else {
		f.Close()
	}
	p.Step, p.Cost = host.Clock()
	p.Pinning = host.Pinnable(p.rankProcessors())
	return p
}

// program returns the path of a program, with all links resolved.
func program(name string) string {
	where, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(where); err == nil {
		return real
	}
	return where
}

// exchangeLines measures cache line times and the clock offset between the first two ranks.
func (p *Host) exchangeLines(ctx context.Context) {
	if len(p.rankProcessors()) < 2 {
		return
	}
	a, b := p.Processors[0], p.Processors[1]
	l, err := host.CacheLines(ctx, a, b)
	if err != nil {
		p.LinesErr = err
		return
	}
	p.Lines = append(p.Lines, l)
	p.Offset, p.OffsetErr = host.ClockOffset(ctx, a, b)
}

// worked is the ratio of the time to watch for interruptions to the time to measure paces.
const worked = 4

// least is the shortest time for which a processor is watched.
const least = 10 * time.Millisecond

// watch watches processors for interruptions, as many at the same time as there are ranks, and as
// many groups of them as the duration allows.
func (p *Host) watch(ctx context.Context, processors []int, d time.Duration) {
	group := max(1, min(p.Ranks, len(processors), runtime.GOMAXPROCS(0)))
	groups := (len(processors) + group - 1) / group
	if most := int(d / least); groups > most {
		groups = max(most, 1)
	}
	for n := range groups {
		of := processors[n*group : min((n+1)*group, len(processors))]
		seen, err := host.WatchInterruptions(ctx, of, d/time.Duration(groups))
		if err != nil {
			p.InterruptionsErr = err
			return
		}
		p.Interruptions = append(p.Interruptions, seen...)
	}
}

// Spoilers returns what will spoil a measurement of a job with that many ranks, as far as it can be
// found within 50 ms: check and finding.
func Spoilers(ctx context.Context, ranks int) []string {
	p := here(ranks)
	p.watch(ctx, p.rankProcessors(), briefly)
	return troubles(p)
}

func troubles(p *Host) []string {
	var list []string
	for _, f := range look(p, func(c check) bool { return c.brief }) {
		if f.Verdict >= Warning {
			list = append(list, f.Check+": "+f.Found)
		}
	}
	return list
}

// processor returns the directory of a processor in /sys.
func processor(n int) string { return path.Join("sys/devices/system/cpu", "cpu"+strconv.Itoa(n)) }

// mostProcessors bounds the numbers in lists of processors. Linux has at most 8,192 on x86-64.
const mostProcessors = 1 << 16

// processorList parses a list of processors as the kernel prints it, in ascending order: 0-3,8. A
// list of another form is empty.
func processorList(s string) []int {
	var all []int
	next := 0 // the least number that may follow
	for part := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && isRange {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < next || to >= mostProcessors {
			return nil
		}
		next = to + 1
		for n := from; n <= to; n++ {
			all = append(all, n)
		}
	}
	return all
}

// join prints numbers: 0, 2.
func join(numbers []int) string {
	var words []string
	for _, n := range numbers {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ", ")
}
