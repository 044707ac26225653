package doctor

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/impl/real/host"

	"github.com/loggp/loggp/model/unit"
)

// quota: a group that has used its share of a period does not run before the next.
func quota(p *Host) Result {
	share, limited := p.quota()
	if !limited {
		return found("none")
	}
	f := found("the time of %.3g processors", share)
	n := 0 // how often the process's group was throttled
	for _, dir := range p.groups("", "cpu") {
		times, _ := strconv.Atoi(p.Files.Value(path.Join(dir, "cpu.stat"), "nr_throttled"))
		n = max(n, times)
	}
	if n > 0 {
		f.Found += fmt.Sprintf("; held up %d times so far", n)
	}
	const why = "ranks that spin use it up, and then do not run until the period, of 100 ms as a rule, is over"
	if share < float64(p.Ranks) {
		return f.matters(Warning, why, "raise the limit of the container or the service (cpu.max, --cpus, CPUQuota), or measure with --wait block")
	}
	return f.matters(Note, why+"; for the ranks it suffices as long as nothing else runs in the group", "")
}

// quota returns the number of processors whose time the control groups of this process allow.
func (p *Host) quota() (share float64, limited bool) {
	take := func(quota, period string) {
		q, err := strconv.ParseFloat(quota, 64)
		d, err2 := strconv.ParseFloat(period, 64)
		if err == nil && err2 == nil && q > 0 && d > 0 && (!limited || q/d < share) {
			share, limited = q/d, true
		}
	}
	for _, dir := range p.groups("", "cpu") {
		if words := strings.Fields(p.Files.Line(path.Join(dir, "cpu.max"))); len(words) == 2 { // the first may be max, which is not a number
			take(words[0], words[1])
		}
		take(p.Files.Line(path.Join(dir, "cpu.cfs_quota_us")), p.Files.Line(path.Join(dir, "cpu.cfs_period_us")))
	}
	return share, limited
}

// Bounds of what is read of /proc/self/cgroup: PATH_MAX of Linux, and far more groups than a
// process is in.
const (
	longestPath = 4096
	mostGroups  = 256
)

// groups returns the directories of the control groups of this process, from its own to the root,
// in the version 1 hierarchies of the controllers, and in version 2 (""). In a container the root
// may be the group itself. It returns at most mostGroups, and leaves out paths longer than the
// kernel takes.
func (p *Host) groups(controllers ...string) []string {
	b, err := fs.ReadFile(p.Files, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	var all []string
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		parts := strings.SplitN(s.Text(), ":", 3) // 4:memory:/group
		if len(parts) < 3 || len(parts[2]) > longestPath {
			continue
		}
		of := strings.Split(parts[1], ",")
		if !slices.ContainsFunc(controllers, func(c string) bool { return slices.Contains(of, c) }) {
			continue
		}
		root := path.Join("sys/fs/cgroup", strings.TrimPrefix(parts[1], "name="))
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			if len(all) == mostGroups {
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
	enough   = 256 << 20
	adequate = 64 << 20
)

// memory: shared memory of the ranks, their buffers, and the samples.
func memory(p *Host) Result {
	if p.Memory != nil {
		return found("none to share: %v", p.Memory).matters(Problem, "ranks of --platform shm meet in memory that they share", "raise the limit (ulimit -f, memory of the container), or free memory")
	}
	left, limit := p.available()
	if left < 0 {
		return found("%s can be shared", unit.Bytes(tried))
	}
	f := found("%s left%s", round(left), limit)
	const why = "buffers of long messages, and all samples, are kept in memory; what does not fit is swapped or kills the program"
	const do = "free some, raise the container's limit, or measure shorter messages (--sizes)"
	switch {
	case left < adequate:
		return f.matters(Warning, why, do)
	case left < enough:
		return f.matters(Note, why, do)
	}
	return f
}

// round prints bytes in whole units: 24 GiB.
func round(n int64) string {
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

// Memory returns how much memory this process may still use, or -1 if that is unknown.
func Memory() int64 {
	left, _ := (&Host{Files: host.System()}).available()
	return left
}

// available returns how much memory this process may still use, or -1, and what limits it.
func (p *Host) available() (left int64, limit string) {
	left = -1
	if kib, err := strconv.ParseInt(strings.TrimSuffix(p.Files.Value("proc/meminfo", "MemAvailable"), " kB"), 10, 64); err == nil {
		left = kib << 10
	}
	for _, dir := range p.groups("", "memory") {
		for _, names := range [][2]string{{"memory.max", "memory.current"}, {"memory.limit_in_bytes", "memory.usage_in_bytes"}} {
			most, limited := p.Files.Number(path.Join(dir, names[0]))
			now, known := p.Files.Number(path.Join(dir, names[1]))
			if room := max(most-now, 0); limited && known && (left < 0 || room < left) {
				left, limit = room, " in the control group"
			}
		}
	}
	if room, limited := p.addresses(); limited && (left < 0 || room < left) {
		left, limit = room, " of the address space (ulimit -v)"
	}
	return left, limit
}

// addresses returns how many bytes of its address space this process may still use, if that is
// limited.
func (p *Host) addresses() (room int64, limited bool) {
	b, err := fs.ReadFile(p.Files, "proc/self/limits")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "Max address space"); ok {
			most, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64) // else unlimited
			now, wrong := strconv.ParseInt(strings.TrimSuffix(p.Files.Value("proc/self/status", "VmSize"), " kB"), 10, 64)
			return max(most-now<<10, 0), err == nil && wrong == nil
		}
	}
	return 0, false
}

