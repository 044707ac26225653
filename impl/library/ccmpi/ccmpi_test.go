package ccmpi

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest/program"
	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// options are of a library with compiled communication, whose ranks answer soon.
func options(t testing.TB, o Options) mpi.Options {
	t.Helper()
	if o.Compiled == (model.CompiledCommunication{}) {
		o.Compiled = Defaults
	}
	if o.Compiled.RetransmitTimeout == 0 {
		o.Compiled.RetransmitTimeout = unit.Millisecond
	}
	l := &model.Library{Name: "cc-mpi", Proto: model.ProtoSettings{Fallback: "RTA", WindowBytes: 1 << 20}}
	for m := range model.NumModes {
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, MaxBytes: 16384, Protocol: "TA"}, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: "RTA"})
	}
	own, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return mpi.Options{Engine: proto.New, Library: l, NewCollectives: own}
}

// ethernet is PCs on two switches with UDP, of which 5 are on the first.
func ethernet(t testing.TB, ranks int) device.World {
	t.Helper()
	p, err := platform.Load("now")
	if err != nil {
		t.Fatal(err)
	}
	m := *p.Machine
	e := *m.Network.(*model.Ethernet)
	m.Network, m.Ranks.Max = &e, 32
	e.Switches = &model.Switches{IsFullDuplex: true, StationsPerSwitch: 5, Latency: 10 * unit.Microsecond, LinkBufferBytes: 1 << 18, Uplink: e.Rate}
	e.UDP = &model.UDP{Header: 28, Send: model.Channel{Start: 10 * unit.Microsecond, Bandwidth: 100e6}, Receive: model.Channel{Start: 5 * unit.Microsecond, Bandwidth: 100e6},
		Input: 5 * unit.Microsecond, Buffer: 65536, MaxGroups: 20}
	w, err := hw.New(hw.Config{Machine: &m, Library: p.Libraries[0], Ranks: ranks})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// worlds are machines with multicast.
func worlds(t testing.TB, ranks int) map[string]device.World {
	return map[string]device.World{
		"loop":             loop.New(ranks),
		"loop with faults": loop.NewFaulty(ranks, loop.Faults{Seed: 7, Loss: 0.15, Reorder: 0.1, Duplicate: 0.1}),
		"ethernet":         ethernet(t, ranks),
	}
}

// Programs of MPI run as they are, with groups for the communicators that they make and free.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(24) {
		p := program.New(100+seed, 9)
		for name, w := range worlds(t, p.Ranks) {
			o := options(t, Options{Compiled: model.CompiledCommunication{Scheduler: []string{"greedy", "all-to-all"}[seed%2], MaxUnicastBytes: 16, MaxMulticastBytes: 256, MaxAggregateBytes: 64, ShortMessageThreshold: 32, WindowPackets: 3}})
			o.Check = []mpi.CheckMode{mpi.CheckStrict, mpi.CheckOff}[seed%2]
			if err := mpi.Run(w, o, p.Run); err != nil {
				t.Fatalf("%s, seed %d: %v\nof the program\n%v", name, p.Seed, err, p)
			}
		}
	}
}

