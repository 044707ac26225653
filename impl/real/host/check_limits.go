package host

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// checkQuota checks the limit on processor time: a group that has used its share of a period does
// not run before the next.
func checkQuota(p *Inspection) CheckResult {
	share, limited := p.cgroupQuota()
	if !limited {
		return okResult("none")
	}
	f := okResult("the time of %.3g processors", share)
	n := 0 // how often the process's group was throttled
	for _, dir := range p.cgroupDirs("", "cpu") {
		times, _ := strconv.Atoi(p.Files.ValueOf(path.Join(dir, "cpu.stat"), "nr_throttled"))
		n = max(n, times)
	}
	if n > 0 {
		f.Found += fmt.Sprintf("; held up %d times so far", n)
	}
	const why = "ranks that spin use it up, and then do not run until the period, of 100 ms as a rule, is over"
	if share < float64(p.Ranks) {
		return f.withVerdict(Warning, why, "raise the limit of the container or the service (cpu.max, --cpus, CPUQuota), or measure with --wait block")
	}
	return f.withVerdict(Note, why+"; for the ranks it suffices as long as nothing else runs in the group", "")
}

// cgroupQuota returns the number of processors whose time the control groups of this process allow.
func (p *Inspection) cgroupQuota() (share float64, limited bool) {
	take := func(quota, period string) {
		q, err := strconv.ParseFloat(quota, 64)
		d, err2 := strconv.ParseFloat(period, 64)
		if err == nil && err2 == nil && q > 0 && d > 0 && (!limited || q/d < share) {
			share, limited = q/d, true
		}
	}
	for _, dir := range p.cgroupDirs("", "cpu") {
		if words := strings.Fields(p.Files.FirstLine(path.Join(dir, "cpu.max"))); len(words) == 2 { // the first may be max, which is not a number
			take(words[0], words[1])
		}
		take(p.Files.FirstLine(path.Join(dir, "cpu.cfs_quota_us")), p.Files.FirstLine(path.Join(dir, "cpu.cfs_period_us")))
	}
	return share, limited
}

// Bounds of what is read of /proc/self/cgroup: PATH_MAX of Linux, and far more groups than a
// process is in.
const (
	maxPathLength = 4096
	maxCgroupDirs = 256
)

// cgroupDirs returns the directories of the control groups of this process, from its own to the
// root, in the version 1 hierarchies of the controllers, and in version 2 (""). In a container the
// root may be the group itself. It returns at most maxCgroupDirs, and leaves out paths longer than
// the kernel takes.
func (p *Inspection) cgroupDirs(controllers ...string) []string {
	b, err := fs.ReadFile(p.Files, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	var all []string
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		parts := strings.SplitN(s.Text(), ":", 3) // 4:memory:/group
		if len(parts) < 3 || len(parts[2]) > maxPathLength {
			continue
		}
		of := strings.Split(parts[1], ",")
		if !slices.ContainsFunc(controllers, func(c string) bool { return slices.Contains(of, c) }) {
			continue
		}
		root := path.Join("sys/fs/cgroup", strings.TrimPrefix(parts[1], "name="))
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			if len(all) == maxCgroupDirs {
				return all
			}
			all = append(all, path.Join(root, dir))
			if dir == "/" {
				break
			}
		}
	}
	return all
}

// Memory for a measurement: buffers of the longest messages of all ranks, and samples.
const (
	noteMemoryLeft = 256 << 20
	warnMemoryLeft = 64 << 20
)

// checkMemory checks the memory for what ranks share, for their buffers, and for samples.
func checkMemory(p *Inspection) CheckResult {
	if p.SharedMemoryErr != nil {
		return okResult("none to share: %v", p.SharedMemoryErr).withVerdict(Problem, "ranks of --platform shm meet in memory that they share", "raise the limit (ulimit -f, memory of the container), or free memory")
	}
	left, limit := p.availableMemory()
	if left < 0 {
		return okResult("%s can be shared", unit.Bytes(testedSharedMemory))
	}
	f := okResult("%s left%s", formatBytes(left), limit)
	const why = "buffers of long messages, and all samples, are kept in memory; what does not fit is swapped or kills the program"
	const do = "free some, raise the container's limit, or measure shorter messages (--sizes)"
	switch {
	case left < warnMemoryLeft:
		return f.withVerdict(Warning, why, do)
	case left < noteMemoryLeft:
		return f.withVerdict(Note, why, do)
	}
	return f
}

// formatBytes prints bytes in whole units: 24 GiB.
func formatBytes(n int64) string {
	const units = "KMGTPE"
	x, i := float64(n), -1
	for ; x >= 1024 && i+1 < len(units); i++ {
		x /= 1024
	}
	if i < 0 {
		return fmt.Sprint(n, " B")
	}
	return fmt.Sprintf("%.3g %ciB", x, units[i])
}

// AvailableMemory returns how much memory this process may still use, or -1 if that is unknown.
func AvailableMemory() int64 {
	left, _ := (&Inspection{Files: SystemFiles()}).availableMemory()
	return left
}

// availableMemory returns how much memory this process may still use, or -1, and what limits it.
func (p *Inspection) availableMemory() (left int64, limit string) {
	left = -1
	if kib, err := strconv.ParseInt(strings.TrimSuffix(p.Files.ValueOf("proc/meminfo", "MemAvailable"), " kB"), 10, 64); err == nil {
		left = kib << 10
	}
	for _, dir := range p.cgroupDirs("", "memory") {
		for _, names := range [][2]string{{"memory.max", "memory.current"}, {"memory.limit_in_bytes", "memory.usage_in_bytes"}} {
			most, limited := p.Files.FirstNumber(path.Join(dir, names[0]))
			now, known := p.Files.FirstNumber(path.Join(dir, names[1]))
			if room := max(most-now, 0); limited && known && (left < 0 || room < left) {
				left, limit = room, " in the control group"
			}
		}
	}
	if room, limited := p.freeAddressSpace(); limited && (left < 0 || room < left) {
		left, limit = room, " of the address space (ulimit -v)"
	}
	return left, limit
}

// freeAddressSpace returns how many bytes of its address space this process may still use, if that
// is limited.
func (p *Inspection) freeAddressSpace() (room int64, limited bool) {
	b, err := fs.ReadFile(p.Files, "proc/self/limits")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "Max address space"); ok {
			most, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64) // else unlimited
			now, wrong := strconv.ParseInt(strings.TrimSuffix(p.Files.ValueOf("proc/self/status", "VmSize"), " kB"), 10, 64)
			return max(most-now<<10, 0), err == nil && wrong == nil
		}
	}
	return 0, false
}

// checkProcessCopies checks that the kernel copies long messages directly from the other process.
func checkProcessCopies(p *Inspection) CheckResult {
	const why = "messages beyond 4 KiB go through shared memory in pieces, two copies in place of one: up to twice as slow; series get and put of --level message are not there"
	if p.ProcessCopyErr != nil {
		return okResult("from process to process not possible: %v", p.ProcessCopyErr).withVerdict(Note, why, "allow process_vm_readv in the container's seccomp profile (docker: --cap-add SYS_PTRACE)")
	}
	scope, _ := p.Files.FirstNumber("proc/sys/kernel/yama/ptrace_scope")
	if scope >= 2 && !(scope == 2 && p.IsRoot) {
		return okResult("from process to process not possible: ptrace_scope is %d", scope).withVerdict(Note, why, "sysctl kernel.yama.ptrace_scope=1")
	}
	return okResult("from process to process possible")
}
