package engine

import (
	"slices"
	"testing"
)

// Equal stacks share memory, also if they are not recorded in a row, and different ones do not.
func TestCallStacksAreShared(t *testing.T) {
	var table stackTable
	var all [2][]*CallStack
	for i := range 3 {
		for j := range all { // one line
			all[j] = append(all[j], recordAtDepth(&table, j, i == 2))
		}
	}
	for j, x := range all {
		if x[0] != x[1] || x[1] != x[2] || len(x[0].Frames()) == 0 {
			t.Errorf("the stack at depth %d is stored more than once, or has no frames", j)
		}
	}
	if slices.Equal(all[0][0].Frames(), all[1][0].Frames()) {
		t.Error("stacks of different depths are taken for equal")
	}
	if n := len((*CallStack)(nil).Frames()); n != 0 {
		t.Errorf("no stack has %d frames", n)
	}
}

//go:noinline
func recordAtDepth(table *stackTable, depth int, isSerialized bool) *CallStack {
	if depth > 0 {
		return recordAtDepth(table, depth-1, isSerialized)
	}
	return recordCaller(table, isSerialized)
}

//go:noinline
func recordCaller(table *stackTable, isSerialized bool) *CallStack {
	return table.record(nil, isSerialized)
}
