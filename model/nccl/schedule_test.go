package nccl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// scheduledRank writes the steps of a channel's block on a rank as operations of a GOAL schedule:
// what it receives, the time that the block is busy, and what it sends. Operations of the block
// follow each other.
type scheduledRank struct {
	text  strings.Builder
	label int
	busy  int // label of the block's last operation; 0: none
}

func (r *scheduledRank) add(format string, args ...any) int {
	r.label++
	fmt.Fprintf(&r.text, "l%d: %s\n", r.label, fmt.Sprintf(format, args...))
	return r.label
}

func (r *scheduledRank) require(label, before int) {
	if before > 0 {
		fmt.Fprintf(&r.text, "l%d requires l%d\n", label, before)
	}
}

// addStep adds a step with a slice: from and to are ranks, or -1.
func (r *scheduledRank) addStep(from, to int, busy unit.Time) {
	received := 0
	if from >= 0 {
		received = r.add("recv 1b from %d tag 0", from)
	}
	work := r.add("calc %d", busy/unit.Nanosecond)
	r.require(work, received)
	r.require(work, r.busy)
	if r.busy = work; to >= 0 {
		r.require(r.add("send 1b to %d tag 0", to), work)
	}
}

// finishOf simulates the schedule on a LogGP machine with the latency of a hop, on which the
// processor's time is that of the blocks.
func finishOf(t *testing.T, ranks []*scheduledRank, hop unit.Time) unit.Time {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "num_ranks %d\n", len(ranks))
	for i, r := range ranks {
		fmt.Fprintf(&text, "rank %d {\n%s}\n", i, r.text.String())
	}
	s, err := schedule.Read(strings.NewReader(text.String()), "ring", 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Simulate(schedule.Options{Params: schedule.Params{L: hop, EagerLimit: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	return res.LastFinish
}

// newUniformCommunicator has blocks of 8 B/ns for all steps, so that times are whole nanoseconds.
func newUniformCommunicator(t *testing.T, ranks int) *Communicator {
	t.Helper()
	h := testHardware(8)
	h.Block, h.NVLink, h.NodeChannels = [3]unit.Rate{8e9, 8e9, 8e9}, 1e15, 16
	c, err := NewCommunicator(h, ranks, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A ring by Simple is to the nanosecond what LogGP makes of its schedule: the sends and receives of
// each rank's block, written without the rules of package nccl.
func TestRingEqualsItsScheduleOnLogGP(t *testing.T) {
	for _, ranks := range []int{2, 3, 4, 7, 8} {
		c := newUniformCommunicator(t, ranks)
		for _, o := range []collective.Operation{collective.Allreduce, collective.Allgather, collective.ReduceScatter} {
			for _, perRank := range []int{256 << 10, 1 << 20, 120 << 20} {
				call := Call{o, ranks * perRank}
				m := Method{Ring, Simple}
				p := c.newPlan(call, m)
				sends := ranks - 1
				if o == collective.Allreduce {
					sends *= 2
				}
				blocks := make([]*scheduledRank, ranks)
				for r := range blocks {
					blocks[r] = &scheduledRank{}
				}
				const chunk, slices = 2 << 20, 2
				for left := call.Bytes / p.channels; left > 0; left -= ranks * chunk {
					slice := min(chunk, left/ranks) / slices
					for step := range sends + 1 {
						for range slices {
							for r, b := range blocks {
								from, to := (r+ranks-1)%ranks, (r+1)%ranks
								if step == 0 {
									from = -1
								}
								if step == sends {
									to = -1
								}
								b.addStep(from, to, unit.Time(slice/8)*unit.Nanosecond)
							}
						}
					}
				}
				if call.Bytes%(p.channels*ranks*slices*8) != 0 {
					t.Fatalf("%d bytes in %d channels: times would not be whole nanoseconds", call.Bytes, p.channels)
				}
				want := timeOfMicroseconds(8.4) + finishOf(t, blocks, timeOfMicroseconds(3.4))
				if got := c.Time(call, m); got != want {
					t.Errorf("%v of %d ranks, %d bytes in %d channels: %v, by LogGP %v", o, ranks, call.Bytes, p.channels, got, want)
				}
			}
		}
	}
}

// One node of a ring stands for all: the schedule of all ranks, with a rank for each interface that
// carries one slice after the other, ends at the same time.
func TestRingOfNodesEqualsItsScheduleOnLogGP(t *testing.T) {
	for _, x := range [][2]int{{8, 2}, {6, 3}, {16, 4}} {
		ranks, nodes := x[0], x[1]
		perNode := ranks / nodes
		h := testHardware(8)
		hop := timeOfMicroseconds(3.4)
		h.Block, h.NVLink, h.Network = [3]unit.Rate{8e9, 8e9, 8e9}, 1e15, 16e9
		h.NetworkHop[Simple] = 2 * hop
		c, err := NewCommunicator(h, ranks, nodes)
		if err != nil {
			t.Fatal(err)
		}
		const chunk, slices = 2 << 20, 2
		m := Method{Ring, Simple}
		channels := 2 * perNode
		call := Call{collective.Allgather, channels * ranks * 3 * chunk}
		if p := c.newPlan(call, m); p.channels != channels || p.channelNetRate != 8e9 || p.sendingStepRate != 8e9 {
			t.Fatalf("%+v", p)
		}
		blocks := make([]*scheduledRank, ranks+nodes) // and the interfaces
		for r := range blocks {
			blocks[r] = &scheduledRank{}
		}
		busy := unit.Time(chunk/slices/8) * unit.Nanosecond
		for range 3 {
			for step := range ranks {
				for range slices {
					for r := range ranks {
						from, to := (r+ranks-1)%ranks, (r+1)%ranks
						if r%perNode == 0 {
							from = ranks + from/perNode
						}
						if (r+1)%perNode == 0 {
							to = ranks + r/perNode
						}
						if step == 0 {
							from = -1
						}
						if step == ranks-1 {
							to = -1
						}
						blocks[r].addStep(from, to, busy)
					}
					for n := range nodes {
						if step < ranks-1 {
							blocks[ranks+n].addStep((n+1)*perNode-1, (n+1)*perNode%ranks, busy)
						}
					}
				}
			}
		}
		want := timeOfMicroseconds(8.4) + finishOf(t, blocks, hop)
		if got := c.Time(call, m); got != want {
			t.Errorf("%d ranks on %d nodes: %v, by LogGP %v", ranks, nodes, got, want)
		}
	}
}
