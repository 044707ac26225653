//go:build unix

package probe

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The program reads the latency of a plain C ping-pong. Both are in one process and take turns, as launches differ by more than the two do: by up to a half, by
// where the library's memory comes to lie. Metrics are half a round trip, probe/plain, the median ratio over launches, probe/single, the same where the plain
// one looks at the clock after each trip, and forwarded/plain: what it takes to send what was just received instead of what lay ready.
func BenchmarkPlainPingPong(b *testing.B) {
	sizes := []int{0, 8, 64, 1024, 4096, 16384, 65536}
	for _, compiler := range compilers(b) {
		program := filepath.Join(b.TempDir(), "plain")
		if text, err := exec.Command(compiler, "-std=c99", "-O2", "-o", program, "testdata/plain.c").CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, text)
		}
		b.Run(compiler, func(b *testing.B) {
			launches := make([]map[int][4]float64, 0, 5)
			for b.Loop() {
				for launches = launches[:0]; len(launches) < cap(launches); {
					launches = append(launches, plain(b, compiler, program, sizes))
				}
			}
			b.ReportMetric(0, "ns/op")
			for _, k := range sizes {
				b.ReportMetric(over(launches, k, func(x [4]float64) float64 { return x[0] }), fmt.Sprintf("ns-%dB", k))
				b.ReportMetric(over(launches, k, func(x [4]float64) float64 { return x[0] / x[1] }), fmt.Sprintf("probe/plain-%dB", k))
				b.ReportMetric(over(launches, k, func(x [4]float64) float64 { return x[0] / x[3] }), fmt.Sprintf("probe/single-%dB", k))
				b.ReportMetric(over(launches, k, func(x [4]float64) float64 { return x[2] / x[1] }), fmt.Sprintf("forwarded/plain-%dB", k))
			}
		})
	}
}

// over returns the median over launches.
func over(launches []map[int][4]float64, bytes int, of func([4]float64) float64) float64 {
	var x []float64
	for _, l := range launches {
		x = append(x, of(l[bytes]))
	}
	slices.Sort(x)
	return x[len(x)/2]
}

// plain starts the two together, and returns the times for each size: of the program, of a plain ping-pong, of one that forwards, and of the plain
// one by single trips.
func plain(t testing.TB, compiler, program string, sizes []int) map[int][4]float64 {
	t.Helper()
	dir := t.TempDir()
	command := []string{"-n", "2", program, dir, "60"}
	for _, k := range sizes {
		command = append(command, strconv.Itoa(k))
	}
	if text, err := exec.Command(strings.Replace(compiler, "mpicc", "mpirun", 1), command...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	text, err := os.ReadFile(filepath.Join(dir, "plain.0"))
	if err != nil {
		t.Fatal(err)
	}
	times := make(map[int][4]float64)
	for line := range strings.Lines(string(text)) {
		var bytes int
		var x [4]float64
		if _, err := fmt.Sscan(line, &bytes, &x[0], &x[1], &x[2], &x[3]); err != nil || min(x[0], x[1], x[2], x[3]) <= 0 {
			t.Fatalf("%q: %v", line, err)
		}
		times[bytes] = x
	}
	return times
}

// Both take turns as they should: of each size there are times, whatever they are.
func TestPlainPingPong(t *testing.T) {
	for _, compiler := range compilers(t) {
		program := filepath.Join(t.TempDir(), "plain")
		if text, err := exec.Command(compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-o", program, "testdata/plain.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if times := plain(t, compiler, program, []int{8, 100_000}); len(times) != 2 || times[100_000][0] < times[8][0] {
			t.Errorf("%s: %v", compiler, times)
		}
	}
}
