package job

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/phases"
)

// Random exchanges in communicators, of which some begin with another rank than the first, are
// recorded, planned and carried out with stored schedules: the data is right, and no rank computes
// phases.
func TestStored(t *testing.T) {
	const ranks = 7
	for seed := range uint64(6) {
		planned := int64(0)
		program := func(c *mpi.Comm) error {
			r := rand.New(rand.NewPCG(seed, 0)) // the same in all ranks
			for i := range 4 {
				on := c
				if i > 0 {
					on = c.Split([]int{0, r.IntN(2), r.IntN(3), r.IntN(2), 0, 0, 1}[c.Rank()], []int{c.Rank(), -c.Rank()}[r.IntN(2)])
				}
				lengths := make([][]int, ranks)
				for k := range lengths {
					for range ranks {
						lengths[k] = append(lengths[k], []int{0, 1, 100, 3000}[r.IntN(4)])
					}
				}
				n, me := on.Size(), on.Rank()
				sends, from, recvs, to := make([]int, n), make([]int, n), make([]int, n), make([]int, n)
				var out, want []byte
				for k := range n {
					sends[k], from[k] = lengths[me][k], len(out)
					out = append(out, bytes.Repeat([]byte{byte(10*me + k)}, sends[k])...)
					recvs[k], to[k] = lengths[k][me], len(want)
					want = append(want, bytes.Repeat([]byte{byte(10*k + me)}, recvs[k])...)
				}
				in := make([]byte, len(want))
				if on.Alltoallv(mpi.BufferOf(out), sends, from, mpi.BufferOf(in), recvs, to); !bytes.Equal(in, want) {
					return fmt.Errorf("rank %d: exchange %d brings the wrong data", c.Rank(), i)
				}
			}
			for name, n := range c.Counts {
				if name == "messages scheduled" && c.Rank() == 0 {
					planned = n
				}
			}
			return nil
		}
		j, err := Open("cc-cluster", "cc-mpi", ranks, 0)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := recorded(t, j, program)
		exchanges, err := phases.Recorded(s)
		if err != nil {
			t.Fatal(err)
		}
		run := func() error {
			w, err := j.World(t.Context(), 1)
			if err != nil {
				return err
			}
			return mpi.Run(w, j.MPIOptions(""), program)
		}
		if err := run(); err != nil || planned == 0 {
			t.Fatalf("seed %d, level 1: %v, %d messages were planned", seed, err, planned)
		}
		for _, x := range exchanges {
			plan, err := x.Plan(phases.Schedulers[seed%2], 200)
			if err != nil {
				t.Fatal(err)
			}
			j.StoredSchedules = append(j.StoredSchedules, plan)
		}
		planned = 0
		if err := run(); err != nil || planned != 0 {
			t.Fatalf("seed %d, level 3: %v, %d messages were planned", seed, err, planned)
		}
	}
}
