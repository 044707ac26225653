package host

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Files is the file tree from / on; /proc and /sys are read. Names have no leading slash.
// A file that does not exist reads as "".
type Files struct{ fs.FS }

// SystemFiles returns the files of this computer.
func SystemFiles() Files { return Files{os.DirFS("/")} }

// FirstLine returns the first line of a file, trimmed.
func (f Files) FirstLine(name string) string {
	b, err := fs.ReadFile(f, name)
	if err != nil {
		return ""
	}
	text, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(text)
}

// FirstNumber returns the whole number in the first line of a file, and whether there is one.
func (f Files) FirstNumber(name string) (n int64, is bool) {
	n, err := strconv.ParseInt(f.FirstLine(name), 10, 64)
	return n, err == nil
}

// ValueOf returns the rest of the first line that begins with a key, behind a colon or blanks:
// flags in proc/cpuinfo.
func (f Files) ValueOf(name, key string) string {
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

// ClockSource returns the kernel's clock source, such as tsc.
func (f Files) ClockSource() string {
	return f.FirstLine("sys/devices/system/clocksource/clocksource0/current_clocksource")
}

// hypervisorVendors are vendor names of virtual machines.
var hypervisorVendors = []string{"QEMU", "VMware, Inc.", "innotek GmbH", "Xen"}

// IsVirtualMachine reports whether the computer is known to be a virtual machine.
func (f Files) IsVirtualMachine() bool {
	return slices.Contains(strings.Fields(f.ValueOf("proc/cpuinfo", "flags")), "hypervisor") || f.FirstLine("sys/hypervisor/type") != "" ||
		slices.Contains(hypervisorVendors, f.FirstLine("sys/class/dmi/id/sys_vendor"))
}

// Governor returns the frequency governor of a processor.
func (f Files) Governor(processor int) string {
	return f.FirstLine("sys/devices/system/cpu/cpu" + strconv.Itoa(processor) + "/cpufreq/scaling_governor")
}

// Turbo returns whether processors may exceed their nominal frequency: on, off, or "" if unknown.
func (f Files) Turbo() string {
	switch f.FirstLine("sys/devices/system/cpu/intel_pstate/no_turbo") + "/" + f.FirstLine("sys/devices/system/cpu/cpufreq/boost") {
	case "0/", "/1", "0/1":
		return "on"
	case "1/", "/0", "1/0":
		return "off"
	}
	return ""
}
