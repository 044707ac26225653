package doctor

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// system: ranks as processes need Linux.
func system(p *Host) Result {
	if p.System != "linux" {
		return found("%s", p.System).matters(Problem, "ranks as processes need Linux: futexes, shared memory without a name, and pinning", "measure on Linux, or an emulated machine: loggp platforms")
	}
	f := found("linux %s", p.Files.Line("proc/sys/kernel/osrelease"))
	f.Found = strings.TrimSpace(f.Found)
	return f
}

// processors: each spinning rank needs a processor, and the rest of the system another.
func processors(p *Host) Result {
	n := len(p.Processors)
	switch {
	case n == 0:
		return found("unknown").matters(Note, "ranks then wait in the kernel, which takes microseconds", "")
	case n < p.Ranks:
		return found("%d for %d ranks", n, p.Ranks).matters(Warning,
			"ranks take turns: a message waits for the scheduler, microseconds if ranks sleep (--wait block) and milliseconds if they spin",
			"give the program more processors (taskset, cpuset, container), or measure with --wait block and take the numbers for those of the scheduler")
	case n == p.Ranks:
		return found("%d for %d ranks", n, p.Ranks).matters(Note, "anything else that runs interrupts a rank: the tails of distributions are those of the system", "leave the machine alone while it measures")
	}
	return found("%d for %d ranks", n, p.Ranks)
}

// pinning: a rank that moves to another processor finds cold caches and other distances.
func pinning(p *Host) Result {
	if p.Pinning != nil {
		return found("not possible: %v", p.Pinning).matters(Warning,
			"ranks move between processors: each move costs caches, and distances change within a series, by up to a factor of ten",
			"allow sched_setaffinity (a container's seccomp profile), or measure with --pin=false and expect wide intervals")
	}
	if len(p.Processors) == 0 {
		return found("unknown on which processors")
	}
	online := processorList(p.Files.Line("sys/devices/system/cpu/online"))
	if n := len(p.Processors); n < len(online) {
		return found("possible, on %d of %d processors: %s", n, len(online), join(p.Processors[:min(n, 8)])).matters(Note, "an affinity mask or a cpuset allows only these", "")
	}
	return found("possible")
}

// cores: hardware threads of one core share its execution units and nearest caches.
func cores(p *Host) Result {
	const siblings = "topology/thread_siblings_list"
	most := 1
	for _, a := range p.rankProcessors() {
		with := processorList(p.Files.Line(path.Join(processor(a), siblings)))
		most = max(most, len(with))
		for _, b := range p.rankProcessors() {
			if a < b && slices.Contains(with, b) {
				return found("ranks on the processors %d and %d share a core", a, b).matters(Warning,
					"each slows the other down, overheads by up to a factor of two, and a message takes a third of what it takes between two cores",
					p.apart(func(n int) string { return p.Files.Line(path.Join(processor(n), siblings)) }))
			}
		}
	}
	if n := len(p.Processors); n > 0 && n < p.Ranks {
		return found("fewer than ranks: see processors")
	}
	if most > 1 {
		return found("each rank has a core of its own, which has %d hardware threads", most).matters(Note, "a program on the other thread of a rank's core slows the rank by up to a factor of two", "leave the machine alone while it measures")
	}
	return found("each rank has a core of its own")
}

// apart returns the advice to run on processors that all differ in kind.
func (p *Host) apart(kind func(processor int) string) string {
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
	return "start it on others: " + taskset(chosen)
}

func taskset(processors []int) string {
	return "taskset -c " + strings.ReplaceAll(join(processors), " ", "") + " loggp measure ..."
}

// kinds: some machines have both fast and slow processors.
func kinds(p *Host) Result {
	speed := func(n int) string {
		capacity, _ := p.Files.Number(path.Join(processor(n), "cpu_capacity"))
		fastest, _ := p.Files.Number(path.Join(processor(n), "cpufreq/cpuinfo_max_freq"))
		return fmt.Sprint(capacity, fastest/100_000) // within 100 MHz they are alike: favoured cores of one kind differ by less
	}
	places := p.rankProcessors()
	for _, n := range places {
		if speed(n) != speed(places[0]) {
			return found("ranks on the processors %d and %d are on fast and slow ones", places[0], n).matters(Warning, "o_s is then that of one kind, and o_r of the other", p.alike(speed))
		}
	}
	return found("the ranks' processors are alike")
}

// alike returns the advice to run on processors of one kind.
func (p *Host) alike(kind func(processor int) string) string {
	same := map[string][]int{}
	for _, n := range p.Processors {
		k := kind(n)
		if same[k] = append(same[k], n); len(same[k]) == p.Ranks {
			return "start it on one kind: " + taskset(same[k])
		}
	}
	return "no kind has enough processors for all ranks"
}

// nodes: processors of different memory nodes are farther apart.
func nodes(p *Host) Result {
	lists, _ := fs.Glob(p.Files, "sys/devices/system/node/node[0-9]*/cpulist")
	node := func(n int) string {
		for _, name := range lists {
			if slices.Contains(processorList(p.Files.Line(name)), n) {
				return strings.TrimPrefix(path.Base(path.Dir(name)), "node")
			}
		}
		return "?"
	}
	places := p.rankProcessors()
	for _, n := range places {
		if node(n) != node(places[0]) {
			return found("ranks on the processors %d and %d are in the memory nodes %s and %s", places[0], n, node(places[0]), node(n)).matters(Note,
				"a cache line takes two to three times as long between nodes: these numbers are of that way, and not of the one within a node",
				"to measure within a node, "+p.alike(node))
		}
	}
	if p.Files.Line("proc/sys/kernel/numa_balancing") == "1" && len(lists) > 1 {
		return found("the ranks are in one of %d, and the kernel moves pages between nodes", len(lists)).matters(Note, "checking a page for migration costs a fault of some microseconds", "sysctl kernel.numa_balancing=0")
	}
	return found("the ranks are in one of %d", max(len(lists), 1))
}
