package doctor

import (
	"io/fs"
	"path"
	"strings"
)

// steady are the governors that do not adapt the frequency to the load.
var steady = map[string]bool{"performance": true, "userspace": true}

// frequency: a processor that saves power is slow at first.
func frequency(p *Host) Result {
	governor := ""
	for _, n := range p.rankProcessors() {
		g := p.Files.Governor(n)
		if g == "" {
			return found("no governor: the frequency is fixed, or chosen by the host")
		}
		if governor = g; !steady[g] {
			return found("governor %s on processor %d", g, n).matters(Warning,
				"the clock rate follows the load: the first milliseconds are slower, by up to a factor of four, and a rank that sleeps is slow again",
				"cpupower frequency-set -g performance, or --wait spin and a long --warmup")
		}
	}
	if p.Files.Turbo() == "on" {
		return found("governor %s, with turbo", governor).matters(Note, "the clock rate depends on heat and on how many cores work: some percent from one minute to the next",
			"to compare days, turn it off: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > /sys/devices/system/cpu/cpufreq/boost")
	}
	return found("governor %s", governor)
}

// power: a computer on battery is slower.
func power(p *Host) Result {
	mains, online := 0, 0
	names, _ := fs.Glob(p.Files, "sys/class/power_supply/*/type")
	for _, name := range names {
		if p.Files.Line(name) == "Mains" {
			mains++
			if p.Files.Line(path.Join(path.Dir(name), "online")) == "1" {
				online++
			}
		}
	}
	if mains > 0 && online == 0 {
		return found("on battery").matters(Warning, "processors are kept below their clock rate, by up to a factor of two", "plug it in")
	}
	return found("mains")
}

// deep is the exit latency of an idle state, in microseconds, from which on it matters.
const deep = 20

// idle: a processor in an idle state takes time to wake.
func idle(p *Host) Result {
	var latency int64
	name := ""
	for _, n := range p.rankProcessors() {
		states, _ := fs.Glob(p.Files, path.Join(processor(n), "cpuidle/state*/latency"))
		for _, s := range states {
			us, _ := p.Files.Number(s)
			if off := p.Files.Line(path.Join(path.Dir(s), "disable")); us > latency && off != "1" {
				latency, name = us, p.Files.Line(path.Join(path.Dir(s), "name"))
			}
		}
	}
	switch {
	case name == "":
		return found("none visible")
	case latency > deep:
		return found("to %s, from which it takes %d us to wake", name, latency).matters(Note, "waits in the kernel (--wait block) may take as much longer; spinning ranks are not affected",
			"hold /dev/cpu_dma_latency open at 0, or cpupower idle-set -D 0")
	}
	return found("to %s, from which it takes %d us to wake", name, latency)
}

// vdso are the clock sources that are read without a system call.
var vdso = map[string]bool{"tsc": true, "kvm-clock": true, "hyperv_clocksource_tsc_page": true, "arch_sys_counter": true, "timebase": true, "tod": true, "riscv_clocksource": true}

// Limits for a clock, in nanoseconds.
const (
	dear   = 150 // a reading
	coarse = 100 // a step
)

// clock: each time includes the cost of reading it, and its steps hide what is shorter.
func clock(p *Host) Result {
	source := p.Files.ClockSource()
	step, cost := 1e3*p.Step.Micros(), 1e3*p.Cost.Micros()
	name := source
	if name == "" {
		name = "unknown source"
	}
	f := found("%s: steps of %.3g ns, and a reading costs %.3g ns", name, step, cost)
	const why = "the cost is taken out of times, and its variation is not: times below some hundred ns are uncertain; steps round each time, of which only batches help"
	const do = "see why the kernel does not trust a better clock (dmesg | grep -i clocksource): echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"
	if source != "" && !vdso[source] || cost > dear || step > coarse {
		return f.matters(Warning, why, do)
	}
	return f
}

