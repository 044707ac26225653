package calibrate

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/nccl"
	"github.com/loggp/loggp/model/platform"
)

// ncclTestsTable writes a table of allreduces as nccl-tests print it, by the times of a machine on
// whose nodes there are so many ranks.
func ncclTestsTable(t *testing.T, p *platform.Platform, ranks, nodes int, sizes ...int) string {
	t.Helper()
	l, err := p.Library("nccl")
	if err != nil {
		t.Fatal(err)
	}
	h, err := nccl.NewHardware(p.Machine, l)
	if err != nil {
		t.Fatal(err)
	}
	c, err := nccl.NewCommunicator(h, ranks, nodes)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, "# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# Using devices")
	for r := range ranks {
		fmt.Fprintf(&b, "#  Rank %2d Group  0 Pid %6d on     node%02d device %2d [0x1b] NVIDIA H100 80GB HBM3\n", r, 100+r, r*nodes/ranks, r%8)
	}
	fmt.Fprintln(&b, "#\n#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong")
	for _, bytes := range sizes {
		call := nccl.Call{Operation: collective.Allreduce, Bytes: bytes}
		us := c.Time(call, c.Choice(call)).Micros()
		rate := float64(bytes) / us / 1e3
		bus := rate * nccl.BusFactor(call.Operation, ranks)
		fmt.Fprintf(&b, "%12d %12d float sum -1 %.4f %.2f %.2f 0 %.4f %.2f %.2f 0\n", bytes, bytes/4, us, rate, bus, us, rate, bus)
	}
	return b.String()
}

// benchOf returns the bench of files with texts, which are not converted to samples before.
func benchOf(t *testing.T, template string, selection SampleSelection, texts ...string) *Bench {
	t.Helper()
	var targets []string
	for i, text := range texts {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("output-%d.txt", i))
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		targets = append(targets, SamplesPrefix+file)
	}
	selection.AllSizes = true
	b, err := TargetBench(t.Context(), open(t, template), nil, targets, selection)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var lengthsOfTwin = []int{8, 1 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20}

