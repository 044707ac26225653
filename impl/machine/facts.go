package machine

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
)

// Fact is one thing that is known, for the head of a data set.
type Fact struct{ Key, Value string }

// Facts returns what is known about this machine and its system. What cannot be found out is left out.
func Facts() []Fact {
	return known(append(of(System()), []Fact{
		{Key: "processors", Value: strconv.Itoa(len(Processors()))},
		{Key: "system", Value: runtime.GOOS + "/" + runtime.GOARCH},
		{Key: "go", Value: runtime.Version()},
		{Key: "clock_offset_ns", Value: offset()},
	}...))
}

// of returns what files say.
func of(f Files) []Fact {
	virtual := ""
	if f.Virtual() {
		virtual = "yes"
	}
	return []Fact{
		{Key: "processor", Value: f.Value("proc/cpuinfo", "model name")},
		{Key: "virtual_machine", Value: virtual},
		{Key: "kernel", Value: f.Line("proc/sys/kernel/osrelease")},
		{Key: "clock_source", Value: f.ClockSource()},
		{Key: "governor", Value: f.Governor(max(Place(0), 0))},
		{Key: "turbo", Value: f.Turbo()},
		{Key: "load", Value: f.Line("proc/loadavg")},
	}
}

// known returns those that are.
func known(facts []Fact) []Fact {
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Value == "" })
}

// offset says how far the clocks of the first two ranks' processors may be apart, or "" if that cannot be told.
func offset() string {
	if len(Processors()) < 2 {
		return ""
	}
	o, err := ClockOffset(context.Background(), Place(0), Place(1))
	switch {
	case err != nil:
		return ""
	case o.Common():
		return fmt.Sprintf("0, within %v: processors %d and %d have one clock", o, Place(0), Place(1))
	}
	return fmt.Sprintf("%v: processors %d and %d do not have one clock", o, Place(0), Place(1))
}
