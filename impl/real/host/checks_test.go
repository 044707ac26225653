package host

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/loggp/loggp/model/unit"
)

// healthyInspection returns a machine of four processors with nothing to complain of.
func healthyInspection() *Inspection {
	files := fstest.MapFS{}
	p := &Inspection{
		OperatingSystem: "linux", Files: Files{FS: files}, Ranks: 2, Processors: []int{0, 1, 2, 3}, PID: 100,
		Getenv:      func(string) string { return "" },
		ProgramPath: func(name string) string { return "/usr/bin/" + name },
		FreeDevShm:  1 << 30, ClockStep: unit.Nanosecond, ClockReadingCost: 25 * unit.Nanosecond,
		ClockOffset:   OffsetBounds{Low: -150, High: 170},
		CacheLines:    []CacheLineTimes{{Low: 50, Median: 60, High: 70}, {Low: 52, Median: 62, High: 71}},
		Interruptions: []Interruptions{interruptedProcessor(0, 100*time.Microsecond), interruptedProcessor(1, 300*time.Microsecond)},
		Paces:         []Pace{{Processor: 0, BestTime: 1900, MedianTime: 1920, SlowedShare: 0.002}, {Processor: 1, BestTime: 1910, MedianTime: 1930, SlowedShare: 0.01}},
	}
	for name, text := range map[string]string{
		"proc/sys/kernel/osrelease": "6.1.0\n", "proc/sys/kernel/numa_balancing": "0\n", "proc/sys/kernel/yama/ptrace_scope": "1\n",
		"proc/loadavg": "0.10 0.20 0.30 1/100 4711\n", "proc/self/timerslack_ns": "50000\n", "proc/self/cgroup": "0::/user/session\n",
		"proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu vme tsc\n", "proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable:   8000000 kB\n",
		"proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n", "proc/sys/net/ipv4/tcp_wmem": "4096\t16384\t4194304\n",
		"sys/class/net/lo/flags": "0x9\n", "sys/class/net/lo/mtu": "65536\n",
		"sys/class/power_supply/AC/type": "Mains\n", "sys/class/power_supply/AC/online": "1\n", "sys/class/power_supply/BAT0/type": "Battery\n",
		"sys/class/dmi/id/sys_vendor": "Maker of machines\n", "sys/devices/system/cpu/online": "0-3\n",
		"sys/devices/system/cpu/intel_pstate/no_turbo":                    "1\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
		"sys/devices/system/node/node0/cpulist":                           "0-1\n", "sys/devices/system/node/node1/cpulist": "2,3\n",
		"sys/fs/cgroup/user/session/cpu.max": "max 100000\n", "sys/fs/cgroup/user/cpu.max": "max 100000\n",
		"sys/fs/cgroup/user/memory.max": "max\n", "sys/fs/cgroup/user/memory.current": "1000\n",
	} {
		writeFile(p, name, text)
	}
	for n := range 4 {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", n)
		writeFile(p, dir+"topology/thread_siblings_list", fmt.Sprintf("%d\n", n))
		writeFile(p, dir+"cpufreq/scaling_governor", "performance\n")
		writeFile(p, dir+"cpufreq/cpuinfo_max_freq", "3000000\n")
		writeFile(p, dir+"cpuidle/state1/name", "C1\n")
		writeFile(p, dir+"cpuidle/state1/latency", "2\n")
		writeFile(p, dir+"cpuidle/state2/name", "C6\n")
		writeFile(p, dir+"cpuidle/state2/latency", "133\n")
		writeFile(p, dir+"cpuidle/state2/disable", "1\n")
	}
	writeUsage(p, 4, 0)
	return p
}

// interruptedProcessor returns what a processor misses in a second.
func interruptedProcessor(n int, lost time.Duration) Interruptions {
	return Interruptions{Processor: n, WatchedTime: time.Second, GapCount: 10, LostTime: lost, LongestGap: lost / 4}
}

func writeFile(p *Inspection, name, text string) {
	p.Files.FS.(fstest.MapFS)[name] = &fstest.MapFile{Data: []byte(text)}
}

// writesFiles returns what plants files.
func writesFiles(files ...string) func(*Inspection) {
	return func(p *Inspection) {
		for i := 0; i < len(files); i += 2 {
			writeFile(p, files[i], files[i+1])
		}
	}
}

