package enginetest

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
)

// allocationLaws is the prefix of the names of laws that count allocations.
const allocationLaws = "no allocation "

// memoryLaws are the laws of memory: after all messages are received and the ranks have ended,
// nothing remains, and a steady state allocates nothing.
var memoryLaws = []law{
	{name: "after messages", check: checkNothingLeftAfter(exchangeMessages)},
	{name: "after persistent operations", check: checkNothingLeftAfter(exchangePersistently)},
	{name: "after freed and cancelled operations", check: checkNothingLeftAfter(freeAndCancelUnderWay)},
	{name: "after sends to a rank that has ended", check: checkNothingLeftAfter(sendToEndedRank)},
	{name: allocationLaws + "by messages", check: checkAllocationsOfMessages},
	{name: allocationLaws + "by requests", check: checkAllocationsOfRequests},
}

// countingPort counts exposed memory areas.
type countingPort struct {
	device.Port
	exposedNow, exposedInAll int
}

func (p *countingPort) Memory() device.Memory {
	if m := p.Port.Memory(); m != nil {
		return countedMemory{m, p}
	}
	return nil
}

type countedMemory struct {
	device.Memory
	p *countingPort
}

func (c countedMemory) Expose(b []byte) device.Key {
	c.p.exposedNow++
	c.p.exposedInAll++
	return c.Memory.Expose(b)
}

func (c countedMemory) Withdraw(k device.Key) {
	c.p.exposedNow--
	c.Memory.Withdraw(k)
}

// newRankWithEngine returns the rank of a port and its engine.
func (s *Subject) newRankWithEngine(port device.Port, l *model.Library) (*engine.Rank, engine.Engine, error) {
	maker, err := s.NewJobEngines(l, "")
	if err != nil {
		return nil, nil, err
	}
	r, e := new(engine.Rank), maker.Engines(1)(0)
	r.Setup(port, e, &engine.Config{})
	return r, e, nil
}

// checkNothingLeftAfter exchanges messages by way: 5 at once, 20 times, in each mode. Afterwards
// there must be no operation, no exposed memory, no used part of the attached buffer, no more
// temporary memory than was in use at once, and no coroutine.
func checkNothingLeftAfter(way func(*engine.Rank, model.Mode, int) error) func(testing.TB, *Subject, World) error {
	return func(t testing.TB, s *Subject, w World) error {
		if w.RanksAreProcesses {
			return nil // worlds of impl/real/shm and impl/real/tcp have no remote memory
		}
		before := runtime.NumGoroutine()
		for mode := range model.NumModes {
			l := s.Library()
			if err := w.Open(t, l, 2).Run(func(p device.Port) error {
				return s.checkMemoryOfExchanges(&countingPort{Port: p}, l, mode, way)
			}); err != nil {
				return fmt.Errorf("%v: %w", mode, err)
			}
		}
		for deadline := time.Now().Add(maxJobDuration); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) { // ended coroutines may be counted for a moment
				return fmt.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
			}
		}
		return nil
	}
}

func (s *Subject) checkMemoryOfExchanges(port *countingPort, l *model.Library, mode model.Mode, way func(*engine.Rank, model.Mode, int) error) error {
	const at, rounds = 5, 20 // messages at once, and rounds
	r, e, err := s.newRankWithEngine(port, l)
	if err != nil {
		return err
	}
	setup := port.exposedNow
	r.AttachBuffer(engine.ScopeOfRank, make([]byte, 2*at*(300+engine.BufferedOverhead)))
	for range rounds {
		if err := way(r, mode, at); err != nil {
			return err
		}
	}
	if n, first := r.CountUnfinishedOps(); n > 0 {
		return fmt.Errorf("%d operations are unfinished, the first of kind %d", n, first.Cause)
	}
	if n, _ := r.Finalize(); n > 0 {
		return fmt.Errorf("%d messages were not received", n)
	}
	if port.exposedNow != setup {
		return fmt.Errorf("%d of %d pieces of memory are exposed, and %d were before the first message", port.exposedNow, port.exposedInAll, setup)
	}
	if s.CheckNothingHeld != nil {
		if err := s.CheckNothingHeld(e); err != nil {
			return err
		}
	}
	return r.CheckIdle()
}

