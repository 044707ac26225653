package loggp_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/workload"
)

// What NCCL takes is among the predicted algorithms, and a measurement of it has the same time.
func TestMeasuredNCCLIsAsPredicted(t *testing.T) {
	sizes := []int{8, 32 << 10, 2 << 20, 16 << 30}
	for _, ranks := range []int{2, 8, 64} {
		predicted, err := loggp.PredictCollectives(t.Context(), loggp.CollectiveOptions{Platform: "dgx-h100", Library: "nccl", Operation: "allreduce", Ranks: ranks, Sizes: sizes})
		if err != nil {
			t.Fatal(err)
		}
		measured, err := loggp.Measure(t.Context(), loggp.MeasureOptions{Platform: "dgx-h100", Library: "nccl", Ranks: ranks, Sizes: sizes, Collective: []string{"allreduce"}})
		if err != nil {
			t.Fatal(err)
		}
		p := predicted.Operations[0]
		for i := range sizes {
			if got, want := measured.Samples.Series[i].Times[0], p.Algorithms[p.Choices[i]].Costs[i].LastEnd; got != want || got <= 0 {
				t.Errorf("%d ranks, %d bytes: measured %v, predicted %v", ranks, sizes[i], got, want)
			}
		}
	}
}

// Measured times stand beside those of what NCCL takes.
func TestPredictionsOfNCCLBesideMeasurements(t *testing.T) {
	file := filepath.Join(t.TempDir(), "times.csv")
	const text = "# ranks: 8\nplatform,library,clock,place,mode,protocol,timer,bytes,launch,rep,time_us\nmine,nccl,real,inter,allreduce,vendor,coll_mean,8,0,0,30\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := loggp.CollectiveOptions{Platform: "dgx-h100", Library: "nccl", Operation: "allreduce", Ranks: 8, Samples: file}
	x, err := loggp.PredictCollectives(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if p := x.Operations[0]; len(p.Sizes) != 1 || p.Measured[0] != 30 || math.Abs(p.Algorithms[p.Choices[0]].Costs[0].LastEnd.Micros()-15) > 0.1 {
		t.Errorf("%+v", p)
	}
	o.Ranks = 16
	if _, err := loggp.PredictCollectives(t.Context(), o); err == nil || !strings.Contains(err.Error(), "8 ranks, not 16") {
		t.Errorf("16 ranks beside 8: %v", err)
	}
}

// Lengths are those of nccl-tests, with the blocks of all ranks, and a table of nccl-tests of the
// same length stands beside them. Lengths that are the same in whole blocks are measured once.
func TestLengthsOfNCCLAreThoseOfItsTests(t *testing.T) {
	for _, operation := range []string{"allgather", "alltoall", "reduce-scatter", "allreduce"} {
		sizes := []int{8, 20, 1 << 20}
		m, err := loggp.Measure(t.Context(), loggp.MeasureOptions{Platform: "dgx-h100", Library: "nccl", Ranks: 16, Sizes: sizes, Collective: []string{operation}})
		if err != nil {
			t.Fatal(err)
		}
		want := []int{1, 2, 64 << 10} // of a block
		if operation == "allreduce" {
			want = sizes
		}
		for i, s := range m.Samples.Series {
			if len(m.Samples.Series) != 3 || s.Bytes != want[i] {
				t.Errorf("%s: %d series; %d bytes, want %d", operation, len(m.Samples.Series), s.Bytes, want[i])
			}
		}
		file := filepath.Join(t.TempDir(), "times.csv")
		text := fmt.Sprintf("# ranks: 16\nplatform,library,clock,place,mode,protocol,timer,bytes,launch,rep,time_us\nmine,nccl,real,inter,%s,vendor,coll_mean,%d,0,0,30\n", operation, want[2])
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := loggp.PredictCollectives(t.Context(), loggp.CollectiveOptions{Platform: "dgx-h100", Library: "nccl", Operation: operation, Ranks: 16, Samples: file})
		if err != nil {
			t.Fatal(err)
		}
		c := p.Operations[0]
		if len(c.Sizes) != 1 || c.Sizes[0] != 1<<20 || c.Measured[0] != 30 || c.Algorithms[c.Choices[0]].Costs[0].LastEnd != m.Samples.Series[2].Times[0] {
			t.Errorf("%s: %+v", operation, c)
		}
	}
	m, err := loggp.Measure(t.Context(), loggp.MeasureOptions{Platform: "dgx-h100", Library: "nccl", Ranks: 64, Sizes: []int{8, 64}, Collective: []string{"allgather"}})
	if err != nil || len(m.Samples.Series) != 1 {
		t.Errorf("8 and 64 bytes are blocks of a byte: %v, %+v", err, m)
	}
}

// Options without effect on NCCL, and what it does not have, are errors.
func TestWhatNCCLRejects(t *testing.T) {
	for want, o := range map[string]loggp.CollectiveOptions{
		"nccl has no barrier":     {Operation: "barrier", Ranks: 8},
		"has no use for it":       {Operation: "bcast", Ranks: 8, InTurn: true},
		"all nodes must have":     {Operation: "bcast", Ranks: 9},
		"a rank's buffer has":     {Operation: "allgather", Ranks: 1024, Sizes: []int{1 << 45}},
		"it must be from 2":       {Operation: "bcast", Ranks: 1},
		"library nccl has no use": {Operation: "bcast", Ranks: 8, Place: "intra"},
	} {
		o.Platform, o.Library = "dgx-h100", "nccl"
		if _, err := loggp.PredictCollectives(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	for want, o := range map[string]loggp.MeasureOptions{
		"by its collective operations": {},
		"do not vary":                  {Collective: []string{"bcast"}, Reps: 3},
		`has no "binomial"`:            {Collective: []string{"bcast"}, Algorithm: "binomial"},
	} {
		o.Platform, o.Library, o.Ranks = "dgx-h100", "nccl", 8
		if _, err := loggp.Measure(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}

// allreducesOf is a workload in which groups of some ranks execute allreduces at the same time.
func allreducesOf(bytes uint64, groups ...[]int) *loggp.Workload {
	p := workload.NewProgram("allreduces")
	w := &workload.Workload{}
	n := 0
	for i, g := range groups {
		p.AddOp(workload.Op{Kind: workload.Collective, Operation: collective.Allreduce, Size: bytes, Stream: uint8(i + 1), Peer: uint32(i)})
		w.Groups = append(w.Groups, workload.Group{Name: fmt.Sprint("group ", i), Ranks: g})
		n = max(n, len(g))
	}
	all := make([]int, len(groups))
	for i := range groups {
		all[i] = i
	}
	for range n {
		w.Ranks = append(w.Ranks, workload.Rank{Program: p, Groups: all})
	}
	return &loggp.Workload{Workload: w}
}

// By flows an allreduce alone takes what NCCL's takes. Two on the same GPUs share their links, so
// they take as long as both one after the other, less what each does not use of them.
func TestFlowsOfNCCL(t *testing.T) {
	const bytes = 1 << 30
	for _, ranks := range []int{8, 16, 64} {
		world := make([]int, ranks)
		for r := range world {
			world[r] = r
		}
		finish := func(groups ...[]int) float64 {
			t.Helper()
			x, err := loggp.SimulateFlows(t.Context(), allreducesOf(bytes, groups...), loggp.FlowOptions{Platform: "dgx-h100", Library: "nccl"})
			if err != nil {
				t.Fatal(err)
			}
			return x.Result.Finish.Micros()
		}
		predicted, err := loggp.PredictCollectives(t.Context(), loggp.CollectiveOptions{Platform: "dgx-h100", Library: "nccl", Operation: "allreduce", Ranks: ranks, Sizes: []int{bytes}})
		if err != nil {
			t.Fatal(err)
		}
		p := predicted.Operations[0]
		alone := p.Algorithms[p.Choices[0]].Costs[0].LastEnd.Micros()
		if got := finish(world); got != alone {
			t.Errorf("%d ranks: %g us by flows, want %g", ranks, got, alone)
		}
		if got := finish(world, world); got < 1.4*alone || got > 2*alone {
			t.Errorf("%d ranks: two at the same time take %g us, one %g", ranks, got, alone)
		}
	}
}
