package schedule

import (
	"bytes"
	"io"
	"math/bits"
	"os"
	"runtime"
	"testing"
)

// Schedules of the sizes for which speeds of LogGOPSim are known, as Schedgen writes them.

func build(tb testing.TB, ranks int, rank func(b *Builder, r int)) *Schedule {
	tb.Helper()
	var b Builder
	for r := range ranks {
		b.BeginRank()
		rank(&b, r)
	}
	s, err := b.Build()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// binomial is a broadcast in which rank v sends to v + 2^i in round i.
func binomial(tb testing.TB, ranks int, size uint64) *Schedule {
	return build(tb, ranks, func(b *Builder, v int) {
		round := bits.Len(uint(v))
		recv := -1
		if v > 0 {
			recv = b.AddOp(Op{Kind: Recv, Size: size, Peer: uint32(v - 1<<(round-1))})
		}
		for ; v+1<<round < ranks; round++ {
			send := b.AddOp(Op{Kind: Send, Size: size, Peer: uint32(v + 1<<round)})
			if recv >= 0 {
				b.AddDependency(send, recv, false)
			}
		}
	})
}

// dissemination is a barrier in which all ranks send to r + 2^i in round i.
func dissemination(tb testing.TB, ranks int) *Schedule {
	return build(tb, ranks, func(b *Builder, r int) {
		last := -1
		for d := 1; d < ranks; d *= 2 {
			send := b.AddOp(Op{Kind: Send, Size: 1, Peer: uint32((r + d) % ranks)})
			recv := b.AddOp(Op{Kind: Recv, Size: 1, Peer: uint32((r - d + ranks) % ranks)})
			if last >= 0 {
				b.AddDependency(send, last, false)
				b.AddDependency(recv, last, false)
			}
			last = recv
		}
	})
}

// linear is an all-to-all in which everything is sent and received at once; pairwise goes round by
// round.
func alltoall(tb testing.TB, ranks int, pairwise bool) *Schedule {
	return build(tb, ranks, func(b *Builder, r int) {
		last := -1
		for d := 1; d < ranks; d++ {
			recv := b.AddOp(Op{Kind: Recv, Size: 8, Peer: uint32((r - d + ranks) % ranks)})
			send := b.AddOp(Op{Kind: Send, Size: 8, Peer: uint32((r + d) % ranks)})
			if pairwise {
				if last >= 0 {
					b.AddDependency(recv, last, false)
					b.AddDependency(send, last, false)
				}
				last = recv
			}
		}
	})
}

func gather(tb testing.TB, ranks int) *Schedule {
	return build(tb, ranks, func(b *Builder, r int) {
		if r > 0 {
			b.AddOp(Op{Kind: Send, Size: 8})
			return
		}
		for from := 1; from < ranks; from++ {
			b.AddOp(Op{Kind: Recv, Size: 8, Peer: uint32(from)})
		}
	})
}

// memory returns the largest resident size of this process until now, in MB.
func memory() float64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(b, []byte("VmHWM:"))
	kB := 0.0
	for _, c := range bytes.TrimSpace(rest) {
		if c < '0' || c > '9' {
			break
		}
		kB = 10*kB + float64(c-'0')
	}
	return kB / 1000
}

// file writes a schedule into a file, so that it leaves no trace in memory.
func file(b *testing.B, s *Schedule) string {
	f, err := os.CreateTemp(b.TempDir(), "*.goal")
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Write(f); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return f.Name()
}

// From the text to the answer with its critical path. LOGGP_LARGE=1 adds the largest case.
func BenchmarkTextToAnswer(b *testing.B) {
	for _, c := range []struct {
		name string
		make func() *Schedule
	}{
		{"bcast-1Mi", func() *Schedule { return binomial(b, 1<<20, 8) }},
		{"dissemination-64Ki", func() *Schedule { return dissemination(b, 1<<16) }},
		{"pairwise-1Ki", func() *Schedule { return alltoall(b, 1<<10, true) }},
		{"linear-1Ki", func() *Schedule { return alltoall(b, 1<<10, false) }},
		{"gather-16Ki", func() *Schedule { return gather(b, 1<<14) }},
		{"bcast-8Mi", func() *Schedule { return binomial(b, 1<<23, 8) }},
	} {
		if c.name == "bcast-8Mi" && os.Getenv("LOGGP_LARGE") == "" {
			continue
		}
		name := file(b, c.make())
		for d := LogGP; d <= LogGOPSim; d++ {
			b.Run(c.name+"/"+d.String(), func(b *testing.B) {
				runtime.GC()
				for b.Loop() {
					s := readFile(b, name)
					res, err := s.Simulate(Options{Params: DefaultParams, Dialect: d, RecordsPath: true})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(res.Events), "events")
				}
				b.ReportMetric(memory(), "MB")
			})
		}
	}
}

func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	if err := dissemination(b, 1<<14).Write(&text); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Read(bytes.NewReader(text.Bytes()), "", 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	s := dissemination(b, 1<<14)
	for b.Loop() {
		if err := s.Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
