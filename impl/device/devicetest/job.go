package devicetest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

var errDeliberate = errors.New("deliberate error")

// checkDeliberateError returns an error unless got is errDeliberate, or what is left of it when it
// comes from another process.
func checkDeliberateError(got error) error {
	if got == nil {
		return errors.New("the job returned nil, want the error of a program")
	}
	if errors.Is(got, errDeliberate) {
		return nil
	}
	return checkErrorContains(got.Error(), errDeliberate.Error())
}

// A rank that fails ends the job. Those that wait for it would wait for ever.
func checkErrorEndsJob(open func(int) device.World) error {
	for culprit := range 3 {
		err := checkDeliberateError(runWithinLimit(open(3), func(p *rank) error {
			if p.Rank() == culprit {
				return errDeliberate
			}
			_, err := p.recvFrom(culprit)
			return err
		}))
		if err != nil {
			return fmt.Errorf("rank %d fails: %w", culprit, err)
		}
	}
	return nil
}

// The first error is the cause; what fails after it is most often a consequence.
func checkFirstErrorReturned(open func(int) device.World) error {
	return checkDeliberateError(runWithinLimit(open(3), func(p *rank) error {
		if p.Rank() == 1 {
			p.Delay(unit.Millisecond)
			return errDeliberate
		}
		p.Delay(200 * unit.Millisecond)
		return fmt.Errorf("rank %d: a later error", p.Rank())
	}))
}

// A panic says which rank it was, with its value and the stack; others may be in the midst of
// something else.
func checkPanicReported(open func(int) device.World) error {
	for culprit := range 2 {
		err := runWithinLimit(open(2), func(p *rank) error {
			if p.Rank() == culprit {
				panic(errDeliberate)
			}
			_, err := p.recvFrom(culprit)
			return err
		})
		if err := checkFailure(err, culprit, errDeliberate.Error()); err != nil {
			return err
		}
		if err := checkErrorContains(err.Error(), "devicetest"); err != nil { // the package of the function that panicked
			return fmt.Errorf("no stack: %w", err)
		}
	}
	return nil
}

