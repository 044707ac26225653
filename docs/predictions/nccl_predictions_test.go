package predictions_test

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/nccl"
	"github.com/loggp/loggp/model/platform"
)

var writePredictionsOfNCCL = flag.String("nccl-predictions", "", "file for the predictions of NCCL, as docs/predictions/nccl.csv")

// The library predicts every operation on every machine of docs/predictions/nccl.csv, which
//
//	go test ./docs/predictions -run TestPredictionsOfNCCL -nccl-predictions FILE
//
// wrote at the commit that its sources name.
func TestPredictionsOfNCCL(t *testing.T) {
	var text bytes.Buffer
	out := csv.NewWriter(&text)
	out.Write([]string{"machine", "library", "benchmark", "operation", "algorithm", "nodes", "ranks", "bytes", "quantity", "value", "unit", "source"})
	for _, m := range []struct {
		machine, platform string
		sizes             [][2]int // ranks, nodes
	}{
		{"alps-gh200", "gh200", [][2]int{{4, 1}, {8, 2}}},
		{"merlin-gh200", "merlin-gh200.yaml", [][2]int{{2, 1}, {4, 1}, {2, 2}, {8, 2}}},
		{"merlin-a100", "merlin-a100.yaml", [][2]int{{2, 1}, {4, 1}, {2, 2}, {8, 2}}},
		{"hgx-a100-node", "dgx-a100", [][2]int{{8, 1}}},
		{"hgx-h100-node", "dgx-h100", [][2]int{{8, 1}}},
		{"hgx-h100-ndr", "dgx-h100", [][2]int{{8, 1}, {16, 2}, {32, 4}, {64, 8}, {128, 16}, {256, 32}, {512, 64}, {1024, 128}}},
		{"gcp-a3mega-h100", "a3mega-h100.yaml", [][2]int{{8, 1}, {16, 2}}},
		{"aws-p6-b200", "p6-b200.yaml", [][2]int{{8, 1}, {16, 2}, {32, 4}}},
	} {
		h := ncclHardware(t, m.platform)
		for _, size := range m.sizes {
			c, err := nccl.NewCommunicator(h, size[0], size[1])
			if err != nil {
				t.Fatal(err)
			}
			write := func(operation, algorithm string, bytes int, micros float64) {
				if !(micros > 0) {
					t.Fatalf("%s: %s of %d bytes takes %g us", m.machine, operation, bytes, micros)
				}
				out.Write([]string{m.machine, "NCCL", "nccl-tests " + operation + "_perf", operation, algorithm, strconv.Itoa(size[1]), strconv.Itoa(size[0]), strconv.Itoa(bytes), "time", strconv.FormatFloat(micros, 'f', 2, 64), "us", sourceOfNCCLPredictions})
			}
			for _, o := range []struct {
				name string
				collective.Operation
			}{{"all_reduce", collective.Allreduce}, {"all_gather", collective.Allgather}, {"reduce_scatter", collective.ReduceScatter}, {"all_to_all", collective.Alltoall}} {
				for bytes := 8; bytes <= 16<<30; bytes *= 2 {
					call := nccl.Call{Operation: o.Operation, Bytes: bytes}
					choice := c.Choice(call)
					write(o.name, fmt.Sprintf("default (%v)", choice), bytes, c.Time(call, choice).Micros())
					for _, a := range c.Algorithms(o.Operation) {
						if o.Operation == collective.Allreduce {
							write(o.name, a.String(), bytes, c.Time(call, c.Choice(call, a)).Micros())
						}
					}
				}
			}
		}
		for senders := 1; senders <= 4; senders++ {
			writeIncast(t, out, m.machine, h, senders)
		}
	}
	out.Flush()
	if *writePredictionsOfNCCL != "" {
		if err := os.WriteFile(*writePredictionsOfNCCL, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const sourceOfNCCLPredictions = "library nccl"

// ncclHardware returns what NCCL finds on a platform.
func ncclHardware(t *testing.T, name string) *nccl.Hardware {
	t.Helper()
	p, err := platform.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.Library("nccl")
	if err != nil {
		t.Fatal(err)
	}
	h, err := nccl.NewHardware(p.Machine, l)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// writeIncast writes the throughput of senders that each send 8 MiB to one GPU: from other GPUs of
// its node, if there are so many, and each from a node of its own.
func writeIncast(t *testing.T, out *csv.Writer, machine string, h *nccl.Hardware, senders int) {
	t.Helper()
	if machine != "alps-gh200" && machine != "merlin-gh200" && machine != "merlin-a100" {
		return
	}
	for _, x := range []struct {
		where        string
		ranks, nodes int
	}{{"within a node", senders + 1, 1}, {"from other nodes", senders + 1, senders + 1}} {
		if x.ranks/x.nodes > h.GPUs {
			continue
		}
		c, err := nccl.NewCommunicator(h, x.ranks, x.nodes)
		if err != nil {
			t.Fatal(err)
		}
		const chunk = 8 << 20
		var messages []nccl.Message
		for s := 1; s <= senders; s++ {
			messages = append(messages, nccl.Message{From: s, To: 0, Bytes: chunk})
		}
		rate := float64(senders*chunk) / c.GroupTime(messages).Micros() / 1e3
		out.Write([]string{machine, "NCCL", "sends to one GPU", "incast " + x.where, strconv.Itoa(senders) + " senders", strconv.Itoa(x.nodes), strconv.Itoa(x.ranks), strconv.Itoa(chunk), "throughput_sum", strconv.FormatFloat(rate, 'f', 2, 64), "GB/s", sourceOfNCCLPredictions})
	}
}