// message is what a rank has for another one.
func message(src, dst, n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(uint64(src), uint64(dst)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// exchange is the buffers of a rank for messages with lengths by source and destination.
func exchange(me int, lengths [][]int) (send, recv PartsByRank, check func() error) {
	var in [][]byte
	for other := range lengths {
		send = append(send, mpi.BufferOf(message(me, other, lengths[me][other])))
		in = append(in, make([]byte, lengths[other][me]))
		recv = append(recv, mpi.BufferOf(in[other]))
	}
	return send, recv, func() error {
		for src, b := range in {
			if !bytes.Equal(b, message(src, me, len(b))) {
				return fmt.Errorf("rank %d has something else from rank %d than was sent", me, src)
			}
		}
		return nil
	}
}

// Every call brings the right data, for random lengths.
func TestCalls(t *testing.T) {
	const ranks = 7
	for seed := range uint64(4) {
		for name, w := range worlds(t, ranks) {
			err := mpi.Run(w, options(t, Options{}), func(c *mpi.Comm) error {
				r := rand.New(rand.NewPCG(seed, 1)) // the same in all ranks
				me := c.Rank()
				lengths := make([][]int, ranks)
				for i := range lengths {
					lengths[i] = make([]int, ranks)
					for j := range lengths[i] {
						lengths[i][j] = []int{0, 1, 100, 5000}[r.IntN(4)]
					}
				}
				for i, call := range []func(send, recv PartsByRank){
					func(send, recv PartsByRank) { AlltoallvDataTrans2(c, AlltoallvControl1(c, send), send, recv) },
					func(send, recv PartsByRank) { AlltoallvDataTrans2(c, AlltoallvControl2(c, lengths), send, recv) },
					func(send, recv PartsByRank) { AlltoallvData(c, send, recv) },
				} {
					send, recv, check := exchange(me, lengths)
					call(send, recv)
					if err := check(); err != nil {
						return fmt.Errorf("alltoallv %d: %w", i, err)
					}
				}
				root, n := r.IntN(ranks), []int{0, 1, 700, 9000}[seed]
				b := message(root, root, n)
				if me != root {
					clear(b)
				}
				Bcast(c, mpi.BufferOf(b), root)
				if !bytes.Equal(b, message(root, root, n)) {
					return fmt.Errorf("rank %d: Bcast", me)
				}
				for _, way := range AllgatherMethods {
					all := make([]byte, ranks*n)
					recv := mpi.BufferOf(all)
					recv.Count = n
					Allgather(c, way, mpi.BufferOf(message(me, 0, n)), recv)
					for i := range ranks {
						if !bytes.Equal(all[n*i:][:n], message(i, 0, n)) {
							return fmt.Errorf("rank %d: Allgather %s", me, way)
						}
					}
				}
				all := make([]byte, 0, ranks*n)
				for i := range ranks {
					all = append(all, message(root, i, n)...)
				}
				send, mine := mpi.BufferOf(all), make([]byte, n)
				send.Count = n
				Scatter(c, send, mpi.BufferOf(mine), root)
				if !bytes.Equal(mine, message(root, me, n)) {
					return fmt.Errorf("rank %d: Scatter", me)
				}
				return scatterv(c, root, lengths[root])
			})
			if err != nil {
				t.Errorf("%s, seed %d: %v", name, seed, err)
			}
		}
	}
}

// scatterv scatters parts of some lengths in all ways.
func scatterv(c *mpi.Comm, root int, lengths []int) error {
	var all []byte
	offsets := make([]int, c.Size())
	for i, n := range lengths {
		offsets[i] = len(all)
		all = append(all, message(root, i, n)...)
	}
	g := (*ScattervGroup)(nil)
	for _, way := range []string{string(StaticGroup), string(DynamicGroup), "opened", "again"} {
		mine := make([]byte, lengths[c.Rank()])
		switch way {
		case "opened", "again":
			if way == "opened" {
				g = ScattervOpenGroup(c, lengths, mpi.Byte, root)
			}
			g.DataMovement(mpi.BufferOf(all), lengths, offsets, mpi.BufferOf(mine))
		default:
			Scatterv(c, GroupManagement(way), mpi.BufferOf(all), lengths, offsets, mpi.BufferOf(mine), root)
		}
		if !bytes.Equal(mine, message(root, c.Rank(), len(mine))) {
			return fmt.Errorf("rank %d: Scatterv %s", c.Rank(), way)
		}
	}
	g.CloseGroup()
	return nil
}

// counted returns what a rank has counted.
func counted(c *mpi.Comm) map[string]int64 {
	all := map[string]int64{}
	for name, n := range c.Counts {
		all[name] = n
	}
	return all
}

// The worked example of figure 3.1: a loop of 1000 Scatterv from 30 processes to 5. DynamicGroup
// groups are made and destroyed in each call, that of compiler-assisted management once. And
// Scatterv multicasts twice, the data movement once.
func TestGroupManagement(t *testing.T) {
	const ranks, calls = 30, 1000
	for _, x := range []struct {
		scheme                         string
		created, destroyed, multicasts int64
	}{
		{"static", 1, 0, 2 * calls}, // the group of the communicator
		{"dynamic", 1 + calls, calls, 2 * calls},
		{"compiler-assisted", 1 + 1, 1, 1 + calls}, // the lengths once
	} {
		err := mpi.Run(loop.New(ranks), options(t, Options{Compiled: model.CompiledCommunication{RetransmitTimeout: unit.Second}}), func(c *mpi.Comm) error {
			counts, offsets := make([]int, ranks), make([]int, ranks)
			for i := range 6 {
				counts[i], offsets[i] = 1, i
			}
			send, mine := mpi.BufferOf(message(0, 0, 6)), make([]byte, counts[c.Rank()])
			var g *ScattervGroup
			if x.scheme == "compiler-assisted" {
				g = ScattervOpenGroup(c, counts, mpi.Byte, 0)
			}
			for range calls {
				if g != nil {
					g.DataMovement(send, counts, offsets, mpi.BufferOf(mine))
				} else {
					Scatterv(c, GroupManagement(x.scheme), send, counts, offsets, mpi.BufferOf(mine), 0)
				}
			}
			if g != nil {
				g.CloseGroup()
			}
			want := [3]int64{x.created, x.destroyed, x.multicasts}
			if c.Rank() > 5 { // takes no part but in making groups, and in calls with the static one
				want = [3]int64{1, 0, map[string]int64{"static": 2 * calls, "dynamic": calls, "compiler-assisted": 1}[x.scheme]}
			}
			n := counted(c)
			if got := [3]int64{n["multicast groups created"], n["multicast groups destroyed"], n["multicasts"]}; got != want {
				return fmt.Errorf("rank %d has %d groups created, destroyed, and multicasts, want %d", c.Rank(), got, want)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", x.scheme, err)
		}
	}
}

// The 21st group of a rank: opening one fails, and MPI's operations do without.
func TestTooManyGroups(t *testing.T) {
	run := func(program func(c *mpi.Comm) error) error {
		return mpi.Run(loop.New(3), options(t, Options{}), program)
	}
	open := func(c *mpi.Comm) *ScattervGroup { return ScattervOpenGroup(c, []int{1, 1, 1}, mpi.Byte, 0) }
	err := run(func(c *mpi.Comm) error {
		for range 20 { // beside the static one
			open(c)
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "Scatterv_open_group") || !strings.Contains(err.Error(), "close one, or use Scatterv") {
		t.Errorf("the 21st group: %v", err)
	}
	err = run(func(c *mpi.Comm) error {
		var all []*ScattervGroup
		for range 19 {
			all = append(all, open(c))
		}
		d := c.Dup()
		b := []byte{byte(7 + c.Rank())}
		mpi.Bcast(d, b, 1)
		if b[0] != 8 {
			return fmt.Errorf("rank %d got %d without a group", c.Rank(), b[0])
		}
		before := counted(c)["multicasts"]
		all[0].CloseGroup()
		e := c.Dup()
		if mpi.Bcast(e, b, 2); counted(c)["multicasts"] != before+1 {
			return fmt.Errorf("rank %d: no multicast where a group was closed", c.Rank())
		}
		e.Free()
		open(c)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Level 3 takes stored schedules in turn, and finds out that one is of another exchange.
func TestStored(t *testing.T) {
	const ranks = 4
	lengths := [][]int{{0, 10, 20, 0}, {5, 0, 0, 0}, {0, 0, 3, 7}, {1, 2, 3, 4}}
	s, err := phases.Greedy.Plan(ranks, phases.Messages(lengths), 0)
	if err != nil {
		t.Fatal(err)
	}
	empty := &phases.Schedule{Ranks: ranks}
	alltoallv := func(c *mpi.Comm, lengths [][]int) error {
		me := c.Rank()
		var sends, recvs, from, to [ranks]int
		var out, want []byte
		n := 0
		for other := range ranks {
			sends[other], from[other] = lengths[me][other], len(out)
			out = append(out, message(me, other, lengths[me][other])...)
			recvs[other], to[other] = lengths[other][me], n
			n += lengths[other][me]
			want = append(want, message(other, me, lengths[other][me])...)
		}
		in := make([]byte, n)
		c.Alltoallv(mpi.BufferOf(out), sends[:], from[:], mpi.BufferOf(in), recvs[:], to[:])
		if !bytes.Equal(in, want) {
			return fmt.Errorf("rank %d has the wrong data", me)
		}
		return nil
	}
	none := [][]int{make([]int, 4), make([]int, 4), make([]int, 4), make([]int, 4)}
	for _, x := range []struct {
		patterns [][][]int
		says     string
	}{
		{[][][]int{lengths, none, lengths, none}, ""},
		{[][][]int{none}, "it is of another exchange; make the schedule again from a record of this program"},
		{[][][]int{lengths, lengths}, "it is of another exchange"},
	} {
		err := mpi.Run(loop.New(ranks), options(t, Options{StoredSchedules: []*phases.Schedule{s, empty}}), func(c *mpi.Comm) error {
			for _, p := range x.patterns {
				if err := alltoallv(c, p); err != nil {
					return err
				}
			}
			if n := counted(c)["messages scheduled"]; n > 0 {
				return fmt.Errorf("%d messages were scheduled", n)
			}
			return nil
		})
		if (err == nil) != (x.says == "") || err != nil && !strings.Contains(err.Error(), x.says) {
			t.Errorf("%v: %v", x.patterns, err)
		}
	}
}

func TestNeedsMulticast(t *testing.T) {
	p, err := platform.Load("t3d")
	if err != nil {
		t.Fatal(err)
	}
	w, err := hw.New(hw.Config{Machine: p.Machine, Library: p.Libraries[0], Ranks: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := mpi.Run(w, options(t, Options{}), func(*mpi.Comm) error { return nil }); err == nil || !strings.Contains(err.Error(), "compiled communication: this machine has no multicast") {
		t.Error(err)
	}
	if _, err := New(Options{Compiled: model.CompiledCommunication{Scheduler: "best"}}); err == nil || !strings.Contains(err.Error(), `unknown scheduler of phases "best"`) {
		t.Error(err)
	}
	o := options(t, Options{})
	o.NewCollectives = nil
	if err := mpi.Run(loop.New(2), o, func(c *mpi.Comm) error {
		Bcast(c, mpi.BufferOf([]byte{1}), 0)
		return nil
	}); err == nil || !strings.Contains(err.Error(), "use library cc-mpi") {
		t.Error(err)
	}
}

// What a platform adds to barriers is charged between phases, in MPI_Barrier, and when a group is
// created: for each message that a rank receives in a binomial tree. Of 6 ranks the first receives
// from three, one after the other, and then two receive on the way down.
func TestBarrierTime(t *testing.T) {
	const ranks, received, extra = 6, 3 + 2, 100 * unit.Millisecond // longer than a message takes
	took := func(barrier unit.Time, call func(c *mpi.Comm)) (all unit.Time) {
		o := Options{Compiled: Defaults}
		o.Compiled.BarrierTimePerMessage = barrier
		err := mpi.Run(ethernet(t, ranks), options(t, o), func(c *mpi.Comm) error {
			call(c)
			all = max(all, c.Wtime())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for _, x := range []struct {
		name     string
		barriers int
		call     func(c *mpi.Comm)
	}{
		{"barriers", 1 + 3, func(c *mpi.Comm) {
			for range 3 {
				c.Barrier()
			}
		}},
		{"phases", ranks - 2, func(c *mpi.Comm) {
			b := mpi.BufferOf(make([]byte, 8*ranks))
			b.Count = 8
			c.Alltoall(b, mpi.Buffer{Bytes: make([]byte, 8*ranks), Count: 8, Type: mpi.Byte})
		}},
	} {
		if n := (took(1+extra, x.call) - took(1, x.call)) / extra; n < unit.Time(x.barriers*received-1) || n > unit.Time(x.barriers*received) {
			t.Errorf("%s: %d times more for %d barriers of %d ranks", x.name, n, x.barriers, ranks)
		}
	}
}

// What a platform adds to a multicast is charged to its sender: for each packet, and for each byte
// of it with its header.
func TestMulticastTime(t *testing.T) {
	const ranks, bytes, packet, head = 4, 5000, 1016, 16
	took := func(change func(o *model.CompiledCommunication)) (all unit.Time) {
		o := Options{Compiled: Defaults}
		o.Compiled.PacketBytes, o.Compiled.RetransmitTimeout = packet, unit.Second
		change(&o.Compiled)
		err := mpi.Run(ethernet(t, ranks), options(t, o), func(c *mpi.Comm) error {
			begin := c.Wtime()
			c.Bcast(mpi.BufferOf(make([]byte, bytes)), 0)
			all = max(all, c.Wtime()-begin)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := took(func(*model.CompiledCommunication) {})
	for name, x := range map[string]struct {
		extra  unit.Time
		change func(o *model.CompiledCommunication)
	}{
		"packets": {5 * 100 * unit.Millisecond, func(o *model.CompiledCommunication) { o.PacketCost = 100 * unit.Millisecond }},
		"bytes":   {(bytes + 5*head) * 100 * unit.Microsecond, func(o *model.CompiledCommunication) { o.ByteCost = unit.PerByte(100 * unit.Microsecond) }},
	} {
		if d := took(x.change) - before; d < x.extra-before || d > x.extra+x.extra/10 {
			t.Errorf("%s: %v more, want about %v", name, d, x.extra)
		}
	}
}

// An Allreduce that is a reduction and a broadcast takes the library's own broadcast.
func TestAllreduceMulticasts(t *testing.T) {
	const ranks = 5
	for name, want := range map[string]int64{"reduce-bcast": 1, "recursive-doubling": 0} {
		o := options(t, Options{})
		o.Library.Collectives = []model.CollectiveRule{{Operation: "allreduce", MaxBytes: -1, Algorithm: name}}
		err := mpi.Run(loop.New(ranks), o, func(c *mpi.Comm) error {
			sum := []int32{0}
			c.Allreduce(mpi.BufferOf([]int32{int32(c.Rank())}), mpi.BufferOf(sum), mpi.Sum)
			if sum[0] != 10 {
				return fmt.Errorf("rank %d: %d", c.Rank(), sum[0])
			}
			got := int64(0)
			for counter, n := range c.Counts {
				if counter == "multicasts" {
					got = n
				}
			}
			if got != want {
				return fmt.Errorf("rank %d: %d multicasts by %s, want %d", c.Rank(), got, name, want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Messages that the socket of a rank does not yet take are sent while the rank waits in a
// collective operation, where it waits for datagrams too.
func TestSendsContinueInCollectives(t *testing.T) {
	p, err := platform.Load("cc-cluster")
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.Library("cc-mpi")
	if err != nil {
		t.Fatal(err)
	}
	own, err := New(Options{Compiled: *l.Compiled})
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]func(c *mpi.Comm){
		"allreduce": func(c *mpi.Comm) { c.Allreduce(mpi.BufferOf([]int32{1}), mpi.BufferOf([]int32{0}), mpi.Sum) },
		"barrier":   func(c *mpi.Comm) { c.Barrier() },
		"bcast":     func(c *mpi.Comm) { c.Bcast(mpi.BufferOf(make([]byte, 5000)), 0) },
	}
	for name, call := range calls {
		for _, ranks := range []int{2, 3} {
			w, err := hw.New(hw.Config{Machine: p.Machine, Library: l, Ranks: ranks})
			if err != nil {
				t.Fatal(err)
			}
			err = mpi.Run(w, mpi.Options{Engine: proto.New, Library: l, NewCollectives: own, Tuning: collective.RulesOfLibrary(l)}, func(c *mpi.Comm) error {
				const messages, bytes = 4, 64 << 10
				var all []mpi.Request
				for i := range messages {
					for src := 1; src < ranks && c.Rank() == 0; src++ {
						all = append(all, mpi.Irecv(c, make([]byte, bytes), src, i))
					}
				}
				c.Barrier() // creates the group, too
				for i := range messages {
					if c.Rank() > 0 {
						all = append(all, mpi.Isend(c, make([]byte, bytes), 0, i))
					}
				}
				if c.Rank() == 0 {
					mpi.WaitAll(all, nil)
				}
				call(c)
				if c.Rank() > 0 {
					mpi.WaitAll(all, nil)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s, %d ranks: %v", name, ranks, err)
			}
		}
	}
}
