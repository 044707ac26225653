package job

import (
	"testing"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// The elements of a derived datatype are one copy of a recording, and the rank that is late is the
// one that delays the other.
func TestRecordedCopiesAndDelays(t *testing.T) {
	p, err := platform.Load("t3d")
	if err != nil {
		t.Fatal(err)
	}
	j, err := New(p, "", 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	const elements = 100
	column := mpi.Vector(elements, 1, 3, mpi.Float64).Commit()
	r, err := j.RecordProgram(t.Context(), 1, "", 0, func(c *mpi.Comm) error {
		b := mpi.Buffer{Bytes: make([]byte, 8*3*elements), Count: 1, Type: column}
		if c.Rank() == 0 {
			c.Compute(1e9)
			c.Send(b, 1, 0)
		} else {
			c.Recv(b, 0, 0)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	copies := 0
	for _, s := range r.Ranks[0].Spans {
		if s.Activity == model.CopyActivity {
			copies++
		}
	}
	if copies == 0 || copies > 3 {
		t.Errorf("%d copies of a message of %d elements", copies, elements)
	}
	for _, c := range r.Profile.Calls {
		if c.Name == "MPI_Recv" && (c.Count != 1 || c.LateSender < 1e9/2 || c.DelayedBy[0] < 1e9/2 || c.DelayedBy[1] != 0) {
			t.Errorf("the receive is %+v", c)
		}
	}
	if len(r.Profile.Traffic) != 1 || r.Profile.Traffic[0].Bytes != 8*elements {
		t.Errorf("the traffic is %+v", r.Profile.Traffic)
	}
}
