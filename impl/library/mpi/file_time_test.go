package mpi_test

import (
	"path/filepath"
	"testing"

	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Opening, writing and reading a file take the time that the machine states.
func TestFileTimes(t *testing.T) {
	p := hwtest.LoadPlatform(t, "loggp")
	m, l := *p.Machine, p.Libraries[0]
	m.Noise.Relative = 0
	m.FileAccess = model.Channel{Start: unit.Millisecond, Bandwidth: 1e6}
	path := filepath.Join(t.TempDir(), "data")
	err := mpi.Run(world(t, &m, l, 1), mpi.Options{Engine: proto.New, Library: l}, func(c *mpi.Comm) error {
		start := c.Wtime()
		took := func(what string, want unit.Time) {
			if d := c.Wtime() - start; d < want || d > want+100*unit.Microsecond { // software takes some time
				t.Errorf("%s takes %v, want %v", what, d, want)
			}
			start = c.Wtime()
		}
		f := c.OpenFile(path, mpi.FileCreate|mpi.FileReadWrite)
		took("opening", unit.Millisecond)
		f.WriteAt(0, mpi.BufferOf(make([]byte, 5000)))
		took("writing 5000 bytes", 6*unit.Millisecond)
		f.ReadAt(3000, mpi.BufferOf(make([]byte, 5000)))
		took("reading the last 2000 bytes", 3*unit.Millisecond)
		f.Sync()
		took("synchronizing", unit.Millisecond)
		f.Close()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
