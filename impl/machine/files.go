package machine

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Files are those in which a system tells of its machine: the tree from / on, of which /proc and /sys are read. Names have no slash in front. What is
// not there is nothing: "".
type Files struct{ fs.FS }

// System returns the files of this machine.
func System() Files { return Files{os.DirFS("/")} }

// Line returns the first line of a file, without blanks around it.
func (f Files) Line(name string) string {
	b, err := fs.ReadFile(f, name)
	if err != nil {
		return ""
	}
	text, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(text)
}

// Number returns the number that a file has, and whether it has one.
func (f Files) Number(name string) (n int64, is bool) {
	n, err := strconv.ParseInt(f.Line(name), 10, 64)
	return n, err == nil
}

// Value returns what a file says in the first line that begins with a key, which ends at a colon or a blank: flags in proc/cpuinfo.
func (f Files) Value(name, key string) string {
	b, err := fs.ReadFile(f, name)
	if err != nil {
		return ""
	}
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), key); ok && rest != strings.TrimLeft(rest, ": \t") {
			return strings.TrimSpace(strings.TrimLeft(rest, ": \t"))
		}
	}
	return ""
}

// ClockSource names what the kernel takes the time from.
func (f Files) ClockSource() string {
	return f.Line("sys/devices/system/clocksource/clocksource0/current_clocksource")
}

// hypervisors are what virtual machines name as their makers.
var hypervisors = []string{"QEMU", "VMware, Inc.", "innotek GmbH", "Xen"}

// Virtual reports whether the machine is seen to be a virtual one.
func (f Files) Virtual() bool {
	return slices.Contains(strings.Fields(f.Value("proc/cpuinfo", "flags")), "hypervisor") || f.Line("sys/hypervisor/type") != "" ||
		slices.Contains(hypervisors, f.Line("sys/class/dmi/id/sys_vendor"))
}

// Governor returns what decides on the clock rate of a processor.
func (f Files) Governor(processor int) string {
	return f.Line("sys/devices/system/cpu/cpu" + strconv.Itoa(processor) + "/cpufreq/scaling_governor")
}

// Turbo says whether processors may run beyond their nominal rate: on, off, or "".
func (f Files) Turbo() string {
	switch f.Line("sys/devices/system/cpu/intel_pstate/no_turbo") + "/" + f.Line("sys/devices/system/cpu/cpufreq/boost") {
	case "0/", "/1", "0/1":
		return "on"
	case "1/", "/0", "1/0":
		return "off"
	}
	return ""
}
