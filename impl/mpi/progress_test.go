package mpi_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/proto"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// A synchronous send returns when its receive is posted, and not before: it is enough that the receiver makes progress, not that
// it lets the message in.
func TestSynchronous(t *testing.T) {
	for _, blocking := range []bool{true, false} {
		var posted atomic.Bool
		everywhere(t, 2, func(c *mpi.Comm) error {
			for _, n := range []int{0, 100, 1000, 10000} {
				if c.Rank() == 1 {
					c.Barrier()
					c.Probe(0, 7)
					for range 50 { // whatever answers at once has answered
						c.Iprobe(0, 8)
						c.Compute(us)
					}
					posted.Store(true)
					mpi.Recv(c, make([]byte, n), 0, 7)
					continue
				}
				posted.Store(false)
				c.Barrier()
				if blocking {
					mpi.Ssend(c, make([]byte, n), 1, 7)
				} else {
					r := mpi.Issend(c, make([]byte, n), 1, 7)
					for ok := false; !ok; {
						_, ok = r.Test()
					}
				}
				if !posted.Load() {
					return fmt.Errorf("a synchronous send of %d bytes was complete before its receive was posted", n)
				}
			}
			return nil
		}, holds)
	}
}

// A hundred thousand small messages, and ten thousand of 4 KiB while the receiver makes no progress. None is lost, and
// the receiver keeps no more of them than the window.
func TestFlood(t *testing.T) {
	for _, f := range []struct{ messages, bytes int }{{100_000, 8}, {10_000, 4096}} {
		for _, p := range places {
			for _, x := range []table{{"default", byDefault}, {"T", func() *model.Library { return by("T") }}, {"mixed", mixed}} {
				t.Run(fmt.Sprintf("%d of %d/%s/%s", f.messages, f.bytes, p.name, x.name), func(t *testing.T) {
					if testing.Short() && x.name != "T" {
						t.Skip()
					}
					l := x.library()
					l.Long = model.EveryTier(model.Long{Stage: l.Long[0].Stage})
					w := &counting{World: p.open(t, l, 2)}
					err := mpi.Run(w, mpi.Options{Engine: carry, Library: l}, flood(f.messages, f.bytes))
					if err != nil {
						t.Error(err)
					}
					if most := int64(max(l.Window, f.bytes)); w.most > most {
						t.Errorf("%d bytes were sent ahead of the receiver, the window is %d", w.most, most)
					}
				})
			}
		}
	}
}

func flood(messages, bytes int) func(c *mpi.Comm) error {
	return func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			const ahead = 200
			var reqs [ahead]mpi.Request
			b := text(bytes, 1)
			for i := range messages {
				r := &reqs[i%ahead]
				r.Wait()
				*r = mpi.Isend(c, b, 1, i%3)
			}
			mpi.WaitAll(reqs[:], nil)
			mpi.Send[byte](c, nil, 1, 3)
			return nil
		}
		c.Compute(1000 * us)
		b := make([]byte, bytes)
		for i := range messages {
			want := mpi.Status{Tag: i % 3, Bytes: bytes}
			if st := mpi.Recv(c, b, 0, i%3); st != want {
				return fmt.Errorf("message %d: %+v, want %+v", i, st, want)
			}
			if i%1000 == 0 {
				if err := equal("message", want, b, want, 1); err != nil {
					return err
				}
			}
		}
		return recv(c, 0, mpi.AnyTag, mpi.Status{Tag: 3}, 0)
	}
}

// counting is a world that knows how many bytes rank 0 has sent in packets that the program of rank 1 does not have yet.
type counting struct {
	device.World
	sent, taken atomic.Int64
	most        int64
}

func (w *counting) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error { return program(&countingPort{Port: p, w: w}) })
}

type countingPort struct {
	device.Port
	w     *counting
	asked bool // the packet that is being taken in has what was asked for
}

// ahead reports whether a packet has data that nobody asked for.
func ahead(q *device.Packet) bool {
	name, _ := proto.Describe(q.Head)
	return name == "RM"
}

func (p *countingPort) Send(dst int, q *device.Packet) {
	if p.Rank() == 0 && ahead(q) {
		p.w.most = max(p.w.most, p.w.sent.Add(int64(len(q.Data)))-p.w.taken.Load())
	}
	p.Port.Send(dst, q)
}

func (p *countingPort) Recv(block bool) *device.Packet {
	q := p.Port.Recv(block)
	p.asked = q != nil && len(q.Data) > 0 && !ahead(q)
	return q
}

func (p *countingPort) Spend(w model.CostKey, n int) {
	if p.Rank() == 1 && w == model.ProtoUnpack { // so ends an eager message; without a bounce buffer nothing else does but what was asked for
		if !p.asked {
			p.w.taken.Add(int64(n))
		}
		p.asked = false
	}
	p.Port.Spend(w, n)
}

