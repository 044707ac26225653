package host

import (
	"maps"
	"testing"
	"testing/fstest"
)

// filesWith returns files: name, text, name, text, ...
func filesWith(files ...string) Files {
	tree := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		tree[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return Files{tree}
}

// Files as kernels write them: proc(5).
func TestFilesAsKernelsWriteThem(t *testing.T) {
	f := filesWith("a", " 12 \n13\n", "b", "x", "c", "cpu0 1 2\ncpu  3 4\nmodel name\t: A B @ 2\nmodel: 7\n", "d", "")
	for name, want := range map[string]string{"a": "12", "b": "x", "d": "", "none": ""} {
		if got := f.FirstLine(name); got != want {
			t.Errorf("line of %s: %q, want %q", name, got, want)
		}
	}
	if n, is := f.FirstNumber("a"); n != 12 || !is {
		t.Errorf("number of a: %d, %v", n, is)
	}
	for _, name := range []string{"b", "d", "none"} {
		if n, is := f.FirstNumber(name); is {
			t.Errorf("number of %s: %d", name, n)
		}
	}
	for key, want := range map[string]string{"cpu": "3 4", "cpu0": "1 2", "model name": "A B @ 2", "model": "name\t: A B @ 2", "mode": ""} {
		if got := f.ValueOf("c", key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// Machines that are virtual say so in one of three places.
func TestVirtualMachinesAreRecognized(t *testing.T) {
	for i, c := range []struct {
		files Files
		want  bool
	}{
		{filesWith("proc/cpuinfo", "flags\t: fpu hypervisor lm\n"), true},
		{filesWith("sys/hypervisor/type", "xen\n"), true},
		{filesWith("sys/class/dmi/id/sys_vendor", "QEMU\n"), true},
		{filesWith("proc/cpuinfo", "flags\t: fpu lm\n", "sys/class/dmi/id/sys_vendor", "Xenon Systems\n"), false},
		{filesWith(), false},
	} {
		if got := c.files.IsVirtualMachine(); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
}

func TestTurbo(t *testing.T) {
	const intel, others = "sys/devices/system/cpu/intel_pstate/no_turbo", "sys/devices/system/cpu/cpufreq/boost"
	for i, c := range []struct {
		files Files
		want  string
	}{
		{filesWith(intel, "0\n"), "on"}, {filesWith(intel, "1\n"), "off"}, {filesWith(others, "1\n"), "on"}, {filesWith(others, "0\n"), "off"}, {filesWith(), ""},
	} {
		if got := c.files.Turbo(); got != c.want {
			t.Errorf("case %d: %q, want %q", i, got, c.want)
		}
	}
}

// Facts contain what files say, and nothing else.
func TestFacts(t *testing.T) {
	got := map[string]string{}
	for _, f := range factsFromFiles(filesWith("proc/cpuinfo", "model name\t: Fast 9000\nflags\t: hypervisor\n", "proc/loadavg", "1 2 3 4/5 6\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n", "sys/devices/system/cpu/intel_pstate/no_turbo", "1\n")) {
		if f.Value != "" {
			got[f.Key] = f.Value
		}
	}
	want := map[string]string{"processor": "Fast 9000", "virtual_machine": "yes", "load": "1 2 3 4/5 6", "clock_source": "hpet", "turbo": "off"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	here := map[string]string{}
	for _, f := range Facts() {
		if f.Value == "" {
			t.Errorf("fact %s is empty", f.Key)
		}
		here[f.Key] = f.Value
	}
	for _, key := range []string{"processors", "system", "go"} {
		if here[key] == "" {
			t.Errorf("there is no fact %s", key)
		}
	}
}
