package world

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/loggp/loggp/impl/shm"
	"github.com/loggp/loggp/microbench/sample"
)

// machine returns what is known about this machine and its system. What cannot be found out is left out.
func machine() []sample.Fact {
	facts := []sample.Fact{
		{Key: "processor", Value: processor()},
		{Key: "processors", Value: strconv.Itoa(shm.Processors())},
		{Key: "system", Value: runtime.GOOS + "/" + runtime.GOARCH},
		{Key: "kernel", Value: firstLine("/proc/sys/kernel/osrelease")},
		{Key: "load", Value: firstLine("/proc/loadavg")},
		{Key: "governor", Value: firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
		{Key: "go", Value: runtime.Version()},
	}
	known := facts[:0]
	for _, f := range facts {
		if f.Value != "" {
			known = append(known, f)
		}
	}
	return known
}

// processor returns the name of the processor's model, or "".
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// firstLine returns the first line of a file, or "".
func firstLine(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}
