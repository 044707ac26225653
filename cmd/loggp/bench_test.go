package main

import (
	"context"
	"io"
	"testing"
)

// BenchmarkMeasure is the command that people try first.
func BenchmarkMeasure(b *testing.B) {
	for range b.N {
		if status := run(context.Background(), []string{"measure", "--platform", "t3d"}, io.Discard, io.Discard); status != 0 {
			b.Fatal(status)
		}
	}
}
