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

	"github.com/loggp/loggp/impl/machine"
	"github.com/loggp/loggp/model/unit"
)

// Patient is a machine as it was found.
type Patient struct {
	System      string // of runtime.GOOS
	Files       machine.Files
	Ranks       int   // of the job that is to be measured
	Processors  []int // on which the program may run
	Root        bool  // the user is
	Self        int   // this process
	Environment func(name string) string
	Program     func(name string) string // where a program is, or ""

	// What was tried: why it is not possible, or nil.
	Pinning error // keeping a thread on each rank's processor
	Memory  error // memory that processes share
	Copies  error // copies from process to process

	// What was measured.
	Room       int64 // bytes that /dev/shm has for this user; -1: it is not known
	Step, Cost unit.Time
	Offset     machine.Offset // between the first two ranks' processors
	Apart      error          // why there is no offset
	Lines      []machine.CacheLineTimes
	Lineless   error // why there are none
	Gaps       []machine.Interruptions
	Gapless    error
	Paces      []machine.Pace // of the ranks' processors
	Paceless   error
	Uses       [2]use // of the machine, before and after
}

// places returns the processor of each rank, or fewer if there are fewer.
func (p *Patient) places() []int { return p.Processors[:min(p.Ranks, len(p.Processors))] }

// Effort is how long to look.
type Effort struct {
	Ranks int
	Watch time.Duration // for interruptions, in all
}

// Patience of the verb.
const (
	Thorough = 1200 * time.Millisecond
	Quick    = 200 * time.Millisecond
	briefly  = 25 * time.Millisecond
)

// What memory is tried for: more than what ranks share of a job of a few.
const tried = 16 << 20

// Examine looks at this machine, for a little longer than the effort says. It fails when the context is done.
func Examine(ctx context.Context, e Effort) (*Patient, error) {
	p := here(e.Ranks)
	p.Room = -1
	if n, err := machine.FreeSpace("/dev/shm"); err == nil {
		p.Room = n
	}
	p.Uses[0] = used(p.Files)
	p.pass(ctx)
	p.watch(ctx, p.Processors, e.Watch)
	p.Paces, p.Paceless = machine.MeasurePaces(ctx, p.places(), e.Watch/worked)
	p.pass(ctx)
	p.Uses[1] = used(p.Files)
	return p, context.Cause(ctx)
}

// here returns this machine with what takes no time to know.
func here(ranks int) *Patient {
	p := &Patient{
		System: runtime.GOOS, Files: machine.System(), Ranks: ranks, Processors: machine.Processors(), Root: os.Geteuid() == 0, Self: os.Getpid(),
		Environment: os.Getenv, Program: program, Memory: share(), Copies: machine.ProcessCopy(),
	}
	p.Step, p.Cost = machine.Clock()
	p.Pinning = machine.Pinnable(p.places())
	return p
}

// share says why processes cannot share memory.
func share() error {
	f, err := machine.Memory(tried)
	if err == nil {
		f.Close()
	}
	return err
}

// program returns where a program is, behind all links.
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

// pass passes cache lines, and bounds the offset of clocks, between the first two ranks.
func (p *Patient) pass(ctx context.Context) {
	if len(p.places()) < 2 {
		return
	}
	a, b := p.Processors[0], p.Processors[1]
	l, err := machine.CacheLines(ctx, a, b)
	if err != nil {
		p.Lineless = err
		return
	}
	p.Lines = append(p.Lines, l)
	p.Offset, p.Apart = machine.ClockOffset(ctx, a, b)
}

// worked is by how much shorter it is looked how quickly processors work than for interruptions.
const worked = 4

// least is how long a processor is watched at least.
const least = 10 * time.Millisecond

// watch watches processors for interruptions, as many at one time as there are ranks, for as long as there is time.
func (p *Patient) watch(ctx context.Context, processors []int, d time.Duration) {
	group := max(1, min(p.Ranks, len(processors), runtime.GOMAXPROCS(0)))
	groups := (len(processors) + group - 1) / group
	if most := int(d / least); groups > most {
		groups = max(most, 1)
	}
	for n := range groups {
		of := processors[n*group : min((n+1)*group, len(processors))]
		seen, err := machine.WatchInterruptions(ctx, of, d/time.Duration(groups))
		if err != nil {
			p.Gapless = err
			return
		}
		p.Gaps = append(p.Gaps, seen...)
	}
}

// Troubles returns what will spoil a measurement of a job of some ranks, as far as that can be told within 50 ms: what was found, and by which check.
func Troubles(ctx context.Context, ranks int) []string {
	p := here(ranks)
	p.watch(ctx, p.places(), briefly)
	return troubles(p)
}

func troubles(p *Patient) []string {
	var list []string
	for _, f := range look(p, func(c check) bool { return c.brief }) {
		if f.Verdict >= Warning {
			list = append(list, f.Check+": "+f.Found)
		}
	}
	return list
}

// processor returns the directory of what the system says of a processor.
func processor(n int) string { return path.Join("sys/devices/system/cpu", "cpu"+strconv.Itoa(n)) }

// list reads a list of processors as the system prints it: 0-3,8.
func list(s string) []int {
	var all []int
	for part := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && isRange {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 0 || to-from > 1<<16 {
			return nil
		}
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
