package program

import (
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
)

// Every message arrives where it belongs, and rank 0 gets every flow.
func TestTraffic(t *testing.T) {
	for _, p := range trafficPatterns {
		for _, ranks := range []int{2, 3, 5, 8} {
			for _, rounds := range []int{1, 3, 4, 9} {
				for _, size := range []int{1, 8, 5000} {
					load := Settings{Size: size, Rounds: rounds, Stride: -1, Root: ranks / 2, Seed: uint64(rounds)}
					if err := p.check(load, ranks); err != nil {
						t.Fatal(err)
					}
					var flows []model.Flow
					err := mpi.Run(loop.New(ranks), mpi.Options{Engine: proto.New, Library: library()}, func(c *mpi.Comm) error {
						all, err := p.runFlows(c, &load)
						if c.Rank() == 0 {
							flows = all
						} else if all != nil {
							t.Errorf("rank %d has flows", c.Rank())
						}
						return err
					})
					if err != nil {
						t.Fatalf("%s of %d ranks: %v", p.name, ranks, err)
					}
					want := map[string]int{"shift": ranks, "permutation": ranks, "incast": ranks - 1}[p.name]
					var targets []int
					for _, f := range flows {
						if f.Bytes != size*rounds || f.Time <= 0 || f.Src == f.Dst {
							t.Errorf("%s of %d ranks: %+v", p.name, ranks, f)
						}
						if p.name == "shift" && f.Dst != (f.Src+ranks-1)%ranks || p.name == "incast" && f.Dst != ranks/2 {
							t.Errorf("%s of %d ranks: %+v", p.name, ranks, f)
						}
						targets = append(targets, f.Dst)
					}
					slices.Sort(targets)
					if n := len(slices.Compact(targets)); len(flows) != want || p.name != "incast" && n != want {
						t.Errorf("%s of %d ranks: %d flows to %d", p.name, ranks, len(flows), n)
					}
				}
			}
		}
	}
}

// A message that was changed on its way is found.
func TestTrafficFindsErrors(t *testing.T) {
	for _, p := range trafficPatterns {
		w := &altered{World: loop.New(3), n: 2}
		err := mpi.Run(w, mpi.Options{Engine: proto.New, Library: library()}, func(c *mpi.Comm) error {
			_, err := p.runFlows(c, &Settings{Size: 64, Rounds: 6, Stride: 1, Seed: 1})
			return err
		})
		if !w.done || err == nil || !strings.Contains(err.Error(), "wrong") {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

func TestTrafficThatIsNone(t *testing.T) {
	for want, c := range map[string]struct {
		name  string
		load  Settings
		ranks int
	}{
		"shift needs two ranks or more":                     {"shift", Settings{Stride: 1}, 1},
		"stride -6: with 3 ranks each would send to itself": {"shift", Settings{Stride: -6}, 3},
		"root 3: there are ranks 0 to 2":                    {"incast", Settings{Root: 3}, 3},
		"size 1073741824: the messages of 8 ranks":          {"permutation", Settings{Size: 1 << 30}, 8},
	} {
		if err := named(t, c.name).Check(c.load, c.ranks); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// named returns a program of the table.
func named(t *testing.T, name string) Program {
	t.Helper()
	p, ok := ProgramNamed(name)
	if !ok {
		t.Fatalf("there is no program %s", name)
	}
	return p
}
