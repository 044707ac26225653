package host

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// checkSystem checks for Linux, which ranks as processes need.
func checkSystem(p *Inspection) CheckResult {
	if p.OperatingSystem != "linux" {
		return okResult("%s", p.OperatingSystem).withVerdict(Problem, "ranks as processes need Linux: futexes, shared memory without a name, and pinning", "measure on Linux, or an emulated machine: loggp platforms")
	}
	f := okResult("linux %s", p.Files.FirstLine("proc/sys/kernel/osrelease"))
	f.Found = strings.TrimSpace(f.Found)
	return f
}

// checkProcessors checks that each spinning rank has a processor, and the rest of the system
// another.
func checkProcessors(p *Inspection) CheckResult {
	n := len(p.Processors)
	switch {
	case n == 0:
		return okResult("unknown").withVerdict(Note, "ranks then wait in the kernel, which takes microseconds", "")
	case n < p.Ranks:
		return okResult("%d for %d ranks", n, p.Ranks).withVerdict(Warning,
			"ranks take turns: a message waits for the scheduler, microseconds if ranks sleep (--wait block) and milliseconds if they spin",
			"give the program more processors (taskset, cpuset, container), or measure with --wait block and take the numbers for those of the scheduler")
	case n == p.Ranks:
		return okResult("%d for %d ranks", n, p.Ranks).withVerdict(Note, "anything else that runs interrupts a rank: the tails of distributions are those of the system", "leave the machine alone while it measures")
	}
	return okResult("%d for %d ranks", n, p.Ranks)
}

// checkPinning checks that threads can be pinned: a rank that moves to another processor finds cold
// caches and other distances.
func checkPinning(p *Inspection) CheckResult {
	if p.PinErr != nil {
		return okResult("not possible: %v", p.PinErr).withVerdict(Warning,
			"ranks move between processors: each move costs caches, and distances change within a series, by up to a factor of ten",
			"allow sched_setaffinity (a container's seccomp profile), or measure with --pin=false and expect wide intervals")
	}
	if len(p.Processors) == 0 {
		return okResult("unknown on which processors")
	}
	online := parseProcessorList(p.Files.FirstLine("sys/devices/system/cpu/online"))
	if n := len(p.Processors); n < len(online) {
		return okResult("possible, on %d of %d processors: %s", n, len(online), joinNumbers(p.Processors[:min(n, 8)])).withVerdict(Note, "an affinity mask or a cpuset allows only these", "")
	}
	return okResult("possible")
}

// checkCores checks that ranks do not share a core: its hardware threads share execution units and
// the nearest caches.
func checkCores(p *Inspection) CheckResult {
	const siblings = "topology/thread_siblings_list"
	most := 1
	for _, a := range p.rankProcessors() {
		with := parseProcessorList(p.Files.FirstLine(path.Join(processorDir(a), siblings)))
		most = max(most, len(with))
		for _, b := range p.rankProcessors() {
			if a < b && slices.Contains(with, b) {
				return okResult("ranks on the processors %d and %d share a core", a, b).withVerdict(Warning,
					"each slows the other down, overheads by up to a factor of two, and a message takes a third of what it takes between two cores",
					p.adviseDistinct(func(n int) string { return p.Files.FirstLine(path.Join(processorDir(n), siblings)) }))
			}
		}
	}
	if n := len(p.Processors); n > 0 && n < p.Ranks {
		return okResult("fewer than ranks: see processors")
	}
	if most > 1 {
		return okResult("each rank has a core of its own, which has %d hardware threads", most).withVerdict(Note, "a program on the other thread of a rank's core slows the rank by up to a factor of two", "leave the machine alone while it measures")
	}
	return okResult("each rank has a core of its own")
}

// adviseDistinct returns the advice to run on processors that all differ in kind.
func (p *Inspection) adviseDistinct(kind func(processor int) string) string {
	var chosen []int
	seen := map[string]bool{}
	for _, n := range p.Processors {
		if k := kind(n); !seen[k] && len(chosen) < p.Ranks {
			seen[k] = true
			chosen = append(chosen, n)
		}
	}
	if len(chosen) < p.Ranks {
		return "give the program more processors: those that it has do not suffice"
	}
	return "start it on others: " + tasksetCommand(chosen)
}

func tasksetCommand(processors []int) string {
	return "taskset -c " + strings.ReplaceAll(joinNumbers(processors), " ", "") + " loggp measure ..."
}

// checkProcessorKinds checks that the ranks' processors are of one kind: some computers have fast
// and slow ones.
func checkProcessorKinds(p *Inspection) CheckResult {
	speed := func(n int) string {
		capacity, _ := p.Files.FirstNumber(path.Join(processorDir(n), "cpu_capacity"))
		fastest, _ := p.Files.FirstNumber(path.Join(processorDir(n), "cpufreq/cpuinfo_max_freq"))
		return fmt.Sprint(capacity, fastest/100_000) // within 100 MHz they are alike: favoured cores of one kind differ by less
	}
	places := p.rankProcessors()
	for _, n := range places {
		if speed(n) != speed(places[0]) {
			return okResult("ranks on the processors %d and %d are on fast and slow ones", places[0], n).withVerdict(Warning, "o_s is then that of one kind, and o_r of the other", p.adviseAlike(speed))
		}
	}
	return okResult("the ranks' processors are alike")
}

// adviseAlike returns the advice to run on processors of one kind.
func (p *Inspection) adviseAlike(kind func(processor int) string) string {
	same := map[string][]int{}
	for _, n := range p.Processors {
		k := kind(n)
		if same[k] = append(same[k], n); len(same[k]) == p.Ranks {
			return "start it on one kind: " + tasksetCommand(same[k])
		}
	}
	return "no kind has enough processors for all ranks"
}

// checkMemoryNodes checks that the ranks' processors belong to one memory node: others are farther
// apart.
func checkMemoryNodes(p *Inspection) CheckResult {
	lists, _ := fs.Glob(p.Files, "sys/devices/system/node/node[0-9]*/cpulist")
	node := func(n int) string {
		for _, name := range lists {
			if slices.Contains(parseProcessorList(p.Files.FirstLine(name)), n) {
				return strings.TrimPrefix(path.Base(path.Dir(name)), "node")
			}
		}
		return "?"
	}
	places := p.rankProcessors()
	for _, n := range places {
		if node(n) != node(places[0]) {
			return okResult("ranks on the processors %d and %d are in the memory nodes %s and %s", places[0], n, node(places[0]), node(n)).withVerdict(Note,
				"a cache line takes two to three times as long between nodes: these numbers are of that way, and not of the one within a node",
				"to measure within a node, "+p.adviseAlike(node))
		}
	}
	if p.Files.FirstLine("proc/sys/kernel/numa_balancing") == "1" && len(lists) > 1 {
		return okResult("the ranks are in one of %d, and the kernel moves pages between nodes", len(lists)).withVerdict(Note, "checking a page for migration costs a fault of some microseconds", "sysctl kernel.numa_balancing=0")
	}
	return okResult("the ranks are in one of %d", max(len(lists), 1))
}