// Tables of nccl-tests of two sizes of a machine whose numbers differ from the template's give
// these numbers, and the errors to expect of its NCCL alone.
func TestTwinFromTablesOfNCCLTests(t *testing.T) {
	d := open(t, "dgx-h100")
	want := map[string]float64{ // ps, bytes a second
		"call.LL": 12e6, "call.Simple": 20e6, "block.LL": 7e9, "network.bandwidth": 40e9,
	}
	other, err := d.With(map[string]string{"libraries[nccl].call.LL": "12us", "libraries[nccl].call.Simple": "20us", "libraries[nccl].block.LL": "7GB/s", "libraries[nccl].network.bandwidth": "40GB/s"})
	if err != nil {
		t.Fatal(err)
	}
	b := benchOf(t, "dgx-h100", SampleSelection{}, ncclTestsTable(t, other, 8, 1, lengthsOfTwin...), ncclTestsTable(t, other, 16, 2, lengthsOfTwin...))
	if n := len(b.Quantities); n != 2*len(lengthsOfTwin) {
		t.Fatalf("%d targets, want %d; left out: %v", n, 2*len(lengthsOfTwin), b.Omitted)
	}
	twin, err := MakeTwin(t.Context(), d, b, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range twin.Numbers {
		path, isNCCL := strings.CutPrefix(n.Path, "libraries[nccl].")
		x, err := n.Quantity.Parse(n.FittedValue)
		if x0, isKnown := want[path]; isKnown && (err != nil || math.Abs(x/x0-1) > 0.03) {
			t.Errorf("%s = %s, want %g", n.Path, n.FittedValue, x0)
		}
		if !isNCCL && !n.IsWithoutEffect {
			t.Errorf("%s was fitted to collective operations of NCCL", n.Path)
		}
	}
	var text strings.Builder
	if err := twin.WritePlatform(&text); err != nil {
		t.Fatal(err)
	}
	p, err := platform.Parse(d.File, []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range p.Libraries {
		if isNCCL := l.CarriedBy() == model.NCCLEngine; (l.ExpectedError > 0) != isNCCL {
			t.Errorf("the file expects errors of %g of library %s", l.ExpectedError, l.Name)
		}
	}
	if answer := twin.Document().Answer; !strings.Contains(answer, "for collective operations by nccl") || strings.Contains(answer, "Collective operations were not compared") {
		t.Error(answer)
	}
}

// Two ranks of nccl-tests may be on two nodes, and the table says so.
func TestNodesOfNCCLTests(t *testing.T) {
	d := open(t, "dgx-h100")
	for nodes := 1; nodes <= 2; nodes++ {
		b := benchOf(t, "dgx-h100", SampleSelection{}, ncclTestsTable(t, d.Platform, 2, nodes, lengthsOfTwin...))
		times, err := b.Measure(t.Context(), d.Platform)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range b.Quantities {
			if math.Abs(times[i]-q.MinTarget) > 0.001 {
				t.Errorf("%d nodes, %s: %g us, the table has %g", nodes, q.Name, times[i], q.MinTarget)
			}
		}
	}
}

// Round trips of writes are measured below the library, those of tagged messages by it.
func TestTransportsAreMeasuredWhereTheyAre(t *testing.T) {
	const verbs = `                    RDMA_Write Latency Test
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
 2       1000          1.8           3.34         1.81     	       1.81        	0.06   		1.09    		3.34
 4096    1000          1.8           3.20         3.01     	       3.01        	0.06   		1.09    		3.20
 1048576 1000          1.8           3.20         27.01    	       27.01       	0.06   		1.09    		3.20
`
	const fabtests = `$ fi_rdm_tagged_pingpong
bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
64      10k     =10k     1.2m        0.04s     30.11       2.13       0.47
1k      10k     =10k     19m         0.06s    340.11       3.01       0.33
`
	const sendPath = "libraries[openmpi-5].software.send"
	for _, x := range []struct {
		text   string
		count  int
		change float64 // of a round trip, if a send costs 1 us more at each side
	}{{verbs, 3, 0}, {fabtests, 2, 2}} {
		b := benchOf(t, "hdr-fattree", SampleSelection{}, x.text)
		if len(b.Quantities) != x.count {
			t.Fatalf("%d targets, left out: %v", len(b.Quantities), b.Omitted)
		}
		d := open(t, "hdr-fattree")
		path := strings.Replace(sendPath, "openmpi-5", b.Libraries[0], 1)
		n, err := d.Number(path)
		if err != nil {
			t.Fatal(err)
		}
		before, err := n.Quantity.Parse(n.Value)
		if err != nil {
			t.Fatal(err)
		}
		slower, err := d.With(map[string]string{path: n.Quantity.Format(before + 1e6)})
		if err != nil {
			t.Fatal(err)
		}
		was, err := b.Measure(t.Context(), d.Platform)
		if err != nil {
			t.Fatal(err)
		}
		is, err := b.Measure(t.Context(), slower)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range b.Quantities {
			if change := is[i] - was[i]; math.Abs(change-x.change) > 0.02 || !(was[i] > 0.5) {
				t.Errorf("%s: %g us, and %+g with slower sends, want %+g", q.Name, was[i], change, x.change)
			}
		}
	}
}

// Collective operations alone are no targets of a platform without NCCL.
func TestTablesOfNCCLNeedGPUs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nccl-tests.txt")
	if err := os.WriteFile(file, []byte(ncclTestsTable(t, open(t, "dgx-h100").Platform, 8, 1, lengthsOfTwin...)), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := TargetBench(t.Context(), open(t, "hdr-fattree"), nil, []string{SamplesPrefix + file}, SampleSelection{})
	if err == nil || !strings.Contains(err.Error(), "has no library that is NCCL: take a template of GPUs") {
		t.Error(err)
	}
}
