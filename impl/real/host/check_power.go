package host

import (
	"io/fs"
	"path"
)

// fixedGovernors are the governors that do not adapt the frequency to the load.
var fixedGovernors = map[string]bool{"performance": true, "userspace": true}

// checkFrequency checks the frequency governor: a processor that saves power is slow at first.
func checkFrequency(p *Inspection) CheckResult {
	governor := ""
	for _, n := range p.rankProcessors() {
		g := p.Files.Governor(n)
		if g == "" {
			return okResult("no governor: the frequency is fixed, or chosen by the host")
		}
		if governor = g; !fixedGovernors[g] {
			return okResult("governor %s on processor %d", g, n).withVerdict(Warning,
				"the clock rate follows the load: the first milliseconds are slower, by up to a factor of four, and a rank that sleeps is slow again",
				"cpupower frequency-set -g performance, or --wait spin and a long --warmup")
		}
	}
	if p.Files.Turbo() == "on" {
		return okResult("governor %s, with turbo", governor).withVerdict(Note, "the clock rate depends on heat and on how many cores work: some percent from one minute to the next",
			"to compare days, turn it off: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > /sys/devices/system/cpu/cpufreq/boost")
	}
	return okResult("governor %s", governor)
}

// checkPower warns of a battery: processors are slower on it.
func checkPower(p *Inspection) CheckResult {
	mains, online := 0, 0
	names, _ := fs.Glob(p.Files, "sys/class/power_supply/*/type")
	for _, name := range names {
		if p.Files.FirstLine(name) == "Mains" {
			mains++
			if p.Files.FirstLine(path.Join(path.Dir(name), "online")) == "1" {
				online++
			}
		}
	}
	if mains > 0 && online == 0 {
		return okResult("on battery").withVerdict(Warning, "processors are kept below their clock rate, by up to a factor of two", "plug it in")
	}
	return okResult("mains")
}

// noteIdleLatencyMicros is the exit latency of an idle state, in microseconds, from which on it
// matters.
const noteIdleLatencyMicros = 20

// checkIdleStates checks how long a processor takes to wake from its deepest idle state.
func checkIdleStates(p *Inspection) CheckResult {
	var latency int64
	name := ""
	for _, n := range p.rankProcessors() {
		states, _ := fs.Glob(p.Files, path.Join(processorDir(n), "cpuidle/state*/latency"))
		for _, s := range states {
			us, _ := p.Files.FirstNumber(s)
			if off := p.Files.FirstLine(path.Join(path.Dir(s), "disable")); us > latency && off != "1" {
				latency, name = us, p.Files.FirstLine(path.Join(path.Dir(s), "name"))
			}
		}
	}
	switch {
	case name == "":
		return okResult("none visible")
	case latency > noteIdleLatencyMicros:
		return okResult("to %s, from which it takes %d us to wake", name, latency).withVerdict(Note, "waits in the kernel (--wait block) may take as much longer; spinning ranks are not affected",
			"hold /dev/cpu_dma_latency open at 0, or cpupower idle-set -D 0")
	}
	return okResult("to %s, from which it takes %d us to wake", name, latency)
}
