package predictions_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// The second table of docs/predictions.md has the errors of broadcasts as they are emulated today,
// on the platform files of the blind predictions.
func TestErrorsOfBroadcastsToday(t *testing.T) {
	text, err := os.ReadFile("../../docs/predictions.md")
	if err != nil {
		t.Fatal(err)
	}
	measured, order := readModernMeasurements(t)
	sizes := map[broadcastRun][]int{}
	for _, key := range order {
		if x, ok := parseBroadcast(key); ok {
			sizes[x.broadcastRun] = append(sizes[x.broadcastRun], x.bytes)
		}
	}
	emulated := map[broadcastRun]map[int]broadcastTimes{}
	for run, all := range sizes {
		emulated[run] = run.emulate(t, all)
	}
	var subjects []string
	factors := map[string][]float64{}
	for _, key := range order {
		x, ok := parseBroadcast(key)
		if !ok {
			continue
		}
		if factors[x.machine] == nil {
			subjects = append(subjects, x.machine)
		}
		p := emulated[x.broadcastRun][x.bytes].of(x.quantity).Micros()
		factors[x.machine] = append(factors[x.machine], math.Max(p/measured[key], measured[key]/p))
	}
	for _, s := range subjects {
		checkErrorRow(t, string(text), s+" | bcast, not blind", factors[s])
	}
}

// broadcastRun is osu_bcast among some cores of a machine of docs/predictions.
type broadcastRun struct {
	machine, algorithm string // algorithm "": the library's decision
	mapping            string // of ranks: by core, socket or node
	ranks              int
}

// broadcastRow is a row of measurements.
type broadcastRow struct {
	broadcastRun
	bytes    int
	quantity string
}

// parseBroadcast reads what a measurement is of, and reports whether it is a broadcast on a machine
// that has measurements within its nodes.
func parseBroadcast(key string) (x broadcastRow, ok bool) {
	f := strings.Split(key, "\t")
	if !strings.HasPrefix(f[0], "orfeo-") {
		return x, false
	}
	x.machine, x.quantity = f[0], f[8]
	x.algorithm = map[string]string{"binomial": "binomial", "basic_linear": "linear"}[f[4]]
	_, x.mapping, _ = strings.Cut(f[1], "map-by ")
	x.ranks, _ = strconv.Atoi(f[6])
	x.bytes, _ = strconv.Atoi(f[7])
	return x, true
}

// broadcastTimes are what osu_bcast prints for a size: the average, least and greatest mean of the
// ranks.
type broadcastTimes struct{ avg, min, max unit.Time }

// of returns a quantity of measurements.
func (x broadcastTimes) of(quantity string) unit.Time {
	switch quantity {
	case "latency_min":
		return x.min
	case "latency_max":
		return x.max
	}
	return x.avg
}

// coreOf returns the core of a rank, with so many cores in each of two nodes.
func (r broadcastRun) coreOf(rank, perNode int) int {
	switch {
	case r.mapping == "node":
		return rank%2*perNode + rank/2
	case r.mapping == "socket":
		at := rank % perNode
		return rank - at + at%2*perNode/2 + at/2
	}
	return rank
}

// emulate runs the loop of osu_bcast: each rank adds up the time of its calls, and a barrier stands
// between them.
func (r broadcastRun) emulate(t *testing.T, sizes []int) map[int]broadcastTimes {
	t.Helper()
	const warmUp, iterations = 4, 4
	p, err := platform.Load("" + r.machine + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	perNode := p.Machine.Nodes.Ranks
	j, err := job.New(p, "", 2*perNode, 0)
	if err != nil {
		t.Fatal(err)
	}
	if r.algorithm != "" {
		j.ForcedRules = []collective.Rule{{Operation: collective.Bcast, MaxBytes: -1, Algorithm: r.algorithm}}
	}
	w, err := j.World(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	rankOn := map[int]int{}
	for rank := range r.ranks {
		rankOn[r.coreOf(rank, perNode)] = rank
	}
	sums := make([][]unit.Time, r.ranks)
	err = mpi.Run(w, j.MPIOptions(""), func(world *mpi.Comm) error {
		rank, takesPart := rankOn[world.Rank()]
		if !takesPart {
			world.Split(1, 0)
			return nil
		}
		c := world.Split(0, rank)
		sums[rank] = make([]unit.Time, len(sizes))
		for i, size := range sizes {
			b := make([]byte, size)
			c.Barrier()
			for n := range warmUp + iterations {
				begin := c.Wtime()
				mpi.Bcast(c, b, 0)
				if took := c.Wtime() - begin; n >= warmUp {
					sums[rank][i] += took
				}
				c.Barrier()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(fmt.Errorf("%+v: %w", r, err))
	}
	times := map[int]broadcastTimes{}
	for i, size := range sizes {
		x := broadcastTimes{min: math.MaxInt64}
		for _, s := range sums {
			mean := s[i] / iterations
			x.avg += mean
			x.min, x.max = min(x.min, mean), max(x.max, mean)
		}
		x.avg /= unit.Time(r.ranks)
		times[size] = x
	}
	return times
}
