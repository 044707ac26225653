package main

import (
	"context"
	"io"
	"testing"
)

// BenchmarkMeasure is the command that people try first, on each of the paper's machines.
func BenchmarkMeasure(b *testing.B) {
	for _, platform := range []string{"t3d", "convex", "now"} {
		b.Run(platform, func(b *testing.B) { benchmark(b, "measure", "--platform", platform) })
	}
}

// BenchmarkReproduce runs the whole paper.
func BenchmarkReproduce(b *testing.B) { benchmark(b, "reproduce", "altawil-moritz") }

// BenchmarkExchangeAll sends a message from each of 1024 PEs to each other. It takes 5.2 s of
// processor time on a loaded machine, on which it took 8.4 s when each step of a put resumed its
// rank.
func BenchmarkExchangeAll(b *testing.B) {
	benchmark(b, "run", "--platform", "t3d", "-n", "1024", "--library", "aclmpl", "exchange-all")
}

func benchmark(b *testing.B, args ...string) {
	for range b.N {
		if status := runCommandLine(context.Background(), args, io.Discard, io.Discard); status != 0 {
			b.Fatal(status)
		}
	}
}
