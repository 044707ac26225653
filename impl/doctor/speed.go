package doctor

import (
	"io/fs"
	"path"
	"strings"
)

// steady are governors under which a processor's clock does not follow the load.
var steady = map[string]bool{"performance": true, "userspace": true}

// frequency: a processor that saves power is slow at first.
func frequency(p *Patient) Finding {
	governor := ""
	for _, n := range p.places() {
		g := p.Files.Governor(n)
		if g == "" {
			return found("no governor to be seen: the clock rate is fixed, or the host's to choose")
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

// power: a computer on its battery is slower.
func power(p *Patient) Finding {
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
		return found("on its battery").matters(Warning, "processors are kept below their clock rate, by up to a factor of two", "plug it in")
	}
	return found("mains")
}

// deep is how long the way out of an idle state takes, in microseconds, from which on it is worth a word.
const deep = 20

// idle: a processor that sleeps takes time to wake.
func idle(p *Patient) Finding {
	var latency int64
	name := ""
	for _, n := range p.places() {
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
		return found("none to be seen")
	case latency > deep:
		return found("to %s, from which it takes %d us to wake", name, latency).matters(Note, "what waits in the kernel (--wait block) may take as much longer; what spins does not notice",
			"hold /dev/cpu_dma_latency open at 0, or cpupower idle-set -D 0")
	}
	return found("to %s, from which it takes %d us to wake", name, latency)
}

// vdso are the clocks that are read without a system call.
var vdso = map[string]bool{"tsc": true, "kvm-clock": true, "hyperv_clocksource_tsc_page": true, "arch_sys_counter": true, "timebase": true, "tod": true, "riscv_clocksource": true}

// Limits for a clock, in nanoseconds.
const (
	dear   = 150 // a reading
	coarse = 100 // a step
)

// clock: what it costs to look at it is in every number, and steps hide what is shorter.
func clock(p *Patient) Finding {
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

// common: times between ranks stand on one clock for all processors.
func common(p *Patient) Finding {
	switch {
	case len(p.places()) < 2:
		return found("one processor has one")
	case p.Apart != nil || p.Lineless != nil && len(p.Lines) == 0:
		return found("not checked: %v", first(p.Apart, p.Lineless)).matters(Note, "times that begin on one rank and end on another stand on one clock for both; round trips do not", "")
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

// Ratios of times of cache lines.
const (
	changed = 1.15 // of the median to what it was before
	spread  = 1.5  // of the quartiles
)

// lines: a short message over shared memory is the way of a line or two.
func lines(p *Patient) Finding {
	switch {
	case len(p.places()) < 2:
		return found("it takes two processors")
	case len(p.Lines) == 0:
		return found("not passed: %v", p.Lineless).matters(Warning, "the two processors did not run at one time, and so will ranks that spin", "see busy and interruptions")
	}
	a, b := p.Lines[0], p.Lines[len(p.Lines)-1]
	f := found("one way %v", b)
	low, high := min(a.Median, b.Median), max(a.Median, b.Median)
	switch {
	case high > changed*low:
		f.Found = "one way " + a.String() + " at first and " + b.String() + " later"
		return f.matters(Warning, "all times of short messages over shared memory move with it, from launch to launch and within one",
			"measure more launches, and compare those of one mode (fact line_ns); see busy and virtual machine")
	case b.High > spread*b.Low:
		return f.matters(Note, "it depends on where in memory a line is: two launches of the same program differ by as much", "measure several launches")
	}
	return f
}

// slack is how late the kernel lets sleepers be, in nanoseconds, unless told otherwise.
const slack = 50_000

// sleep: how late a thread wakes that sleeps for a time.
func sleep(p *Patient) Finding {
	ns, ok := p.Files.Number("proc/self/timerslack_ns")
	switch {
	case !ok:
		return found("the slack of timers is not to be seen")
	case ns > slack:
		return found("timers may be %.3g us late", float64(ns)/1e3).matters(Note, "delays of the benchmark that are slept and not spun end later, which makes it take longer; times are not touched",
			"start it from a shell without this setting (systemd: TimerSlackNSec)")
	}
	return found("timers may be %.3g us late", float64(ns)/1e3)
}

// vendor: is there an MPI, and will it start?
func vendor(p *Patient) Finding {
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
		return found("%s, and there is neither mpirun nor mpiexec", located(compiler, compiles)).matters(Note, "--platform mpi needs something to start ranks", "name it: --launcher 'srun -n 2'")
	}
	f := found("%s, %s", located(compiler, compiles), located(starter, launcher))
	open := strings.Contains(launcher, "openmpi") || strings.HasSuffix(launcher, "orterun") || strings.HasSuffix(launcher, "prterun")
	if p.Root && open && (p.Environment("OMPI_ALLOW_RUN_AS_ROOT") != "1" || p.Environment("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") != "1") {
		return f.matters(Note, "Open MPI does not run as root: --platform mpi will be refused", "measure as another user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	}
	return f
}

// located names a program as it is called, and the file that it is behind all links.
func located(name, file string) string {
	if name == file {
		return name
	}
	return name + " is " + file
}
