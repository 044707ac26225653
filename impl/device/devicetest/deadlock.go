package devicetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// checkDeadlock returns an error unless got is a *device.Deadlock of the given ranks.
func checkDeadlock(got error, of int, ranks ...int) error {
	var d *device.Deadlock
	if !errors.As(got, &d) {
		return fmt.Errorf("the job returned %v, want a deadlock", got)
	}
	if d.TotalRanks != of || !slices.Equal(d.Ranks, ranks) {
		return fmt.Errorf("deadlock of ranks %v among %d, want %v among %d", d.Ranks, d.TotalRanks, ranks, of)
	}
	return nil
}

// The commonest mistake in message passing is that all ranks receive first. A job that hangs says
// nothing; a deadlock says which ranks wait.
func checkDeadlockOfAll(open func(int) device.World) error {
	for _, n := range []int{1, 2, 5} {
		w := open(n)
		all := make([]int, n)
		for r := range all {
			all[r] = r
		}
		for range 2 { // a world survives it
			err := runWithinLimit(w, func(p *rank) error {
				p.Recv(true)
				return nil
			})
			if err := checkDeadlock(err, n, all...); err != nil {
				return err
			}
		}
	}
	return nil
}

// A deadlock names the ranks that wait, not those that have ended, and packets that are left in an
// inbox do not hide it.
func checkDeadlockOfSome(open func(int) device.World) error {
	for _, last := range []int{0, 1, 2, 3, 4} { // the last to end or to wait
		err := runWithinLimit(open(5), func(p *rank) error {
			if p.Rank() == last {
				p.Delay(2 * unit.Millisecond)
			}
			p.Send(0, &device.Packet{})
			if p.Rank()%2 == 0 {
				return nil
			}
			p.Recv(true)
			return nil
		})
		if err := checkDeadlock(err, 5, 1, 3); err != nil {
			return fmt.Errorf("rank %d last: %w", last, err)
		}
	}
	return nil
}

// An error of another process is worth what it carries: a rank that is stopped may leave where it
// waited, and a rank that fails what it knows of its error.
func checkErrorDetails(open func(int) device.World) error {
	w := open(4)
	err := runWithinLimit(w, func(p *rank) error {
		t, ok := p.Port.(device.ErrorDetailer)
		if !ok || p.Rank() == 1 {
			return nil
		}
		defer t.SetErrorDetail(fmt.Append(nil, "rank ", p.Rank(), " waits"))
		p.Recv(true)
		return nil
	})
	if err == nil {
		return nil // no rank has details to leave
	}
	if err := checkDeadlock(err, 4, 0, 2, 3); err != nil {
		return err
	}
	var d *device.Deadlock
	errors.As(err, &d)
	for r := range 4 {
		want := fmt.Sprint("rank ", r, " waits")
		if r == 1 {
			want = ""
		}
		if string(d.RankDetails[r]) != want {
			return fmt.Errorf("the details of rank %d are %q, want %q", r, d.RankDetails[r], want)
		}
	}
	err = runWithinLimit(w, func(p *rank) error {
		if p.Rank() != 2 {
			p.Recv(true)
		}
		p.Port.(device.ErrorDetailer).SetErrorDetail([]byte("because"))
		return errors.New("it fails")
	})
	var far interface{ ErrorDetail() []byte }
	if err == nil || err.Error() != "it fails" || !errors.As(err, &far) || string(far.ErrorDetail()) != "because" {
		return fmt.Errorf("the job returned %v, which does not have the details of rank 2", err)
	}
	return nil
}

// As long as a rank computes, or anything is under way, there is no deadlock: a token goes around
// among the ranks, and all but one always wait.
func checkNoFalseDeadlock(open func(int) device.World) error {
	const n, rounds = 4, 300
	w := open(n)
	for seed := range uint64(10) {
		err := runWithinLimit(w, func(p *rank) error {
			r := rand.New(rand.NewPCG(seed, uint64(p.Rank())))
			right, left := (p.Rank()+1)%n, (p.Rank()+n-1)%n
			for range rounds {
				if p.Rank() == 0 {
					p.sendWord(right, 0)
				}
				if _, err := p.recvFrom(left); err != nil {
					return err
				}
				switch r.IntN(8) {
				case 0:
					p.Delay(unit.Time(r.IntN(20)) * unit.Microsecond)
				case 1:
					if m := p.Memory(); m != nil {
						k := m.Expose(make([]byte, 100))
						m.Get(p.Rank(), k, 0, make([]byte, 100), device.Head{})
						if _, err := p.recvFrom(p.Rank()); err != nil {
							return err
						}
						m.Withdraw(k)
					}
				}
				if p.Rank() != 0 {
					p.sendWord(right, 0)
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return nil
}
