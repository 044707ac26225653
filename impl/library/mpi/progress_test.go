package mpi_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// Transfers continue while the processor computes: a nonblocking send and a computation take about
// as long as the longer of the two.
func TestOverlap(t *testing.T) {
	const bytes = 1_000_000 // 8.3 ms by the engine of the torus of everywhere_test.go
	// transfer returns how long Isend, computing for d, and Wait take if the receiver is in Recv.
	// The computation starts when ready returns.
	transfer := func(protocol string, d unit.Time, ready func(c *mpi.Comm, r *mpi.Request)) (took unit.Time) {
		l := lib()
		l.Proto.LongMessages = model.ForEveryTier(model.LongMessage{})
		l.Software[model.ProtoPackCost] = 0 // packing is work before the transfer starts
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
		{"RTA", func(*mpi.Comm, *mpi.Request) {}},                                   // the receiver gets the data
		{"RAT", func(c *mpi.Comm, r *mpi.Request) { c.Compute(us * 50); r.Test() }}, // the ACK has arrived: the interface puts the data
	} {
		alone := transfer(p.protocol, 0, p.ready)
		for _, d := range []unit.Time{alone / 4, alone * 3 / 4, alone * 2} {
			took := transfer(p.protocol, d, p.ready)
			if most := max(alone, d) + 100*us; took < max(alone, d) || took > most {
				t.Errorf("%s: the transfer takes %v, computing %v, both together %v, want at most %v", p.protocol, alone, d, took, most)
			}
		}
	}
	// Without the poll for the ACK there is no overlap: progress is made in calls only.
	none := func(*mpi.Comm, *mpi.Request) {}
	alone := transfer("RAT", 0, none)
	if took := transfer("RAT", alone, none); took < 2*alone-100*us {
		t.Errorf("RAT: the transfer takes %v, and %v with as much computing before its ACK is taken in", alone, took)
	}
}

// The number of allocations of a collective operation does not depend on the number of messages:
// each rank allocates a few closures for its schedule.
func TestNoAllocationInCollectives(t *testing.T) {
	if enginetest.RaceDetectorOn {
		t.Skip("sync.Pool loses things on purpose")
	}
	const ranks, warm, rounds = 32, 20, 20
	const most = 8 // per rank and call; a call sends 31 or 62 messages here
	for _, p := range places {
		if !p.CanHold(ranks) {
			continue
		}
		for _, a := range []*collective.Algorithm{
			collective.AlgorithmNamed(collective.Alltoall, "pairwise"), collective.AlgorithmNamed(collective.Allgather, "ring"), collective.AlgorithmNamed(collective.Allreduce, "ring"),
		} {
			t.Run(p.Name+"/"+a.String(), func(t *testing.T) {
				l := enginetest.LibraryOfProtocol("T")
				var before, after runtime.MemStats
				err := mpi.Run(p.Open(t, l, ranks), mpi.Options{Engine: carry, Library: l, Tuning: forced(a)}, func(c *mpi.Comm) error {
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

// If the forced protocol is not synchronous, synchronous sends follow the library's rules.
func TestForcedSynchronous(t *testing.T) {
	l := enginetest.LibraryOfProtocol("TA")
	for _, p := range places {
		var posted atomic.Bool
		err := mpi.Run(p.Open(t, l, 2), mpi.Options{Engine: carry, Library: l, Protocol: "T"}, func(c *mpi.Comm) error {
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
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

// One Test takes in all packets that have arrived.
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
