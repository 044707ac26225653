package nccl

import (
	"math"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// testHardware has nodes of 8 GPUs on a switch, or of 4 that are all joined.
func testHardware(gpus int) *Hardware {
	s := &model.NCCLSettings{GPU: "hopper", Processor: "intel", HasGPUDirect: true, NVLink: 370.8e9, Network: 48e9, NodeChannels: 24, InterfaceChannels: 2, NVLSChannels: 16, PeerChannels: 32}
	return &Hardware{Tables: FindTables("nccl-2.28"), NCCLSettings: s, GPUs: gpus, Interfaces: gpus, HasSwitch: gpus == 8}
}

func newTestCommunicator(t *testing.T, ranks, nodes int) *Communicator {
	t.Helper()
	gpus := 8
	if ranks/nodes <= 4 {
		gpus = 4
	}
	c, err := NewCommunicator(testHardware(gpus), ranks, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// By hand: a ring of 8 takes 14 hops of 0.6 us and a call of 6.6 us; a word on top.
func TestShortRingTakesItsHops(t *testing.T) {
	c := newTestCommunicator(t, 8, 1)
	if got := c.Time(Call{collective.Allreduce, 8}, Method{Ring, LL}).Micros(); math.Abs(got-15) > 0.01 {
		t.Errorf("%g us, want 6.6 + 14 · 0.6", got)
	}
}

// Long data goes over the links of each GPU 2 (n−1)/n times: nccl-tests print the rate of the
// links.
func TestLongRingReachesItsLinks(t *testing.T) {
	for _, x := range []struct {
		ranks, nodes int
		want         float64 // GB/s
	}{{8, 1, 370.8}, {4, 1, 370.8}, {2, 1, 123.6}, {8, 2, 4 * 48}, {64, 8, 370.8}} {
		c := newTestCommunicator(t, x.ranks, x.nodes)
		for _, o := range []collective.Operation{collective.Allreduce, collective.Allgather, collective.ReduceScatter} {
			const bytes = 16 << 30
			got := bytes / c.Time(Call{o, bytes}, Method{Ring, Simple}).Micros() / 1e3 * BusFactor(o, x.ranks)
			if math.Abs(got/x.want-1) > 0.02 {
				t.Errorf("%v of %d ranks on %d nodes: bus bandwidth %.1f GB/s, want %.1f", o, x.ranks, x.nodes, got, x.want)
			}
		}
	}
}

// The tuner of 8 H100 takes the ring by LL up to 1 MiB and NVLS from 2 MiB on: NVIDIA/nccl-tests,
// issue 309.
func TestTunerOfOneNodeOfH100(t *testing.T) {
	c := newTestCommunicator(t, 8, 1)
	for bytes := 8; bytes <= 1<<30; bytes *= 2 {
		want := Method{Ring, LL}
		if bytes > 1<<20 {
			want = Method{NVLS, Simple}
		}
		if got := c.Choice(Call{collective.Allreduce, bytes}); got != want {
			t.Errorf("%d bytes: %v, want %v", bytes, got, want)
		}
	}
}

// An all-to-all exchange by symmetry is one by all of its messages.
func TestExchangeIsAGroupOfMessages(t *testing.T) {
	for _, x := range [][2]int{{8, 1}, {4, 1}, {2, 1}, {16, 2}, {8, 2}, {4, 4}} {
		c := newTestCommunicator(t, x[0], x[1])
		for _, block := range []int{1, 4096, 16 << 10, 64 << 10, 1 << 20, 100 << 20} {
			var messages []Message
			for from := range c.Ranks {
				for to := range c.Ranks {
					messages = append(messages, Message{from, to, block})
				}
			}
			call := Call{collective.Alltoall, block * c.Ranks}
			if got, want := c.Time(call, c.Choice(call)), c.GroupTime(messages); got != want {
				t.Errorf("%d ranks on %d nodes, blocks of %d: %v, want %v", x[0], x[1], block, got, want)
			}
		}
	}
}

// Data never takes less time than shorter data by more than one change of chunks explains, and all
// methods have a time of all sizes.
func TestTimesGrowWithBytes(t *testing.T) {
	for _, x := range [][2]int{{2, 1}, {4, 1}, {8, 1}, {8, 2}, {16, 2}, {24, 3}, {1024, 128}} {
		c := newTestCommunicator(t, x[0], x[1])
		for _, o := range Operations {
			for _, m := range c.Methods(o) {
				var before unit.Time
				for bytes := 8; bytes <= 16<<30; bytes *= 4 {
					got := c.Time(Call{o, bytes}, m)
					if got <= 0 || float64(got) < 0.95*float64(before) {
						t.Errorf("%v of %d ranks on %d nodes by %v: %d bytes take %v, after %v", o, x[0], x[1], m, bytes, got, before)
					}
					before = got
				}
			}
		}
	}
}

// The trees of NCCL for 14 nodes, as src/graph/trees.cc draws them.
func TestBinaryTree(t *testing.T) {
	want := []int{-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12}
	for n, node := range binaryTree(14) {
		if node.parent != want[n] {
			t.Errorf("the parent of %d is %d, want %d", n, node.parent, want[n])
		}
	}
}