// common: times from one rank to another assume one clock for all processors.
func common(p *Host) Result {
	switch {
	case len(p.rankProcessors()) < 2:
		return found("one processor has one")
	case p.OffsetErr != nil || p.LinesErr != nil && len(p.Lines) == 0:
		return found("not checked: %v", first(p.OffsetErr, p.LinesErr)).matters(Note, "times that begin on one rank and end on another need one clock for both; round trips do not", "")
	case !p.Offset.Common():
		return found("no: one processor is ahead of the other by %v ns", p.Offset).matters(Warning, "times that begin on one rank and end on another are wrong by as much; round trips are not",
			"choose another clock source, or look at round trips alone")
	}
	return found("yes: 0 is within %v ns", p.Offset)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Ratios of cache line times from which they matter.
const (
	changed = 1.15 // of the medians before and after
	spread  = 1.5  // of the quartiles
)

// lines: a short message over shared memory takes as long as one or two cache lines.
func lines(p *Host) Result {
	switch {
	case len(p.rankProcessors()) < 2:
		return found("needs two processors")
	case len(p.Lines) == 0:
		return found("not passed: %v", p.LinesErr).matters(Warning, "the two processors did not run at the same time, and spinning ranks will not either", "see busy and interruptions")
	}
	a, b := p.Lines[0], p.Lines[len(p.Lines)-1]
	f := found("one way %v", b)
	low, high := min(a.Median, b.Median), max(a.Median, b.Median)
	switch {
	case high > changed*low:
		f.Found = "one way " + a.String() + " at first and " + b.String() + " later"
		return f.matters(Warning, "all times of short messages over shared memory change with it, from launch to launch and within one",
			"measure more launches, and compare those of one mode (fact line_ns); see busy and virtual machine")
	case b.High > spread*b.Low:
		return f.matters(Note, "it depends on where in memory a line is: two launches of the same program differ by as much", "measure several launches")
	}
	return f
}

// slack is the default timer slack of the kernel, in nanoseconds.
const slack = 50_000

// sleep: timers fire late by their slack.
func sleep(p *Host) Result {
	ns, ok := p.Files.Number("proc/self/timerslack_ns")
	switch {
	case !ok:
		return found("timer slack unknown")
	case ns > slack:
		return found("timers may be %.3g us late", float64(ns)/1e3).matters(Note, "sleeps of the benchmark end later, so it takes longer; measured times are not affected",
			"start it from a shell without this setting (systemd: TimerSlackNSec)")
	}
	return found("timers may be %.3g us late", float64(ns)/1e3)
}

// vendor: whether there is an MPI, and whether it will start.
func vendor(p *Host) Result {
	compiler := p.Environment("MPICC")
	if compiler == "" {
		compiler = "mpicc"
	}
	compiles := p.Program(compiler)
	starter := "mpirun"
	launcher := p.Program(starter)
	if launcher == "" {
		starter = "mpiexec"
		launcher = p.Program(starter)
	}
	switch {
	case compiles == "":
		return found("no %s", compiler).matters(Note, "--platform mpi needs one", "install one (Debian: openmpi-bin libopenmpi-dev), or name it: --mpicc, MPICC")
	case launcher == "":
		return found("%s, and there is neither mpirun nor mpiexec", located(compiler, compiles)).matters(Note, "--platform mpi needs something to start ranks", "name it with --launcher, such as 'srun -n 2'")
	}
	f := found("%s, %s", located(compiler, compiles), located(starter, launcher))
	open := strings.Contains(launcher, "openmpi") || strings.HasSuffix(launcher, "orterun") || strings.HasSuffix(launcher, "prterun")
	if p.Root && open && (p.Environment("OMPI_ALLOW_RUN_AS_ROOT") != "1" || p.Environment("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") != "1") {
		return f.matters(Note, "Open MPI does not run as root: --platform mpi will be refused", "measure as another user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	}
	return f
}

// located names a program as it is called, and the file to which its links lead.
func located(name, file string) string {
	if name == file {
		return name
	}
	return name + " is " + file
}
