package npb

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// library sends every message of a program as one packet, within the call that sends it.
func library() *model.Library {
	l := &model.Library{Name: "test", Proto: model.ProtoSettings{Fallback: "T", WindowBytes: 1 << 30}}
	for m := range model.NumModes {
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: "T"})
	}
	l.Proto.Rules[model.SynchronousMode].Protocol = "TA"
	return l
}

// counted is what a rank sends: the packets of its calls of Send and Isend, and those of its
// collective operations.
type counted struct {
	messages, bytes           int            // in all of the program
	timedMessages, timedBytes int            // in its timed part
	sizes                     map[int]int    // of messages of the timed part
	calls                     map[string]int // of collective operations in the timed part
	collective                map[string]int // bytes that these sent
}

// counter is a world that counts.
type counter struct {
	device.World
	ranks []counted
	call  []string
	timed []bool
}

func counting(ranks int) *counter {
	w := &counter{World: loop.New(ranks), ranks: make([]counted, ranks), call: make([]string, ranks), timed: make([]bool, ranks)}
	for i := range w.ranks {
		w.ranks[i] = counted{sizes: map[int]int{}, calls: map[string]int{}, collective: map[string]int{}}
	}
	return w
}

// enter is told of each call by the goroutine of its rank.
func (w *counter) enter(rank int, call string) {
	if call == "Pcontrol" {
		w.timed[rank] = !w.timed[rank]
	}
	switch w.call[rank] = call; call {
	case "Allreduce", "Alltoall", "Alltoallv", "Reduce", "Bcast", "Barrier":
		if w.timed[rank] {
			w.ranks[rank].calls[strings.ToLower(call)]++
		}
	}
}

func (w *counter) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error { return program(&countingPort{p, w}) })
}

type countingPort struct {
	device.Port
	w *counter
}

// Memory is none, so that all bytes go by packets.
func (p *countingPort) Memory() device.Memory { return nil }

func (p *countingPort) Send(dst int, q *device.Packet) {
	r, n := &p.w.ranks[p.Rank()], len(q.Data)
	switch call := p.w.call[p.Rank()]; call {
	case "Send", "Isend":
		r.messages++
		r.bytes += n
		if p.w.timed[p.Rank()] {
			r.timedMessages++
			r.timedBytes += n
			r.sizes[n]++
		}
	default:
		if p.w.timed[p.Rank()] {
			r.collective[strings.ToLower(call)] += n
		}
	}
	p.Port.Send(dst, q)
}