// checkAllocationsOfMessages counts allocations while two ranks send in turn. Allocations per
// message occur in every part of the run; those of the runtime and of growing lists do not. So it
// uses the part with the fewest.
func checkAllocationsOfMessages(t testing.TB, s *Subject, w World) error {
	const parts = 5
	const rounds = 200 // per part
	sizes := []int{100, 5000}
	if w.RanksAreProcesses {
		sizes = []int{8, 20_000}
	}
	for _, nonblocking := range []bool{false, true} {
		for _, bytes := range sizes {
			var made [parts + 1]uint64
			if err := s.run(t, w, 2, mpi.Options{}, func(c *mpi.Comm) error {
				const warm = 200
				var stats runtime.MemStats
				b := make([]byte, bytes)
				peer := 1 - c.Rank()
				for i := range warm + parts*rounds + 1 {
					if c.Rank() == 0 && i >= warm && (i-warm)%rounds == 0 {
						runtime.ReadMemStats(&stats)
						made[(i-warm)/rounds] = stats.Mallocs
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
				return nil
			}); err != nil {
				return err
			}
			fewest := made[1] - made[0]
			for i := range parts {
				fewest = min(fewest, made[i+1]-made[i])
			}
			if fewest > rounds/20 { // some are by the runtime
				return fmt.Errorf("at least %d allocations in %d messages of %d bytes, non-blocking %v", fewest, rounds, bytes, nonblocking)
			}
		}
	}
	return nil
}

// checkAllocationsOfRequests counts allocations of persistent, freed and cancelled operations, with
// contiguous and noncontiguous data, of a rank that sends to itself.
func checkAllocationsOfRequests(t testing.TB, s *Subject, w World) error {
	if w.RanksAreProcesses {
		return nil
	}
	const rounds = 100
	l := s.Library()
	return w.Open(t, l, 1).Run(func(port device.Port) error {
		e, _, err := s.newRankWithEngine(port, l)
		if err != nil {
			return err
		}
		var layouts [4]engine.Layout // passing one as an interface value then allocates nothing
		for i := range layouts {
			layouts[i] = layoutWithGaps(make([]byte, 600))
		}
		receive, send := e.NewPersistent(engine.PersistentTemplate{Receive: true, Layout: layouts[0]}), e.NewPersistent(engine.PersistentTemplate{Mode: model.SynchronousMode, Layout: layouts[1]})
		buffered := e.NewPersistent(engine.PersistentTemplate{Mode: model.BufferedMode, Layout: layouts[1]})
		e.AttachBuffer(engine.ScopeOfRank, make([]byte, 1000))
		end := func(o *engine.Op) { e.Wait(o); e.Release(o) }
		round := func() {
			e.StartPersistent(receive)
			e.Cancel(receive)
			end(receive)
			e.StartPersistent(send)
			e.Cancel(send)
			end(send)
			e.StartPersistent(receive)
			e.StartPersistent(send)
			end(receive)
			end(send)
			e.StartPersistent(receive)
			e.StartPersistent(buffered)
			end(receive)
			end(buffered)
			e.WaitForBufferedSends()
			e.FreeOp(e.IrecvLayout(layouts[2], 0, 0, 1))
			e.FreeOp(e.IsendLayout(model.SynchronousMode, layouts[3], 0, 0, 1))
			for e.OpenOps() > 3 { // the persistent ones remain
				e.Probe(0, 0, 2, false)
			}
		}
		for range rounds {
			round()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			round()
		}
		if runtime.ReadMemStats(&after); after.Mallocs-before.Mallocs >= rounds/2 { // some are by the runtime
			return fmt.Errorf("%d allocations in %d rounds", after.Mallocs-before.Mallocs, rounds)
		}
		return nil
	})
}

// synchronizeRanks exchanges empty messages with the other rank. Its receives are then posted, and
// its earlier messages have arrived.
func synchronizeRanks(e *engine.Rank) {
	peer := 1 - e.Port().Rank()
	s := e.Isend(model.StandardMode, nil, 0, peer, 2, 0)
	e.Recv(nil, 0, peer, 2, 0)
	e.Wait(s)
	e.Release(s)
}

// exchangeMessages exchanges messages.
func exchangeMessages(e *engine.Rank, mode model.Mode, at int) error {
	peer := 1 - e.Port().Rank()
	var ops []*engine.Op
	for i := range at {
		ops = append(ops, e.Irecv(make([]byte, 300), 0, peer, 0, i))
	}
	synchronizeRanks(e)
	for i := range at {
		ops = append(ops, e.Isend(mode, make([]byte, 300), 0, peer, 0, i))
	}
	for _, o := range ops {
		e.Wait(o)
		e.Release(o)
	}
	e.WaitForBufferedSends()
	return nil
}

// exchangePersistently exchanges messages by persistent operations, and cancels some of them.
func exchangePersistently(e *engine.Rank, mode model.Mode, at int) error {
	peer := 1 - e.Port().Rank()
	var receives, sends []*engine.Op
	for i := range at {
		receives = append(receives, e.NewPersistent(engine.PersistentTemplate{Receive: true, Layout: layoutWithGaps(make([]byte, 600)), Peer: peer, Tag: i}))
		sends = append(sends, e.NewPersistent(engine.PersistentTemplate{Mode: mode, Layout: layoutWithGaps(make([]byte, 600)), Peer: peer, Tag: i}))
	}
	for range 3 {
		for _, r := range receives {
			e.StartPersistent(r)
			e.Cancel(r)
			e.Wait(r)
			if !r.IsCancelled() {
				return fmt.Errorf("a receive is not cancelled")
			}
			e.Release(r)
			e.StartPersistent(r)
		}
		synchronizeRanks(e)
		for _, s := range sends {
			e.StartPersistent(s)
			e.Cancel(s)
		}
		for _, o := range slices.Concat(receives, sends) {
			e.Wait(o)
			if o.IsCancelled() {
				return fmt.Errorf("a message that has a receive is cancelled")
			}
			e.Release(o)
		}
		e.WaitForBufferedSends()
	}
	for _, o := range slices.Concat(receives, sends) {
		e.FreeOp(o)
	}
	return nil
}

// freeAndCancelUnderWay frees or cancels active operations.
func freeAndCancelUnderWay(e *engine.Rank, mode model.Mode, at int) error {
	peer := 1 - e.Port().Rank()
	for i := range at {
		e.FreeOp(e.IrecvLayout(layoutWithGaps(make([]byte, 600)), peer, 0, i))
	}
	synchronizeRanks(e)
	for i := range at {
		e.FreeOp(e.IsendLayout(mode, layoutWithGaps(make([]byte, 600)), peer, 0, i))
	}
	var ops []*engine.Op
	for i := range at {
		s := e.IsendLayout(model.SynchronousMode, layoutWithGaps(make([]byte, 600)), peer, 4, i)
		if e.Cancel(s); i%2 == 0 {
			ops = append(ops, s)
			continue
		}
		e.FreeOp(s)
	}
	for _, s := range ops {
		e.Wait(s)
		if !s.IsCancelled() {
			return fmt.Errorf("a send is not cancelled")
		}
		e.Release(s)
	}
	synchronizeRanks(e)
	for _, o := range []*engine.Op{e.NewFinishedOp(true, engine.Status{}), e.NewPersistent(engine.PersistentTemplate{Null: true})} {
		e.FreeOp(o)
	}
	return nil
}

// sendToEndedRank frees or cancels sends to a rank that ends without receiving.
func sendToEndedRank(e *engine.Rank, _ model.Mode, at int) error {
	if e.Port().Rank() == 1 {
		return nil
	}
	var ops []*engine.Op
	for i := range at {
		s := e.IsendLayout(model.SynchronousMode, layoutWithGaps(make([]byte, 600)), 1, 0, i)
		if e.Cancel(s); i%3 == 0 {
			e.FreeOp(s)
			continue
		}
		ops = append(ops, s)
	}
	for _, s := range ops {
		e.Wait(s)
		if !s.IsCancelled() {
			return fmt.Errorf("a send to a rank that has ended is not cancelled")
		}
		e.Release(s)
	}
	return nil
}

// layoutWithGaps is a layout in which every other byte is data.
type layoutWithGaps []byte

func (g layoutWithGaps) Len() int                        { return len(g) / 2 }
func (g layoutWithGaps) ContiguousBytes() ([]byte, bool) { return nil, false }
func (g layoutWithGaps) IsSizeOnly() bool                { return device.IsSizeOnly(g) }
func (g layoutWithGaps) Signature(int) engine.Signature  { return 0 }
func (g layoutWithGaps) Runs(yield func([]byte)) {
	for i := 0; i < len(g); i += 2 {
		yield(g[i : i+1])
	}
}

func (g layoutWithGaps) Gather(to []byte) {
	for i := range to {
		to[i] = g[2*i]
	}
}

func (g layoutWithGaps) Scatter(from []byte) {
	for i, x := range from {
		g[2*i] = x
	}
}