// writeUsage plants what is used within two seconds of four processors: by a process of another, in
// ticks, and by other virtual machines.
func writeUsage(p *Inspection, other, stolen int) {
	at := func(other, stolen, own int) processorUsage {
		files := fstest.MapFS{
			"proc/stat":      {Data: fmt.Appendf(nil, "cpu  %d 0 0 %d 0 0 0 %d %d 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n", 1000+other+own, 5000+800-other-own-stolen, stolen, 99+own)},
			"proc/100/stat":  {Data: processStatLine(100, "loggp", own)},
			"proc/7/stat":    {Data: processStatLine(7, "a (b) c", 1000+other)},
			"proc/8/stat":    {Data: processStatLine(8, "idle", 5)},
			"proc/9/stat":    {Data: []byte("9 (torn")},
			"proc/self/stat": {Data: processStatLine(100, "loggp", own)},
		}
		return readProcessorUsage(Files{FS: files})
	}
	p.Usage[0], p.Usage[1] = at(0, 0, 0), at(other, stolen, 200)
	p.Usage[0].at, p.Usage[1].at = 0, 2*time.Second
	p.Usage[0].allTicks -= 800 // of four processors in two seconds
}

// processStatLine is a line of /proc/PID/stat.
func processStatLine(pid int, name string, ticks int) []byte {
	return fmt.Appendf(nil, "%d (%s) R 1 2 3 4 5 6 7 8 9 10 %d %d 0 0 20 0 1 0 12345\n", pid, name, ticks-ticks/3, ticks/3)
}

