// Package machine describes the machine that the program runs on: its clock, its processors and
// which of them the program may use, and whatever else measured times depend on.
//
// It knows nothing of communication or of measurements. Facts that this system or this user cannot
// find out are left out.
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

// Facts returns the known facts about this machine and its operating system.
func Facts() []Fact {
	facts := append(fileFacts(System()), []Fact{
		{Key: "processors", Value: strconv.Itoa(len(Processors()))},
		{Key: "system", Value: runtime.GOOS + "/" + runtime.GOARCH},
		{Key: "go", Value: runtime.Version()},
		{Key: "clock_offset_ns", Value: offset()},
	}...)
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Value == "" })
}

// fileFacts returns the facts that stand in files. Unknown ones have no value.
func fileFacts(f Files) []Fact {
	virtual := ""
	if f.Virtual() {
		virtual = "yes"
	}
	return []Fact{
		{Key: "processor", Value: f.Value("proc/cpuinfo", "model name")},
		{Key: "virtual_machine", Value: virtual},
		{Key: "kernel", Value: f.Line("proc/sys/kernel/osrelease")},
		{Key: "clock_source", Value: f.ClockSource()},
		{Key: "governor", Value: f.Governor(max(RankProcessor(0), 0))},
		{Key: "turbo", Value: f.Turbo()},
		{Key: "load", Value: f.Line("proc/loadavg")},
	}
}

// offset returns the bounds of the clock offset between the first two ranks' processors, or "" if
// they are unknown.
func offset() string {
	if len(Processors()) < 2 {
		return ""
	}
	o, err := ClockOffset(context.Background(), RankProcessor(0), RankProcessor(1))
	switch {
	case err != nil:
		return ""
	case o.Common():
		return fmt.Sprintf("0, within %v: processors %d and %d have one clock", o, RankProcessor(0), RankProcessor(1))
	}
	return fmt.Sprintf("%v: processors %d and %d do not have one clock", o, RankProcessor(0), RankProcessor(1))
}

// Host is the name of this machine, or "this host" if it has none.
var Host = sync.OnceValue(func() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "this host"
	}
	return name
})
