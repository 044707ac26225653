package program

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/library/mpi"
)

// broadcastsProgram lets each rank in turn broadcast, as Husbands and Hoe 1998, table 3, do with a
// megabyte.
var broadcastsProgram = Program{
	Name:        "broadcasts",
	Description: "each rank in turn broadcasts to all others",
	SizeUnit:    "bytes of a broadcast",
	Defaults:    Settings{Size: 64 << 10, Rounds: 1},
	MaxSize:     1 << 30,
	Parameters:  append(sizeAndRoundsParameters, dataParameter), Run: withoutResult(runBroadcasts),
}

func runBroadcasts(c *mpi.Comm, s *Settings) error {
	b := device.SizeOnlyIf(s.SizeOnlyMessages, make([]byte, s.Size, s.Size+1))
	for round := range s.Rounds {
		for root := range c.Size() {
			if c.Rank() == root && !s.SizeOnlyMessages {
				for i := range b {
					b[i] = byte(round + root + i)
				}
			}
			mpi.Bcast(c, b, root)
			if s.SizeOnlyMessages {
				continue
			}
			for i, got := range b {
				if want := byte(round + root + i); got != want {
					return resultError(c, "byte %d of the broadcast of rank %d is %d, want %d", i, root, got, want)
				}
			}
		}
	}
	return nil
}
