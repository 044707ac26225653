package mpi_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// BenchmarkMessage measures one message of 8 bytes through the whole library on an emulated torus:
// send, match, receive. All pairs of ranks run a ping-pong at the same time.
func BenchmarkMessage(b *testing.B) {
	for _, ranks := range []int{2, 1024} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			b.ReportAllocs()
			w, o := t3d(b, ranks)
			rounds := b.N/ranks + 1
			err := mpi.Run(w, o, func(c *mpi.Comm) error {
				buf := make([]byte, 8)
				peer := (c.Rank() + c.Size()/2) % c.Size()
				if c.Rank() == 0 {
					b.ResetTimer()
				}
				for range rounds {
					if c.Rank() < peer {
						mpi.Send(c, buf, peer, 0)
						mpi.Recv(c, buf, peer, 0)
					} else {
						mpi.Recv(c, buf, peer, 0)
						mpi.Send(c, buf, peer, 0)
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rounds*ranks), "ns/msg")
		})
	}
}

// BenchmarkMachines measures one message of a ping-pong between two ranks on each machine with its
// first library: the cost of emulating the machine's network. On Ethernet it also reports the cost
// of a frame.
func BenchmarkMachines(b *testing.B) {
	for _, c := range []struct {
		name, platform string
		bytes          int
		machine        *model.Machine
	}{
		{"t3d", "t3d", 8, load("t3d").Machine},
		{"convex/intra", "convex", 8, load("convex").Machine},
		{"convex/inter", "convex", 8, scattered(2)},
		{"numa/cluster", "convex", 8, cores()},
		{"numa/100KB", "convex", 100_000, cores()},
		{"now", "now", 8, load("now").Machine},
		{"now/100KB", "now", 100_000, load("now").Machine},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(c.bytes))
			l := *load(c.platform).Libraries[0]
			emulation := config(load(c.platform), c.machine, &l, 2, 0)
			var medium hw.EthernetStatistics
			emulation.Ethernet = &medium
			if err := mpi.Run(build(b, emulation), mpi.Options{Engine: carry, Library: &l}, pingPong(b, c.bytes)); err != nil {
				b.Fatal(err)
			}
			if medium.FramesSent > 0 {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(medium.FramesSent), "ns/frame")
			}
		})
	}
}

// pingPong sends b.N messages back and forth.
func pingPong(b *testing.B, bytes int) func(*mpi.Comm) error {
	return func(c *mpi.Comm) error {
		buf, peer := make([]byte, bytes), 1-c.Rank()
		if c.Rank() == 0 {
			b.ResetTimer()
		}
		for i := range b.N {
			if i%2 == c.Rank() {
				mpi.Send(c, buf, peer, 0)
			} else {
				mpi.Recv(c, buf, peer, 0)
			}
		}
		return nil
	}
}

// BenchmarkBarrier measures a job that consists of one barrier.
func BenchmarkBarrier(b *testing.B) {
	for _, ranks := range []int{1024, 1 << 20} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			for range b.N {
				w, o := synthetic(b, ranks)
				if err := mpi.Run(w, o, func(c *mpi.Comm) error { c.Barrier(); return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAllreduce measures an allreduce of 8 bytes on the T3D.
func BenchmarkAllreduce(b *testing.B) {
	for _, ranks := range []int{64, 1024} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			together(b, ranks, func(c *mpi.Comm) {
				x, y := []int64{int64(c.Rank())}, []int64{0}
				c.Allreduce(mpi.BufferOf(x), mpi.BufferOf(y), mpi.Sum)
			})
		})
	}
}

// BenchmarkAlltoall measures a pairwise exchange of 1 KiB between all ranks, on the T3D of the
// catalogue with its first library, the default for programs. These messages use protocol TA: the
// data travels with the envelope and is acknowledged. Data is really copied. All ranks send parts
// of one text, so only received data needs memory.
func BenchmarkAlltoall(b *testing.B) {
	const each = 1 << 10
	for _, ranks := range []int{64, 1024} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			text := make([]byte, each*ranks+8*ranks)
			rand.NewChaCha8([32]byte{}).Read(text)
			gives := func(rank, to int) []byte { return text[8*rank+each*to:][:each] }
			p := load("t3d")
			l := *p.Libraries[0]
			o := mpi.Options{Engine: carry, Library: &l, Tuning: forced(collective.AlgorithmNamed(collective.Alltoall, "pairwise"))}
			all := make([]byte, ranks*ranks*each)
			clear(all) // touches each page before the clock runs
			b.ReportAllocs()
			for b.Loop() {
				err := mpi.Run(build(b, config(p, p.Machine, &l, ranks, 0)), o, func(c *mpi.Comm) error {
					me := c.Rank()
					got := all[each*ranks*me:][:each*ranks]
					mpi.Alltoall(c, text[8*me:][:each*ranks], got)
					if from := ranks - 1 - me; !bytes.Equal(got[each*from:][:each], gives(from, me)) {
						return fmt.Errorf("rank %d has not got what rank %d gave it", me, from)
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			messages := float64(ranks) * float64(ranks-1)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/messages, "ns/msg")
		})
	}
}

// together runs do on all ranks, in a new job for each iteration.
func together(b *testing.B, ranks int, do func(c *mpi.Comm)) {
	b.ReportAllocs()
	for b.Loop() {
		w, o := t3d(b, ranks)
		if err := mpi.Run(w, o, func(c *mpi.Comm) error { do(c); return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// mirror is a port at no cost: its single rank receives what it sends.
type mirror struct {
	device.Port
	packet device.Packet
}

func (m *mirror) Run(program func(device.Port) error) error { return program(m) }
func (*mirror) Rank() int                                   { return 0 }
func (*mirror) Size() int                                   { return 1 }
func (*mirror) Tier(int) model.Tier                         { return model.IntraNode }
func (*mirror) Now() unit.Time                              { return 0 }
func (*mirror) Spend(model.CostKey, int)                    {}
func (*mirror) RealTime()                                   {}
func (*mirror) Copy(dst, src []byte) int                    { return copy(dst, src) }
func (m *mirror) Send(_ int, p *device.Packet)              { m.packet = *p }
func (m *mirror) Recv(bool) *device.Packet                  { return &m.packet }
func (*mirror) Memory() device.Memory                       { return nil }
func (*mirror) Counters() device.Counters                   { return nil }

// BenchmarkEngine measures the library's own time for a message of 8 bytes, send and receive, on a
// port that takes no time.
func BenchmarkEngine(b *testing.B) {
	l := &model.Library{Name: "own", Proto: model.ProtoSettings{Fallback: "RTA", WindowBytes: 1 << 20}}
	for m := range model.NumModes {
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, MaxBytes: 4096, Protocol: "T"}, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: "RTA"})
	}
	l.Proto.Rules[2*model.SynchronousMode].Protocol = "TA"
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
