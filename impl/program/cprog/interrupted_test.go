//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"testing"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/unit"
)

// Time in which a rank has no processor is not charged as computing, and is reported.
func TestComputingIsProcessorTime(t *testing.T) {
	j, err := job.Open(simple, "", 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{Path: build(t, "without_processor.c"), Compute: Compute{Factor: 1}}
	main, err := p.Main()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var ends [2]unit.Time
	if _, err := j.RecordProgram(t.Context(), 1, "", -1, func(c *mpi.Comm) error {
		err := main(c)
		ends[c.Rank()] = c.Wtime()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for rank, end := range ends {
		if end > unit.FromMicros(250e3) {
			t.Errorf("rank %d ends at %v: waiting was charged", rank, end)
		}
	}
	if p.computeNanoseconds.Load() == 0 {
		t.Error("nothing was charged")
	}
	if x := p.InterruptedShare(); x < 0.5 || x > 1 {
		t.Errorf("without a processor for %.2f of the time, want nearly all", x)
	}
}