func run(t *testing.T, b Benchmark, class string, ranks int) (Result, *counter) {
	t.Helper()
	w := counting(ranks)
	var got Result
	err := mpi.Run(w, mpi.Options{Engine: proto.New, Library: library(), OnCall: w.enter}, func(c *mpi.Comm) error {
		r, err := b.Run(c, Settings{Class: class})
		if c.Rank() == 0 {
			got = r
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, w
}

func list[V any](m map[int]V) string {
	var s []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		s = append(s, fmt.Sprintf("%d:%v", k, m[k]))
	}
	return strings.Join(s, " ")
}

// Messages, bytes and collective calls are those of NPB 3.4 in every row that was recorded of it,
// and kernels pass the verification. Larger rows are for soak.
func TestRecorded(t *testing.T) {
	for _, row := range recorded(t) {
		b, ok := BenchmarkNamed("npb-" + strings.ToLower(row.bench))
		if !ok {
			continue
		}
		t.Run(fmt.Sprintf("%s/%s/%d", row.bench, row.class, row.ranks), func(t *testing.T) {
			if os.Getenv("LOGGP_SOAK") == "" && (row.class == "A" || row.class == "W" && row.ranks != quick[row.bench]) {
				t.Skip("LOGGP_SOAK is not set")
			}
			got, w := run(t, b, row.class, row.ranks)
			if !b.IsSkeleton && !got.IsVerified {
				t.Errorf("the result is wrong")
			}
			row.compare(t, w)
		})
	}
}

// Kernels verify with more ranks than were recorded: some of those of MG have no points on the
// coarsest level then.
func TestManyRanks(t *testing.T) {
	for _, b := range []Benchmark{isBenchmark, cgBenchmark, mgBenchmark, ftBenchmark} {
		for _, ranks := range []int{32, 64} {
			if got, _ := run(t, b, "S", ranks); !got.IsVerified {
				t.Errorf("%s on %d ranks: the result is wrong", b.Name, ranks)
			}
		}
	}
}

// Kernels verify in class A, for which only some rows were recorded.
func TestClassA(t *testing.T) {
	if os.Getenv("LOGGP_SOAK") == "" {
		t.Skip("LOGGP_SOAK is not set")
	}
	for _, b := range Benchmarks {
		if got, _ := run(t, b, "A", 4); !b.IsSkeleton && !got.IsVerified {
			t.Errorf("%s: the result is wrong", b.Name)
		}
	}
}

// By hand: computing is charged by operations, so that twice the time of one is twice the time; and
// a rank that charges nothing takes none. CG of one rank has no messages.
func TestCharges(t *testing.T) {
	var times [3]unit.Time
	for i, d := range []unit.Time{0, unit.Nanosecond, 2 * unit.Nanosecond} {
		err := mpi.Run(&charged{World: loop.New(1)}, mpi.Options{Engine: proto.New, Library: library()}, func(c *mpi.Comm) error {
			r, err := cgBenchmark.Run(c, Settings{OperationTime: d})
			times[i] = r.Time
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// In an iteration, conjugate gradients make 26 products with a matrix of 78148 elements (as NPB
	// says), and vector operations.
	least := unit.Time(cgIterations*(cgStepsPerIteration+1)*2*78148) * unit.Nanosecond
	if times[0] != 0 || times[1] < least || times[1] > 2*least || times[2] != 2*times[1] {
		t.Errorf("times %v, expected 0, from %v to twice that, and double", times, least)
	}
}

// charged is a world of one rank whose clock shows what was charged.
type charged struct{ device.World }

func (w *charged) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error { return program(&chargedPort{Port: p}) })
}

type chargedPort struct {
	device.Port
	now unit.Time
}

func (p *chargedPort) Delay(d unit.Time) { p.now += d }
func (p *chargedPort) Now() unit.Time    { return p.now }

// Benchmarks do not depend on messages being buffered: no rank waits for one that waits for it.
func TestSynchronous(t *testing.T) {
	for _, b := range Benchmarks {
		for _, ranks := range []int{4, 9, 16} {
			var got Result
			err := mpi.Run(loop.New(ranks), mpi.Options{Engine: proto.New, Library: library(), Protocol: "RAT"}, func(c *mpi.Comm) error {
				r, err := b.Run(c, Settings{})
				if c.Rank() == 0 {
					got = r
				}
				return err
			})
			if no := ranks == 9 && !slices.Contains([]string{"npb-ep", "npb-sp", "npb-bt"}, b.Name); no {
				if err == nil || !strings.Contains(err.Error(), "not on 9") {
					t.Errorf("%s on 9 ranks: %v", b.Name, err)
				}
			} else if err != nil {
				t.Errorf("%s on %d ranks: %v", b.Name, ranks, err)
			} else if !b.IsSkeleton && !got.IsVerified {
				t.Errorf("%s on %d ranks: the result is wrong", b.Name, ranks)
			}
		}
	}
}

// altering is a world in which one bit of a message changes.
type altering struct {
	device.World
	nth int // of the messages of rank 1
}

func (w *altering) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error {
		if p.Rank() == 1 {
			p = &alteringPort{p, w.nth}
		}
		return program(p)
	})
}

type alteringPort struct {
	device.Port
	left int
}

// Memory is none, so that all bytes go by packets.
func (p *alteringPort) Memory() device.Memory { return nil }

func (p *alteringPort) Send(dst int, q *device.Packet) {
	if len(q.Data) >= 64 {
		if p.left == 0 {
			q = &device.Packet{Head: q.Head, Data: bytes.Clone(q.Data)}
			q.Data[38] ^= 8 // a high bit of a fraction
		}
		p.left--
	}
	p.Port.Send(dst, q)
}

// If one number changes on its way, the verification fails.
func TestAltered(t *testing.T) {
	for b, nth := range map[string]int{"npb-cg": 500, "npb-mg": 200, "npb-ft": 8} {
		b, _ := BenchmarkNamed(b)
		var got Result
		err := mpi.Run(&altering{loop.New(4), nth}, mpi.Options{Engine: proto.New, Library: library()}, func(c *mpi.Comm) error {
			r, err := b.Run(c, Settings{})
			if c.Rank() == 0 {
				got = r
			}
			return err
		})
		if err != nil || got.IsVerified {
			t.Errorf("%s: message %d was changed, and the result was accepted: %v", b.Name, nth, err)
		}
	}
}

// quick is the number of ranks with which class W runs in every test.
var quick = map[string]int{"CG": 8, "EP": 16, "IS": 4, "MG": 8, "FT": 16, "LU": 2, "SP": 4, "BT": 9}

// record is a row of testdata/npb: what NPB sends.
type record struct {
	bench, class       string
	ranks              int
	numbers            [8]int // messages and bytes in all, the same timed, least and most messages of a rank, the same of bytes
	sizes, collectives string
}

func recorded(t *testing.T) []record {
	t.Helper()
	b, err := os.ReadFile("../../../testdata/npb/communication.csv")
	if err != nil {
		t.Fatal(err)
	}
	var rows []record
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		f := strings.Split(line, ",")
		if strings.HasPrefix(line, "#") || f[0] == "bench" {
			continue
		}
		if len(f) != 14 {
			t.Fatalf("%d columns in %q", len(f), line)
		}
		r := record{bench: f[0], class: f[1], sizes: f[12], collectives: f[13]}
		if r.ranks, err = strconv.Atoi(f[2]); err != nil {
			t.Fatal(err)
		}
		for i := range r.numbers {
			if r.numbers[i], err = strconv.Atoi(f[4+i]); err != nil {
				t.Fatal(err)
			}
		}
		rows = append(rows, r)
	}
	if len(rows) != 82 {
		t.Fatalf("%d rows, not 82", len(rows))
	}
	return rows
}

