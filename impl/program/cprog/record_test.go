//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine/recorder"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/goal"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// The recorded schedule of a C program, with its measured computing, takes the same time as the
// program, even with threads.
func TestReplay(t *testing.T) {
	t.Run("one thread", func(t *testing.T) { checkReplay(t, 0.001, "pingpong.c", "100") })
	// The schedule does not contain which of two runnable threads continues, so an operation may
	// end later.
	t.Run("two threads", func(t *testing.T) { checkReplay(t, 0.05, "threads/exchange.c") })
}

func checkReplay(t *testing.T, deviation float64, source string, arguments ...string) {
	j, err := job.Open(simple, "", 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{Path: build(t, source), Arguments: arguments, Compute: Compute{Factor: 1000}}
	main, err := p.Main()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	j.Recorder = &recorder.Recorder{}
	var ends, again [2]unit.Time
	if _, err := j.RecordProgram(t.Context(), 1, "", -1, func(c *mpi.Comm) error {
		err := main(c)
		ends[c.Rank()] = c.Wtime()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s, err := j.Recorder.Schedule(2)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(slices.DeleteFunc(slices.Clone(s.OpsOfRank(0)), func(o schedule.Op) bool { return o.Kind != schedule.Calc })); n < 80 {
		t.Errorf("rank 0 computes %d times", n)
	}
	j.Recorder = nil
	if _, err := j.RecordProgram(t.Context(), 1, "", -1, func(c *mpi.Comm) error {
		again[c.Rank()] = goal.Execution{Schedule: s}.Run(c)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want, got := slices.Max(ends[:]), slices.Max(again[:])
	if d := float64(got)/float64(want) - 1; math.Abs(d) > deviation {
		t.Errorf("the program takes %v, its schedule %v: %.2f %% apart", want, got, 100*d)
	}
}

// A program with windows is not recorded, because a schedule cannot represent it.
func TestWindowsAreNotRecorded(t *testing.T) {
	j, err := job.Open(simple, "", 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{Path: build(t, "field/rma.c")}
	main, err := p.Main()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	j.Recorder = &recorder.Recorder{}
	_, err = j.RecordProgram(t.Context(), 1, "", -1, main)
	if err == nil || !strings.Contains(err.Error(), "MPI_Win_allocate (rma.c:3): MPI_ERR_OTHER: a program with windows cannot be recorded") {
		t.Errorf("error %v", err)
	}
}