// unhealthyCases are machines that have one thing each, and what the check of that says. Files are
// as kernels write them: Documentation/ABI, proc(5), and Documentation/admin-guide/cgroup-v1 and
// cgroup-v2.
var unhealthyCases = []struct {
	check   string
	harm    func(*Inspection)
	verdict Verdict
	says    string // found
	do      string // part of the advice
}{
	{"system", func(p *Inspection) { p.OperatingSystem = "darwin" }, Problem, "darwin", "measure on Linux"},
	{"processors", func(p *Inspection) { p.Processors = []int{3} }, Warning, "1 for 2 ranks", "--wait block"},
	{"processors", func(p *Inspection) { p.Ranks = 5 }, Warning, "4 for 5 ranks", "--wait block"},
	{"processors", func(p *Inspection) { p.Ranks = 4 }, Note, "4 for 4 ranks", "alone"},
	{"processors", func(p *Inspection) { p.Processors = nil }, Note, "unknown", ""},
	{"pinning", func(p *Inspection) { p.PinErr = errors.New("operation not permitted") }, Warning, "not possible: operation not permitted", "--pin=false"},
	{"pinning", func(p *Inspection) { p.Processors = []int{1, 2, 3} }, Note, "on 3 of 4 processors: 1, 2, 3", ""},
	{"cores", writesFiles("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n", "sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n"),
		Warning, "processors 0 and 1 share a core", "taskset -c 0,2 loggp"},
	{"cores", func(p *Inspection) {
		p.Ranks = 4
		writesFiles("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,3\n", "sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "0,3\n")(p)
	}, Warning, "processors 0 and 3 share a core", "more processors"},
	{"cores", func(p *Inspection) { p.Processors = []int{3} }, OK, "fewer than ranks", ""},
	{"cores", writesFiles("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,4\n"), Note, "2 hardware threads", "alone"},
	{"kinds", writesFiles("sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "2000000\n"), Warning, "processors 0 and 1 are on fast and slow", "taskset -c 0,2 loggp"},
	{"kinds", writesFiles("sys/devices/system/cpu/cpu0/cpu_capacity", "1024\n", "sys/devices/system/cpu/cpu1/cpu_capacity", "430\n"), Warning, "fast and slow", "taskset -c 2,3 loggp"},
	{"memory nodes", writesFiles("sys/devices/system/node/node0/cpulist", "0,2\n", "sys/devices/system/node/node1/cpulist", "1,3\n"), Note, "memory nodes 0 and 1", "taskset -c 0,2 loggp"},
	{"memory nodes", writesFiles("proc/sys/kernel/numa_balancing", "1\n"), Note, "moves pages", "numa_balancing=0"},
	{"quota", writesFiles("sys/fs/cgroup/user/cpu.max", "150000 100000\n", "sys/fs/cgroup/user/session/cpu.max", "400000 100000\n", "sys/fs/cgroup/user/cpu.stat", "usage_usec 1\nnr_throttled 17\n"),
		Warning, "the time of 1.5 processors; held up 17 times", "cpu.max"},
	{"quota", writesFiles("proc/self/cgroup", "9:name=systemd:/x\n3:cpu,cpuacct:/docker/1\n", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
		Warning, "the time of 0.5 processors", "--cpus"},
	{"quota", writesFiles("sys/fs/cgroup/user/cpu.max", "300000 100000\n"), Note, "the time of 3 processors", ""},
	{"quota", writesFiles("sys/fs/cgroup/user/cpu.max", "200000 100000\n"), Note, "the time of 2 processors", ""},
	{"busy", func(p *Inspection) { writeUsage(p, 60, 0) }, Warning, "others use 0.30 processors (a (b) c 0.30); load 0.10", "stop them"},
	{"busy", func(p *Inspection) { writeUsage(p, 20, 0) }, Note, "0.10 processors", "stop them"},
	{"busy", func(p *Inspection) { p.Usage = [2]processorUsage{} }, Note, "not visible", ""},
	{"interruptions", func(p *Inspection) { p.Interruptions[1] = interruptedProcessor(1, 30*time.Millisecond) }, Warning, "processor 1, the worst of 2, is interrupted 3 % of the time: 10 gaps in 1 s, the longest 7.5ms", "isolcpus"},
	{"interruptions", func(p *Inspection) {
		p.Interruptions[0] = interruptedProcessor(0, 30*time.Millisecond)
		p.Interruptions[0].ContextSwitches = 4
	}, Warning, "processor 0, the worst of 2, is interrupted 3 %", "see busy"},
	{"interruptions", func(p *Inspection) {
		p.Interruptions = p.Interruptions[:1]
		p.Interruptions[0].LostTime = 2 * time.Millisecond
	}, Note, "processor 0 is interrupted 0.2 %", "isolcpus"},
	{"pace", func(p *Inspection) {
		p.Paces[1] = Pace{Processor: 1, BestTime: 1900, MedianTime: 2700, SlowedShare: 0.63}
	}, Warning, "processor 1, the worst of 2, is slowed 63 % of the time; a piece of work takes 1.9 us at best, and 2.7 at the median", "--budget"},
	{"pace", func(p *Inspection) { p.Paces = p.Paces[:1]; p.Paces[0].SlowedShare = 0.06 }, Note, "processor 0 is slowed 6 %", "hardware threads"},
	{"pace", func(p *Inspection) { p.Paces, p.PacesErr = nil, errors.New("no pins") }, Note, "no pins", ""},
	{"interruptions", func(p *Inspection) { p.Interruptions, p.InterruptionsErr = nil, errors.New("no pins") }, Note, "no pins", ""},
	{"virtual machine", writesFiles("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor tsc\n"), Note, "others took is 0 %", "several launches"},
	{"virtual machine", writesFiles("sys/class/dmi/id/sys_vendor", "QEMU\n"), Note, "yes", "several launches"},
	{"virtual machine", func(p *Inspection) { writeFile(p, "sys/hypervisor/type", "xen\n"); writeUsage(p, 0, 40) }, Warning, "others took is 5 %", "host is quiet"},
	{"frequency", writesFiles("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil\n"), Warning, "governor schedutil on processor 1", "cpupower"},
	{"frequency", writesFiles("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"), Note, "with turbo", "no_turbo"},
	{"frequency", writesFiles("sys/devices/system/cpu/intel_pstate/no_turbo", "", "sys/devices/system/cpu/cpufreq/boost", "1\n"), Note, "with turbo", "no_turbo"},
	{"power", writesFiles("sys/class/power_supply/AC/online", "0\n"), Warning, "battery", "plug it in"},
	{"idle states", writesFiles("sys/devices/system/cpu/cpu1/cpuidle/state2/disable", "0\n"), Note, "to C6, from which it takes 133 us", "cpu_dma_latency"},
	{"clock", writesFiles("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"), Warning, "hpet", "clocksource"},
	{"clock", func(p *Inspection) { p.ClockReadingCost = 800 * unit.Nanosecond }, Warning, "a reading costs 800 ns", "clocksource"},
	{"clock", func(p *Inspection) { p.ClockStep = unit.Microsecond }, Warning, "steps of 1e+03 ns", "clocksource"},
	{"common clock", func(p *Inspection) { p.ClockOffset = OffsetBounds{Low: 900, High: 1100} }, Warning, "by 900..1100 ns", "round trips alone"},
	{"common clock", func(p *Inspection) { p.ClockOffsetErr = errors.New("others keep it") }, Note, "not checked: others keep it", ""},
	{"cache lines", func(p *Inspection) { p.CacheLines[1].Median = 160 }, Warning, "60 (50..70) ns at first and 160 (52..71) ns later", "line_ns"},
	{"cache lines", func(p *Inspection) { p.CacheLines[0].Median = 160 }, Warning, "160 (50..70) ns at first", "line_ns"},
	{"cache lines", func(p *Inspection) { p.CacheLines[1].High = 90 }, Note, "62 (52..90) ns", "several launches"},
	{"cache lines", func(p *Inspection) { p.CacheLines, p.CacheLinesErr = nil, errors.New("others keep it") }, Warning, "not passed: others keep it", "busy"},
	{"memory", func(p *Inspection) { p.SharedMemoryErr = errors.New("no space") }, Problem, "no space", "ulimit -f"},
	{"memory", writesFiles("proc/meminfo", "MemAvailable:   102400 kB\n"), Note, "100 MiB left", "--sizes"},
	{"memory", writesFiles("sys/fs/cgroup/user/memory.max", "52429800\n"), Warning, "50 MiB left in the control group", "container's limit"},
	{"memory", writesFiles("proc/self/cgroup", "4:memory:/m\n", "sys/fs/cgroup/memory/m/memory.limit_in_bytes", "104858600\n", "sys/fs/cgroup/memory/m/memory.usage_in_bytes", "1000\n"), Note, "100 MiB left in the", "--sizes"},
	{"copies", func(p *Inspection) { p.ProcessCopyErr = errors.New("function not implemented") }, Note, "function not implemented", "SYS_PTRACE"},
	{"copies", writesFiles("proc/sys/kernel/yama/ptrace_scope", "2\n"), Note, "ptrace_scope is 2", "ptrace_scope=1"},
	{"sleep", writesFiles("proc/self/timerslack_ns", "1000000\n"), Note, "1e+03 us late", "TimerSlackNSec"},
	{"loopback", writesFiles("sys/class/net/lo/flags", "0x8\n"), Warning, "down", "ip link set lo up"},
	{"loopback", writesFiles("sys/class/net/lo/mtu", "1500\n"), Note, "to 1500 bytes", "mtu 65536"},
	{"loopback", writesFiles("proc/sys/net/ipv4/tcp_wmem", "4096\t16384\t65536\n"), Note, "buffers to 64 KiB (tcp_wmem)", "sysctl net.ipv4.tcp_wmem"},
	{"MPI", func(p *Inspection) { p.ProgramPath = func(string) string { return "" } }, Note, "no mpicc", "--mpicc"},
	{"MPI", func(p *Inspection) {
		p.Getenv = func(string) string { return "nocc" }
		p.ProgramPath = func(n string) string { return map[string]string{"mpicc": n, "mpirun": n}[n] }
	},
		Note, "no nocc", "MPICC"},
	{"MPI", func(p *Inspection) {
		p.ProgramPath = func(n string) string { return map[string]string{"mpicc": "/opt/mpicc"}[n] }
	}, Note, "neither mpirun nor mpiexec", "--launcher"},
	{"MPI", func(p *Inspection) {
		p.IsRoot = true
		p.ProgramPath = func(n string) string {
			return map[string]string{"mpicc": "/bin/opal_wrapper", "mpirun": "/bin/orterun"}[n]
		}
	},
		Note, "mpicc is /bin/opal_wrapper, mpirun is /bin/orterun", "OMPI_ALLOW_RUN_AS_ROOT=1"},
	{"/dev/shm", func(p *Inspection) { p.FreeDevShm = 64 << 20 }, Note, "64 MiB free", "remount"},
	{"/dev/shm", func(p *Inspection) { p.FreeDevShm = -1 }, Note, "missing", "tmpfs"},
}

// Every check passes on a healthy computer.
func TestHealthyComputerPasses(t *testing.T) {
	for _, f := range RunChecks(healthyInspection()) {
		if f.Verdict != OK || f.Found == "" || f.Why != "" || f.Do != "" {
			t.Errorf("%s: %v: %s; %s", f.Check, f.Verdict, f.Found, f.Do)
		}
	}
	if list := healthyInspection().quickWarnings(); list != nil {
		t.Errorf("warnings: %q", list)
	}
}

// Each check finds its disturbance, and says what to do about it.
func TestChecksFindDisturbances(t *testing.T) {
	fired := map[string]bool{}
	for i, c := range unhealthyCases {
		p := healthyInspection()
		c.harm(p)
		fired[c.check] = true
		for _, f := range RunChecks(p) {
			if f.Check == c.check && (f.Verdict != c.verdict || !strings.Contains(f.Found, c.says) || !strings.Contains(f.Do, c.do) || c.do == "" && f.Do != "") {
				t.Errorf("case %d: %s: %v, want %v: found %q, want %q; do %q, want %q", i, c.check, f.Verdict, c.verdict, f.Found, c.says, f.Do, c.do)
			}
			if f.Verdict > Note && f.Why == "" {
				t.Errorf("case %d: %s does not say why it matters", i, f.Check)
			}
		}
	}
	for _, c := range checks {
		if !fired[c.name] {
			t.Errorf("the check %s is in no case", c.name)
		}
	}
}

// The quick warnings are those of quick checks.
func TestWarningsOfQuickChecks(t *testing.T) {
	p := healthyInspection()
	p.Processors = []int{0}
	p.Interruptions[0] = interruptedProcessor(0, 100*time.Millisecond)
	writeFile(p, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n")
	writeFile(p, "sys/fs/cgroup/user/cpu.max", "150000 100000\n")
	got := strings.Join(p.quickWarnings(), " | ")
	want := "processors: 1 for 2 ranks | quota: the time of 1.5 processors | interruptions: processor 0, the worst of 2, is interrupted 10 % of the time: 10 gaps in 1 s, the longest 25ms"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Checks of a computer about which nothing is known say so and do not fail.
func TestChecksPassWhenNothingIsKnown(t *testing.T) {
	p := &Inspection{OperatingSystem: "linux", Files: Files{FS: fstest.MapFS{}}, Ranks: 2, FreeDevShm: -1, Getenv: func(string) string { return "" }, ProgramPath: func(string) string { return "" }}
	for _, f := range RunChecks(p) {
		if f.Verdict > Note || f.Found == "" {
			t.Errorf("%s: %v: %q", f.Check, f.Verdict, f.Found)
		}
	}
}

// Files may have anything in them.
func FuzzChecks(f *testing.F) {
	f.Add("0-3,8\n")
	f.Add("cpu  1 2 3\nflags : hypervisor")
	f.Add("1 (a) R 1 2 3")
	f.Add("0::/a/../..\n4:cpu:\n")
	f.Add("-9223372036854775808")
	f.Add("0::" + strings.Repeat("/a", 30_000)) // would be 30,000 control groups with paths of 60 KB
	f.Add(strings.Repeat("0-1023,", 10_000))
	f.Fuzz(func(t *testing.T, text string) {
		p := healthyInspection()
		for name := range p.Files.FS.(fstest.MapFS) {
			writeFile(p, name, text)
		}
		writeFile(p, "proc/1/stat", text)
		writeFile(p, "proc/stat", text)
		p.Usage[0], p.Usage[1] = readProcessorUsage(p.Files), readProcessorUsage(p.Files)
		for _, x := range RunChecks(p) {
			if bad := strings.ToLower(x.Found); x.Found == "" || strings.Contains(bad, "nan") || strings.Contains(bad, "inf ") {
				t.Errorf("%s: %q", x.Check, x.Found)
			}
		}
	})
}

// Expected by hand.
func TestParseProcessorList(t *testing.T) {
	for s, want := range map[string]string{"0-3,8": "0, 1, 2, 3, 8", "5": "5", "": "", "x": "", "3-": "", "2-1": "", "0-99999999": "", "0-3,2": "", "1,1": ""} {
		if got := joinNumbers(parseProcessorList(s)); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

// Every check finds something on this computer.
func TestInspectThisComputer(t *testing.T) {
	p, err := Inspect(t.Context(), InspectOptions{Ranks: 2, WatchDuration: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range RunChecks(p) {
		if f.Found == "" {
			t.Errorf("%s found nothing", f.Check)
		}
	}
	if len(p.Processors) > 0 && len(p.Interruptions) == 0 && p.InterruptionsErr == nil {
		t.Error("no processor was watched")
	}
	QuickWarnings(t.Context(), 2)
}
