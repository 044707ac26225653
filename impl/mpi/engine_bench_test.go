package mpi_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// mirror is the shortest way there can be: what its one rank sends it receives, at no cost.
type mirror struct {
	device.Port
	packet device.Packet
}

func (m *mirror) Run(program func(device.Port) error) error { return program(m) }
func (*mirror) Rank() int                                   { return 0 }
func (*mirror) Size() int                                   { return 1 }
func (*mirror) Tier(int) model.Tier                         { return model.Intra }
func (*mirror) Now() unit.Time                              { return 0 }
func (*mirror) Spend(model.CostKey, int)                    {}
func (*mirror) RealTime()                                   {}
func (*mirror) Copy(dst, src []byte) int                    { return copy(dst, src) }
func (m *mirror) Send(_ int, p *device.Packet)              { m.packet = *p }
func (m *mirror) Recv(bool) *device.Packet                  { return &m.packet }
func (*mirror) Memory() device.Memory                       { return nil }
func (*mirror) Counter() device.Counter                     { return nil }

// BenchmarkEngine is what the library itself does for a message of 8 bytes: the send and the
// receive, with a port that takes no time.
func BenchmarkEngine(b *testing.B) {
	l := &model.Library{Name: "own", Fallback: "RTA", Window: 1 << 20}
	for m := range model.NumModes {
		l.Rules = append(l.Rules, model.Rule{Mode: m, UpTo: 4096, Protocol: "T"}, model.Rule{Mode: m, UpTo: -1, Protocol: "RTA"})
	}
	l.Rules[2*model.Synchronous].Protocol = "TA"
	b.ReportAllocs()
	err := mpi.Run(&mirror{}, mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
		out, in := make([]byte, 8), make([]byte, 8)
		for b.Loop() {
			mpi.Send(c, out, 0, 0)
			mpi.Recv(c, in, 0, 0)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
