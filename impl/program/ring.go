package program

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/library/mpi"
)

var ringProgram = Program{
	Name: "ring", Description: "numbers pass through all ranks, and each rank adds its own",
	SizeUnit: "numbers", Defaults: Settings{Size: 1000, Rounds: 3}, Parameters: append(operationParameters, dataParameter), Run: withoutResult(runRing),
}

func runRing(c *mpi.Comm, s *Settings) error {
	x := make([]int64, s.Size)
	message := device.SizeOnlyIf(s.SizeOnlyMessages, mpi.BytesOf(x))
	before, next := (c.Rank()+c.Size()-1)%c.Size(), (c.Rank()+1)%c.Size()
	for range s.Rounds {
		if c.Rank() > 0 {
			mpi.Recv(c, message, before, 0)
		}
		for i := range x {
			x[i] += int64(c.Rank() + i)
		}
		chargeOperations(c, s, len(x))
		if c.Size() == 1 {
			continue
		}
		mpi.Send(c, message, next, 0)
		if c.Rank() == 0 {
			mpi.Recv(c, message, before, 0)
		}
	}
	return agreeOnError(c, checkRingSums(c, s, x))
}

// checkRingSums returns an error if rank 0 has wrong sums.
func checkRingSums(c *mpi.Comm, s *Settings, x []int64) error {
	if c.Rank() > 0 || s.SizeOnlyMessages {
		return nil
	}
	p := int64(c.Size())
	for i := range x {
		if want := int64(s.Rounds) * (p*(p-1)/2 + p*int64(i)); x[i] != want {
			return resultError(c, "number %d is %d, not %d", i, x[i], want)
		}
	}
	return nil
}
