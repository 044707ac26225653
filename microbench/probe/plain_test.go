//go:build unix

package probe

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The program reads the latency of a plain C ping-pong: in one process the two take turns, as
// launches differ by more than the two do, by where the library's memory comes to lie. Of five
// launches the median of their ratio is within 3 %, on a machine of one's own: the benchmark
// reports it.
func BenchmarkPlainPingPong(b *testing.B) {
	for _, compiler := range compilers(b) {
		program := compiledPlain(b, compiler)
		b.Run(compiler, func(b *testing.B) {
			ratios := map[int][]float64{}
			for b.Loop() {
				clear(ratios)
				for range 5 {
					for k, x := range plain(b, compiler, program, 200, []int{0, 8, 64, 1024, 4096, 16384, 65536}) {
						ratios[k] = append(ratios[k], x[0]/x[1])
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			for k, x := range ratios {
				slices.Sort(x)
				b.ReportMetric(x[len(x)/2], fmt.Sprintf("probe/plain-%dB", k))
			}
		})
	}
}

func compiledPlain(t testing.TB, compiler string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "plain")
	if text, err := exec.Command(compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-Wno-unused-function", "-o", program, "testdata/plain.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return program
}

// plain starts the two together, and returns half a round trip of each size in nanoseconds: of the
// program, and of a plain ping-pong. Each has so many turns.
func plain(t testing.TB, compiler, program string, turns int, sizes []int) map[int][2]float64 {
	t.Helper()
	command := []string{"-n", "2", program, strconv.Itoa(turns)}
	for _, k := range sizes {
		command = append(command, strconv.Itoa(k))
	}
	text, err := exec.Command(strings.Replace(compiler, "mpicc", "mpirun", 1), command...).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	times := make(map[int][2]float64)
	for line := range strings.Lines(string(text)) {
		var bytes int
		var x [2]float64
		if _, err := fmt.Sscan(line, &bytes, &x[0], &x[1]); err != nil || min(x[0], x[1]) <= 0 {
			t.Fatalf("%q: %v", line, err)
		}
		times[bytes] = x
	}
	return times
}

// Both take turns as they should: of each size there are times, and none that no memory is fast
// enough for.
func TestPlainPingPong(t *testing.T) {
	for _, compiler := range compilers(t) {
		times := plain(t, compiler, compiledPlain(t, compiler), 2, []int{8, 100_000})
		if x := times[100_000]; len(times) != 2 || min(x[0], x[1]) < 1000 {
			t.Errorf("%s: %v ns", compiler, times)
		}
	}
}
