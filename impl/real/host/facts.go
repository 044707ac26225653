package host

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
)

// Fact is a key and a value for the head of a data set.
type Fact struct{ Key, Value string }

// Facts returns the known facts about this computer and its operating system.
func Facts() []Fact {
	facts := append(factsFromFiles(SystemFiles()), []Fact{
		{Key: "processors", Value: strconv.Itoa(len(Processors()))},
		{Key: "system", Value: runtime.GOOS + "/" + runtime.GOARCH},
		{Key: "go", Value: runtime.Version()},
		{Key: "clock_offset_ns", Value: clockOffsetFact()},
	}...)
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Value == "" })
}

// factsFromFiles returns the facts that stand in files. Unknown ones have no value.
func factsFromFiles(f Files) []Fact {
	virtual := ""
	if f.IsVirtualMachine() {
		virtual = "yes"
	}
	return []Fact{
		{Key: "processor", Value: f.ValueOf("proc/cpuinfo", "model name")},
		{Key: "virtual_machine", Value: virtual},
		{Key: "kernel", Value: f.FirstLine("proc/sys/kernel/osrelease")},
		{Key: "clock_source", Value: f.ClockSource()},
		{Key: "governor", Value: f.Governor(max(RankProcessor(0), 0))},
		{Key: "turbo", Value: f.Turbo()},
		{Key: "load", Value: f.FirstLine("proc/loadavg")},
	}
}

// clockOffsetFact returns the bounds of the clock offset between the first two ranks' processors,
// or "" if they are unknown.
func clockOffsetFact() string {
	if len(Processors()) < 2 {
		return ""
	}
	o, err := MeasureClockOffset(context.Background(), RankProcessor(0), RankProcessor(1))
	switch {
	case err != nil:
		return ""
	case o.IncludesZero():
		return fmt.Sprintf("0, within %v: processors %d and %d have one clock", o, RankProcessor(0), RankProcessor(1))
	}
	return fmt.Sprintf("%v: processors %d and %d do not have one clock", o, RankProcessor(0), RankProcessor(1))
}

// Name is the name of this computer, or "this host" if it has none.
var Name = sync.OnceValue(func() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "this host"
	}
	return name
})