// copies: long messages are copied directly from the other process, if that is allowed.
func copies(p *Host) Result {
	const why = "messages beyond 4 KiB go through shared memory in pieces, two copies in place of one: up to twice as slow; series get and put of --level message are not there"
	if p.Copies != nil {
		return found("from process to process not possible: %v", p.Copies).matters(Note, why, "allow process_vm_readv in the container's seccomp profile (docker: --cap-add SYS_PTRACE)")
	}
	scope, _ := p.Files.Number("proc/sys/kernel/yama/ptrace_scope")
	if scope >= 2 && !(scope == 2 && p.Root) {
		return found("from process to process not possible: ptrace_scope is %d", scope).matters(Note, why, "sysctl kernel.yama.ptrace_scope=1")
	}
	return found("from process to process possible")
}

// small is the least free space in /dev/shm for other MPI libraries.
const small = 128 << 20

// shared: MPI libraries keep the shared memory of their ranks in /dev/shm.
func shared(p *Host) Result {
	const why = "MPI libraries put there what their ranks share (this program does not): they fail, or are slower"
	switch {
	case p.FreeShm < 0:
		return found("missing").matters(Note, why, "mount a tmpfs there")
	case p.FreeShm < small:
		return found("%s free", round(p.FreeShm)).matters(Note, why, "mount -o remount,size=1g /dev/shm (docker: --shm-size 1g)")
	}
	return found("%s free", round(p.FreeShm))
}

// window is the least size to which a socket buffer should be able to grow.
const window = 1 << 20

// loopback: the network of --platform tcp on one machine.
func loopback(p *Host) Result {
	const lo = "sys/class/net/lo/"
	flags, err := strconv.ParseUint(strings.TrimPrefix(p.Files.Line(lo+"flags"), "0x"), 16, 32)
	if err != nil {
		return found("not visible").matters(Note, "--platform tcp needs it", "")
	}
	if up := uint64(1); flags&up == 0 {
		return found("down").matters(Warning, "--platform tcp needs it", "ip link set lo up")
	}
	mtu, _ := p.Files.Number(lo + "mtu")
	f := found("packets to %d bytes", mtu)
	if mtu < 65536 {
		return f.matters(Note, "long messages are cut into more packets than usual: their bandwidth is lower", "ip link set lo mtu 65536")
	}
	for _, name := range []string{"tcp_rmem", "tcp_wmem"} {
		words := strings.Fields(p.Files.Line("proc/sys/net/ipv4/" + name))
		if len(words) == 3 {
			if n, err := strconv.ParseInt(words[2], 10, 64); err == nil && n < window {
				f.Found += fmt.Sprintf(", and buffers to %s (%s)", round(n), name)
				return f.matters(Note, "a message that does not fit the buffers waits for the receiver: long messages are slower", "sysctl net.ipv4."+name+"='4096 131072 4194304'")
			}
		}
	}
	return f
}