func (row record) compare(t *testing.T, w *counter) {
	t.Helper()
	var got [8]int
	sizes := map[int]int{}
	for i, r := range w.ranks {
		got[0] += r.messages
		got[1] += r.bytes
		got[2] += r.timedMessages
		got[3] += r.timedBytes
		if i == 0 {
			got[4], got[6] = r.timedMessages, r.timedBytes
		}
		got[4], got[5] = min(got[4], r.timedMessages), max(got[5], r.timedMessages)
		got[6], got[7] = min(got[6], r.timedBytes), max(got[7], r.timedBytes)
		for size, n := range r.sizes {
			sizes[size] += n
		}
	}
	if got != row.numbers {
		t.Errorf("messages and bytes: %v, recorded %v", got, row.numbers)
	}
	if s := list(sizes); s != row.sizes {
		t.Errorf("sizes: %s, recorded %s", s, row.sizes)
	}
	calls, bytes := map[string]int{}, map[string]int{}
	for _, word := range strings.Fields(row.collectives) {
		var n, count int
		name, rest, _ := strings.Cut(word, ":")
		if _, err := fmt.Sscanf(rest, "%d=%d", &n, &count); err != nil {
			t.Fatal(err)
		}
		calls[name] += count
		if name == "alltoallv" {
			continue // its blocks depend on the keys
		}
		bytes[name] += count * collectiveBytes(t, name, n, row.ranks)
	}
	sent := map[string]int{}
	for rank, r := range w.ranks {
		if !maps.Equal(r.calls, calls) {
			t.Errorf("rank %d calls %v, recorded %v", rank, r.calls, calls)
		}
		for name, n := range r.collective {
			if name != "alltoallv" {
				sent[name] += n
			}
		}
	}
	for name, n := range bytes {
		if sent[name] != n {
			t.Errorf("%s: %d bytes, and the recorded calls send %d", name, sent[name], n)
		}
	}
}

// collectiveBytes returns how many bytes ranks send for one collective operation by itself.
func collectiveBytes(t *testing.T, name string, n, ranks int) int {
	t.Helper()
	w := counting(ranks)
	err := mpi.Run(w, mpi.Options{Engine: proto.New, Library: library(), OnCall: w.enter}, func(c *mpi.Comm) error {
		c.Pcontrol(1)
		switch name {
		case "allreduce":
			if n%8 == 0 {
				mpi.Allreduce(c, make([]float64, n/8), make([]float64, n/8), mpi.Sum)
			} else {
				mpi.Allreduce(c, make([]int32, n/4), make([]int32, n/4), mpi.Sum)
			}
		case "reduce":
			mpi.Reduce(c, make([]float64, n/8), make([]float64, n/8), mpi.Sum, 0)
		case "alltoall":
			mpi.Alltoall(c, make([]byte, n*ranks), make([]byte, n*ranks))
		default:
			return fmt.Errorf("no operation %q", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, r := range w.ranks {
		sum += r.collective[name]
	}
	return sum
}
