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

func benchmark(b *testing.B, args ...string) {
	for range b.N {
		if status := run(context.Background(), args, io.Discard, io.Discard); status != 0 {
			b.Fatal(status)
		}
	}
}