// When the job has failed, every rank ends at its next call, and in the one it is in if that waits,
// or Run would not return.
func checkRanksStopAfterFailure(open func(int) device.World) error {
	forever := []func(*rank){
		func(p *rank) { p.Recv(true) },
		func(p *rank) { p.Recv(false) },
		func(p *rank) { p.Delay(unit.Microsecond) },
		func(p *rank) { p.Delay(100 * unit.Second) },
		func(p *rank) { p.sendWord(1, 0); p.Delay(unit.Microsecond) },
		func(p *rank) {
			if c := p.Counters(); c != nil {
				c.FetchAndAddRegister(0, 0, 1)
			}
			p.Delay(unit.Microsecond)
		},
		func(p *rank) {
			if m := p.Memory(); m != nil {
				k := m.Expose(make([]byte, 8))
				m.Put(p.Rank(), k, 0, make([]byte, 8), device.Head{})
				p.Recv(true)
				m.Withdraw(k)
			}
			p.Delay(unit.Microsecond)
		},
		func(p *rank) {
			if w := p.Watch(); w != nil {
				w.WaitForEvent(w.EventCount(), device.Forever)
			}
			p.Recv(true)
		},
		func(p *rank) {
			if w := p.Watch(); w != nil {
				w.WaitForEvent(w.EventCount(), p.Now()+100*unit.Second)
			}
			p.Recv(true)
		},
		func(p *rank) {
			if d := p.Datagram(); d != nil {
				d.Recv(p.Now() + 100*unit.Second)
			}
			p.Recv(true)
		},
		func(p *rank) {
			if q := p.Queues(); q != nil {
				for k := q.Create(100); q.First(k) == nil; {
				}
			}
			p.Recv(true)
		},
	}
	for some := range slices.Chunk(forever, 4) {
		err := checkDeliberateError(runWithinLimit(open(1+len(some)), func(p *rank) error {
			if p.Rank() == 0 {
				p.Delay(2 * unit.Millisecond)
				return errDeliberate
			}
			for {
				some[p.Rank()-1](p)
			}
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// A world is a machine, not a run: a sweep runs many jobs on it, and none must see what another has
// left, even one that failed.
func checkRunsIndependent(open func(int) device.World) error {
	w := open(2)
	for i := range 6 {
		err := runWithinLimit(w, func(p *rank) error {
			p.sendWord(0, uint64(i))
			p.sendWord(1, uint64(i))
			for range p.Size() { // these two come behind whatever was left
				if q := p.recvNext(); q.Head[0] != uint64(i) || len(q.Data) > 0 {
					return fmt.Errorf("rank %d: a packet of rank %d with %d bytes is from before", p.Rank(), q.Src, len(q.Data))
				}
			}
			p.barrier()
			for range 10 { // never received
				p.Send(0, &device.Packet{Data: make([]byte, 1000)})
				p.Send(1, &device.Packet{Data: make([]byte, 1000)})
			}
			if i == 2 && p.Rank() == 1 {
				return errDeliberate
			}
			if i == 4 && p.Rank() == 0 {
				panic(errDeliberate)
			}
			return nil
		})
		switch i {
		case 2:
			err = checkDeliberateError(err)
		case 4:
			err = checkFailure(err, 0, errDeliberate.Error())
		}
		if err != nil {
			return fmt.Errorf("run %d: %w", i, err)
		}
	}
	return nil
}

// A world that says so runs one rank at a time: the others only while this one is in a call.
func checkRanksSerialized(open func(int) device.World) error {
	var executing atomic.Int32 // ranks that do, outside of calls
	return runWithinLimit(open(3), func(p *rank) error {
		if !device.RanksAreSerialized(p.Port) {
			return errors.New(missingCapabilityPrefix + "order in which ranks run")
		}
		for round := range 100 {
			n := executing.Add(1)
			for range 10 {
				runtime.Gosched()
			}
			executing.Add(-1)
			if n != 1 {
				return fmt.Errorf("rank %d, round %d: %d ranks run at the same time", p.Rank(), round, n)
			}
			p.sendWord((p.Rank()+1)%p.Size(), uint64(round))
			p.recvNext()
		}
		return nil
	})
}

// A library chooses protocols by how near the other rank is, on both sides of a message: at the
// sender what goes first, at the receiver how it takes in the rest. The two have to agree, and go
// on to.
func checkTiersAgree(open func(int) device.World) error {
	for _, n := range []int{1, 2, 5} {
		err := runWithinLimit(open(n), func(p *rank) error {
			if t := p.Tier(p.Rank()); t != model.IntraNode {
				return fmt.Errorf("rank %d: the tier of itself is %d, want %d (%v)", p.Rank(), t, model.IntraNode, model.IntraNode)
			}
			for dst := range n {
				p.sendWord(dst, uint64(p.Tier(dst)))
			}
			for range n {
				q := p.recvNext()
				here, there := p.Tier(q.Src), model.Tier(q.Head[0])
				if here >= model.NumTiers || here != there {
					return fmt.Errorf("rank %d: the tier of rank %d is %d, and %d the other way round, of %d that there are", p.Rank(), q.Src, here, there, model.NumTiers)
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%d ranks: %w", n, err)
		}
	}
	return runWithinLimit(open(5), func(p *rank) error {
		before := make([]model.Tier, p.Size())
		for r := range before {
			before[r] = p.Tier(r)
		}
		for i := range 20 {
			p.sendWord((p.Rank()+i)%p.Size(), 0)
			p.recvNext()
			for r, t := range before {
				if now := p.Tier(r); now != t {
					return fmt.Errorf("rank %d: the tier of rank %d was %d and is %d after %d messages", p.Rank(), r, t, now, i+1)
				}
			}
		}
		return nil
	})
}

// A program that asks where it runs finds out which ranks run there, too.
func checkNodeNames(open func(int) device.World) error {
	return runWithinLimit(open(5), func(p *rank) error {
		node := p.Node()
		if node == "" {
			return fmt.Errorf("rank %d: its node has no name", p.Rank())
		}
		for dst := range p.Size() {
			p.Send(dst, &device.Packet{Data: []byte(node)})
		}
		for range p.Size() {
			q := p.recvNext()
			if other := string(q.Data); p.Tier(q.Src) == model.IntraNode && other != node {
				return fmt.Errorf("rank %d is on %q, and rank %d, which is near, on %q", p.Rank(), node, q.Src, other)
			}
		}
		if now := p.Node(); now != node {
			return fmt.Errorf("rank %d: its node was called %q, and is called %q", p.Rank(), node, now)
		}
		return nil
	})
}
