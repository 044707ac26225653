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
	name  string
	run   func(context.Context, []load) ([]float64, error)
	there func() bool // it is installed; nil: always
}

// transport has the candidates that use it. The first is the lower bound, and ours is compared
// with those after it.
type transport struct {
	name       string
	candidates []candidate
}

// ours is the candidate that is compared with the others.
const ours = "ours"

var transports = []transport{
	{"shm", []candidate{
		{"raw", raw, nil},
		{"port", own("shm", "versus-port"), nil},
		{ours, own("shm", "versus-library"), nil},
		{"openmpi", openMPI.with("--bind-to", "core", "--mca", "btl", "vader,self"), openMPI.there},
		{"mpich", mpich.with("-bind-to", "core"), mpich.there},
	}},
	{"tcp", []candidate{
		{"raw", sockets, nil},
		{"port", own("tcp", "versus-port"), nil},
		{ours, own("tcp", "versus-library"), nil},
		{"openmpi", openMPI.with("--bind-to", "core", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"), openMPI.there},
		{"mpich", mpich.with("-bind-to", "core", "-genv", "MPIR_CVAR_NOLOCAL", "1", "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "lo"), mpich.there},
	}},
}

var rounds = flag.Int("rounds", 3, "how often each candidate is launched")

// only are the candidates that are launched.
var only = flag.String("only", "", "candidates, such as raw,ours (default all)")

// lengths are those to be measured.
var lengths = flag.String("lengths", "8,1024,4096,65536,1048576,4194304", "bytes of messages")

// loads returns the loads of lengths.
func loads(tb testing.TB) (loads []load) {
	for _, w := range strings.Split(*lengths, ",") {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 {
			tb.Fatalf("-lengths: %q is no number of bytes", w)
		}
		loads = append(loads, loadOf(n))
	}
	return loads
}

// scratch is where programs are compiled.
var scratch string

func TestMain(m *testing.M) {
	if is, err := asRank(); is {
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
	scratch = dir
	return m.Run()
}

// BenchmarkVersus shows half a round trip of each candidate, for each transport and length,
// and how much longer ours is. It needs an idle machine.
func BenchmarkVersus(b *testing.B) {
	for _, w := range transports {
		b.Run(w.name, func(b *testing.B) {
			list, loads := w.present(b), loads(b)
			times := measure(b, list, loads, *rounds)
			fmt.Print("\n", table(list, loads, times))
			for i, l := range loads {
				b.Run(l.name(), func(b *testing.B) {
					for b.Loop() {
					}
					report(b, list, times, i)
				})
			}
		})
	}
}

// BenchmarkSlope shows for each transport and candidate the time of a byte between 64 and 128
// KiB, and how much it varies between launches, in percent.
func BenchmarkSlope(b *testing.B) {
	ends := []load{loadOf(64 << 10), loadOf(128 << 10)}
	for _, w := range transports {
		b.Run(w.name, func(b *testing.B) {
			list := w.present(b)
			times := measure(b, list, ends, *rounds)
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
					b.ReportMetric(variation(slopes), "cv%")
				})
			}
		})
	}
}

// variation returns the standard deviation over the mean, in percent.
func variation(x []float64) float64 {
	mean, squares := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return 100 * math.Sqrt(squares/float64(len(x)-1)) / math.Abs(mean)
}

// report reports a length.
func report(b *testing.B, list []candidate, times [][][]float64, i int) {
	b.ReportMetric(0, "ns/op") // what is looped over is nothing
	us := slices.IndexFunc(list, func(c candidate) bool { return c.name == ours })
	for c := range list {
		b.ReportMetric(median(times[c][i]), list[c].name+"-ns")
		if c != us {
			b.ReportMetric(median(ratios(times[us][i], times[c][i])), ours+"/"+list[c].name)
		}
	}
}

// present returns the candidates that are installed, and logs those that are not.
func (w transport) present(tb testing.TB) (list []candidate) {
	if runtime.NumCPU() < 2 {
		tb.Skip("two ranks that spin need two processors")
	}
	for _, c := range w.candidates {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), c.name) {
			continue
		}
		if c.there != nil && !c.there() {
			tb.Logf("%s is not installed, and is left out", c.name)
			continue
		}
		list = append(list, c)
	}
	return list
}

// measure returns the times of each candidate, of each load, by rounds.
func measure(tb testing.TB, list []candidate, loads []load, rounds int) [][][]float64 {
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

// ratios divides times of the same rounds.
func ratios(a, b []float64) []float64 {
	r := make([]float64, len(a))
	for i := range r {
		r[i] = a[i] / b[i]
	}
	return r
}

// table shows the medians of launches in ns and the least and greatest, and our ratios within
// rounds likewise.
func table(list []candidate, loads []load, times [][][]float64) string {
	us := slices.IndexFunc(list, func(c candidate) bool { return c.name == ours })
	var s strings.Builder
	t := tabwriter.NewWriter(&s, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "half a round trip, ns\t")
	for _, c := range list {
		fmt.Fprintf(t, "%s\t(launches)\t", c.name)
	}
	for c := range list {
		if c != us {
			fmt.Fprintf(t, "%s/%s\t(rounds)\t", ours, list[c].name)
		}
	}
	fmt.Fprintln(t)
	for i, l := range loads {
		fmt.Fprintf(t, "%s\t", l.name())
		for c := range list {
			x := times[c][i]
			fmt.Fprintf(t, "%.0f\t%s\t", median(x), spread(x, "%.0f"))
		}
		for c := range list {
			if c != us {
				r := ratios(times[us][i], times[c][i])
				fmt.Fprintf(t, "%.2f\t%s\t", median(r), spread(r, "%.2f"))
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	return s.String()
}

// Each candidate runs, returns times, and takes longer for much longer messages.
func TestContenders(t *testing.T) {
	if testing.Short() {
		t.Skip("launches MPIs")
	}
	few := []load{{0, 5, 3}, {4 << 20, 1, 3}}
	for _, w := range transports {
		list := w.present(t)
		if len(list) < len(w.candidates) && os.Getenv("CI") != "" {
			t.Errorf("%s: not all candidates are installed: .ci/mpi installs them", w.name)
		}
		for _, c := range list {
			t.Run(w.name+"/"+c.name, func(t *testing.T) {
				times := measure(t, []candidate{c}, few, 1)
				if len(times[0][0]) != 1 || times[0][0][0] <= 0 || times[0][1][0] < 10_000 { // memory of 400 GB/s is to come
					t.Errorf("half a round trip of nothing and of 4 MiB takes %v ns", times[0])
				}
			})
		}
	}
}