// What waits for its receive does not keep the rest waiting, though there are many: they are announced, not sent.
func TestManyBlocked(t *testing.T) {
	holdsEverywhere(t, 2, func(c *mpi.Comm) error {
		const n = 2000
		if c.Rank() == 0 {
			reqs := make([]mpi.Request, n)
			b := text(1000, 1)
			for i := range reqs {
				reqs[i] = mpi.Isend(c, b, 1, 1)
			}
			mpi.Send(c, text(1000, 2), 1, 2)
			mpi.WaitAll(reqs, nil)
			return nil
		}
		if err := recv(c, 0, 2, mpi.Status{Tag: 2, Bytes: 1000}, 2); err != nil {
			return err
		}
		for range n {
			if err := recv(c, 0, mpi.AnyTag, mpi.Status{Tag: 1, Bytes: 1000}, 1); err != nil {
				return err
			}
		}
		return nil
	})
}

// Transfers go on while the processor computes: a non-blocking send and computing take about as long as the longer of both.
func TestOverlap(t *testing.T) {
	const bytes = 1_000_000 // 8.3 ms to push, 16.7 ms to pull, on the torus of world_test.go
	// transfer returns how long Isend, computing for d and Wait take, where the receiver is in Recv. Computing begins when ready says so.
	transfer := func(protocol string, d unit.Time, ready func(c *mpi.Comm, r *mpi.Request)) (took unit.Time) {
		l := lib()
		l.Long = model.EveryTier(model.Long{})
		l.Software[model.ProtoPack] = 0 // which is work before the transfer begins
		w, err := hw.New(hw.Config{Machine: machine(), Library: l, Ranks: 4})
		if err != nil {
			t.Fatal(err)
		}
		err = mpi.Run(w, mpi.Options{Engine: carry, Library: l, Protocol: protocol}, func(c *mpi.Comm) error {
			switch c.Rank() {
			case 0:
				c.Compute(1000 * us)
				start := c.Wtime()
				r := mpi.Issend(c, make([]byte, bytes), 2, 0)
				ready(c, &r)
				c.Compute(d)
				r.Wait()
				took = c.Wtime() - start
			case 2:
				mpi.Recv(c, make([]byte, bytes), 0, 0)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return took
	}
	for _, p := range []struct {
		protocol string
		ready    func(c *mpi.Comm, r *mpi.Request)
	}{
		{"RTA", func(*mpi.Comm, *mpi.Request) {}},                                   // the receiver pulls
		{"RAT", func(c *mpi.Comm, r *mpi.Request) { c.Compute(us * 50); r.Test() }}, // the ACK has come: the interface pushes
	} {
		alone := transfer(p.protocol, 0, p.ready)
		for _, d := range []unit.Time{alone / 4, alone * 3 / 4, alone * 2} {
			took := transfer(p.protocol, d, p.ready)
			if most := max(alone, d) + 100*us; took < max(alone, d) || took > most {
				t.Errorf("%s: the transfer takes %v, computing %v, both together %v, want at most %v", p.protocol, alone, d, took, most)
			}
		}
	}
	// Without that look for the ACK there is no overlap: progress is made in calls only.
	none := func(*mpi.Comm, *mpi.Request) {}
	alone := transfer("RAT", 0, none)
	if took := transfer("RAT", alone, none); took < 2*alone-100*us {
		t.Errorf("RAT: the transfer takes %v, and %v with as much computing before its ACK is taken in", alone, took)
	}
}

// The steady state makes no garbage, by whatever protocol.
func TestNoAllocation(t *testing.T) {
	if racing {
		t.Skip("sync.Pool loses things on purpose")
	}
	for _, p := range append(slices.Clip(places), place{"convex, far", far}) {
		for _, protocol := range model.ProtocolNames() {
			for _, nonblocking := range []bool{false, true} {
				for _, bytes := range []int{100, 5000} {
					t.Run(fmt.Sprintf("%s/%s/nonblocking=%v/%d", p.name, protocol, nonblocking, bytes), func(t *testing.T) {
						const rounds = 5000
						if n := allocations(t, p, by(protocol), nonblocking, bytes, rounds); n > rounds/100 {
							t.Errorf("%d allocations in %d messages", n, rounds)
						}
					})
				}
			}
		}
	}
}

// Collective operations make as much garbage as they have calls, and not messages: a rank goes through its schedule by a few closures.
func TestNoAllocationInCollectives(t *testing.T) {
	if racing {
		t.Skip("sync.Pool loses things on purpose")
	}
	const ranks, warm, rounds = 32, 20, 20
	const most = 8 // a rank and call; one sends 31 messages by what is tried here, or 62
	for _, p := range places {
		if p.name == "convex" || p.name == "now" {
			continue // they have fewer ranks
		}
		for _, a := range []*collective.Algorithm{
			collective.Named(collective.Alltoall, "pairwise"), collective.Named(collective.Allgather, "ring"), collective.Named(collective.Allreduce, "ring"),
		} {
			t.Run(p.name+"/"+a.String(), func(t *testing.T) {
				l := by("T")
				var before, after runtime.MemStats
				err := mpi.Run(p.open(t, l, ranks), mpi.Options{Engine: carry, Library: l, Tuning: forced(a)}, func(c *mpi.Comm) error {
					x, y := make([]int32, ranks), make([]int32, ranks)
					for i := range warm + rounds {
						if i == warm && c.Rank() == 0 {
							runtime.ReadMemStats(&before)
						}
						switch a.Operation {
						case collective.Alltoall:
							mpi.Alltoall(c, x, y)
						case collective.Allgather:
							mpi.Allgather(c, x[:1], y)
						case collective.Allreduce:
							mpi.Allreduce(c, x, y, mpi.Sum)
						}
					}
					if c.Rank() == 0 {
						runtime.ReadMemStats(&after)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if n := after.Mallocs - before.Mallocs; n > most*ranks*(rounds+2) {
					t.Errorf("%d allocations in %d calls of %d ranks", n, rounds, ranks)
				}
			})
		}
	}
}

// Nor does it among processes.
func TestNoAllocationAmongProcesses(t *testing.T) {
	if racing {
		t.Skip("sync.Pool loses things on purpose")
	}
	for _, p := range processes {
		for _, protocol := range []string{"T", "TA", "RTA"} {
			for _, nonblocking := range []bool{false, true} {
				for _, bytes := range []int{8, 20_000} {
					t.Run(fmt.Sprintf("%s/%s/nonblocking=%v/%d", p.name, protocol, nonblocking, bytes), func(t *testing.T) {
						const rounds = 1000
						if n := allocations(t, p, by(protocol), nonblocking, bytes, rounds); n > rounds/20 {
							t.Errorf("%d allocations in %d messages", n, rounds)
						}
					})
				}
			}
		}
	}
}

// allocations counts those of so many rounds in which two ranks send in turn, after some that warm up.
func allocations(t *testing.T, p place, l *model.Library, nonblocking bool, bytes, rounds int) uint64 {
	const warm = 200
	var before, after runtime.MemStats
	err := mpi.Run(p.open(t, l, 2), mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
		b := make([]byte, bytes)
		peer := 1 - c.Rank()
		for i := range warm + rounds {
			if c.Rank() == 0 && i == warm {
				runtime.ReadMemStats(&before)
			}
			sends := c.Rank() == i%2
			switch {
			case sends && nonblocking:
				r := mpi.Isend(c, b, peer, 0)
				r.Wait()
			case sends:
				mpi.Send(c, b, peer, 0)
			case nonblocking:
				r := mpi.Irecv(c, b, peer, 0)
				r.Wait()
			default:
				mpi.Recv(c, b, peer, 0)
			}
		}
		if c.Rank() == 0 {
			runtime.ReadMemStats(&after)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return after.Mallocs - before.Mallocs
}

// Who forces a protocol that is not synchronous gets synchronous sends by the library's rules.
func TestForcedSynchronous(t *testing.T) {
	l := by("TA")
	for _, p := range places {
		var posted atomic.Bool
		err := mpi.Run(p.open(t, l, 2), mpi.Options{Engine: carry, Library: l, Protocol: "T"}, func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				c.Probe(0, 7)
				c.Compute(100 * us)
				posted.Store(true)
				mpi.Recv[byte](c, nil, 0, 7)
				return nil
			}
			mpi.Ssend[byte](c, nil, 1, 7)
			if !posted.Load() {
				return fmt.Errorf("a synchronous send by T")
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

// One look takes in all that has come.
func TestLook(t *testing.T) {
	const n = 5
	looks := map[string]func([]mpi.Request) bool{
		"TestAll":  func(reqs []mpi.Request) bool { return mpi.TestAll(reqs, nil) },
		"Test":     func(reqs []mpi.Request) bool { _, ok := reqs[n-1].Test(); return ok },
		"TestAny":  func(reqs []mpi.Request) bool { _, _, ok := mpi.TestAny(reqs[n-1:]); return ok },
		"TestSome": func(reqs []mpi.Request) bool { return mpi.TestSome(reqs[n-1:], make([]int, 1), nil) == 1 },
	}
	for name, look := range looks {
		w, o := t3d(t, 2)
		err := mpi.Run(w, o, func(c *mpi.Comm) error {
			if c.Rank() == 0 {
				for i := range n {
					mpi.Send[byte](c, nil, 1, i)
				}
				return nil
			}
			reqs := make([]mpi.Request, n)
			for i := range reqs {
				reqs[i] = mpi.Irecv[byte](c, nil, 0, i)
			}
			c.Compute(10000 * us)
			if !look(reqs) {
				return fmt.Errorf("%s finds nothing", name)
			}
			mpi.WaitAll(reqs, nil)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
