package versus

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
)

// candidate is one of the programs that are compared. run launches it, measures all loads, and
// returns nanoseconds for each.
type candidate struct {
	name        string
	run         func(context.Context, []load) ([]float64, error)
	isInstalled func() bool // it is installed; nil: always
}

// transport has the candidates that use it. The first is the lower bound, and ours is compared
// with those after it.
type transport struct {
	name       string
	candidates []candidate
}

// ownName is the candidate that is compared with the others.
const ownName = "ours"

var transports = []transport{
	{"shm", []candidate{
		{"raw", pingPongThroughMemory, nil},
		{"port", ownCandidate("shm", "versus-port"), nil},
		{ownName, ownCandidate("shm", "versus-library"), nil},
		{"openmpi", openMPI.candidate("--bind-to", "core", "--mca", "btl", "vader,self"), openMPI.isInstalled},
		{"mpich", mpich.candidate("-bind-to", "core"), mpich.isInstalled},
	}},
	{"tcp", []candidate{
		{"raw", pingPongThroughSockets, nil},
		{"port", ownCandidate("tcp", "versus-port"), nil},
		{ownName, ownCandidate("tcp", "versus-library"), nil},
		{"openmpi", openMPI.candidate("--bind-to", "core", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"), openMPI.isInstalled},
		{"mpich", mpich.candidate("-bind-to", "core", "-genv", "MPIR_CVAR_NOLOCAL", "1", "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "lo"), mpich.isInstalled},
	}},
}

var rounds = flag.Int("rounds", 3, "how often each candidate is launched")

// selectedCandidates are the candidates that are launched.
var selectedCandidates = flag.String("only", "", "candidates, such as raw,ours (default all)")

// lengths are those to be measured.
var lengths = flag.String("lengths", "8,1024,4096,65536,1048576,4194304", "bytes of messages")

// requestedLoads returns the loads of lengths.
func requestedLoads(tb testing.TB) (loads []load) {
	for _, w := range strings.Split(*lengths, ",") {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 {
			tb.Fatalf("-lengths: %q is no number of bytes", w)
		}
		loads = append(loads, newLoad(n))
	}
	return loads
}

// buildDirectory is where programs are compiled.
var buildDirectory string

func TestMain(m *testing.M) {
	if is, err := runIfRank(); is {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "versus")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	buildDirectory = dir
	return m.Run()
}

// BenchmarkVersus shows half a round trip of each candidate, for each transport and length,
// and how much longer ours is. It needs an idle machine.
func BenchmarkVersus(b *testing.B) {
	for _, w := range transports {
		b.Run(w.name, func(b *testing.B) {
			list, loads := w.installedCandidates(b), requestedLoads(b)
			times := measureCandidates(b, list, loads, *rounds)
			fmt.Print("\n", formatTable(list, loads, times))
			for i, l := range loads {
				b.Run(l.name(), func(b *testing.B) {
					for b.Loop() {
					}
					reportLength(b, list, times, i)
				})
			}
		})
	}
}

// BenchmarkSlope shows for each transport and candidate the time of a byte between 64 and 128
// KiB, and how much it varies between launches, in percent.
func BenchmarkSlope(b *testing.B) {
	ends := []load{newLoad(64 << 10), newLoad(128 << 10)}
	for _, w := range transports {
		b.Run(w.name, func(b *testing.B) {
			list := w.installedCandidates(b)
			times := measureCandidates(b, list, ends, *rounds)
			for c, of := range list {
				b.Run(of.name, func(b *testing.B) {
					for b.Loop() {
					}
					var slopes []float64 // ns a byte
					for round, near := range times[c][0] {
						slopes = append(slopes, (times[c][1][round]-near)/float64(ends[1].bytes-ends[0].bytes))
					}
					b.ReportMetric(0, "ns/op") // the loop is empty
					b.ReportMetric(median(slopes), "ns/B")
					b.ReportMetric(coefficientOfVariation(slopes), "cv%")
				})
			}
		})
	}
}

// coefficientOfVariation returns the standard deviation over the mean, in percent.
func coefficientOfVariation(x []float64) float64 {
	mean, squares := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return 100 * math.Sqrt(squares/float64(len(x)-1)) / math.Abs(mean)
}

// reportLength reports a length.
func reportLength(b *testing.B, list []candidate, times [][][]float64, i int) {
	b.ReportMetric(0, "ns/op") // what is looped over is nothing
	us := slices.IndexFunc(list, func(c candidate) bool { return c.name == ownName })
	for c := range list {
		b.ReportMetric(median(times[c][i]), list[c].name+"-ns")
		if c != us {
			b.ReportMetric(median(timeRatios(times[us][i], times[c][i])), ownName+"/"+list[c].name)
		}
	}
}

// installedCandidates returns the candidates that are installed, and logs those that are not.
func (w transport) installedCandidates(tb testing.TB) (list []candidate) {
	if runtime.NumCPU() < 2 {
		tb.Skip("two ranks that spin need two processors")
	}
	for _, c := range w.candidates {
		if *selectedCandidates != "" && !slices.Contains(strings.Split(*selectedCandidates, ","), c.name) {
			continue
		}
		if c.isInstalled != nil && !c.isInstalled() {
			tb.Logf("%s is not installed, and is left out", c.name)
			continue
		}
		list = append(list, c)
	}
	return list
}

// measureCandidates returns the times of each candidate, of each load, by rounds.
func measureCandidates(tb testing.TB, list []candidate, loads []load, rounds int) [][][]float64 {
	times := make([][][]float64, len(list))
	for c := range times {
		times[c] = make([][]float64, len(loads))
	}
	for round := range rounds {
		for k := range list {
			c := k
			if round%2 == 1 {
				c = len(list) - 1 - k
			}
			half, err := list[c].run(tb.Context(), loads)
			if err != nil {
				tb.Fatalf("%s: %v", list[c].name, err)
			}
			for i, x := range half {
				times[c][i] = append(times[c][i], x)
			}
		}
	}
	return times
}

// timeRatios divides times of the same rounds.
func timeRatios(a, b []float64) []float64 {
	r := make([]float64, len(a))
	for i := range r {
		r[i] = a[i] / b[i]
	}
	return r
}

// formatTable shows the medians of launches in ns and the least and greatest, and our ratios within
// rounds likewise.
func formatTable(list []candidate, loads []load, times [][][]float64) string {
	us := slices.IndexFunc(list, func(c candidate) bool { return c.name == ownName })
	var s strings.Builder
	t := tabwriter.NewWriter(&s, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "half a round trip, ns\t")
	for _, c := range list {
		fmt.Fprintf(t, "%s\t(launches)\t", c.name)
	}
	for c := range list {
		if c != us {
			fmt.Fprintf(t, "%s/%s\t(rounds)\t", ownName, list[c].name)
		}
	}
	fmt.Fprintln(t)
	for i, l := range loads {
		fmt.Fprintf(t, "%s\t", l.name())
		for c := range list {
			x := times[c][i]
			fmt.Fprintf(t, "%.0f\t%s\t", median(x), formatRange(x, "%.0f"))
		}
		for c := range list {
			if c != us {
				r := timeRatios(times[us][i], times[c][i])
				fmt.Fprintf(t, "%.2f\t%s\t", median(r), formatRange(r, "%.2f"))
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	return s.String()
}

// Each candidate runs, returns times, and takes longer for much longer messages.
func TestCandidatesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("launches MPIs")
	}
	few := []load{{0, 5, 3}, {4 << 20, 1, 3}}
	for _, w := range transports {
		list := w.installedCandidates(t)
		if len(list) < len(w.candidates) && os.Getenv("CI") != "" {
			t.Errorf("%s: not all candidates are installed: .ci/mpi installs them", w.name)
		}
		for _, c := range list {
			t.Run(w.name+"/"+c.name, func(t *testing.T) {
				times := measureCandidates(t, []candidate{c}, few, 1)
				if len(times[0][0]) != 1 || times[0][0][0] <= 0 || times[0][1][0] < 10_000 { // memory of 400 GB/s is to come
					t.Errorf("half a round trip of nothing and of 4 MiB takes %v ns", times[0])
				}
			})
		}
	}
}
