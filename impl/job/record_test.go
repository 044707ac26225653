package job

import (
	"flag"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest/program"
	"github.com/loggp/loggp/impl/engine/recorder"
	"github.com/loggp/loggp/impl/library/mpi"
	programs "github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/impl/program/goal"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// recorded runs a program and returns its schedule, and when the program of the last rank ended.
func recorded(t *testing.T, j *Job, program func(*mpi.Comm) error) (*schedule.Schedule, unit.Time) {
	t.Helper()
	j.Recorder = &recorder.Recorder{}
	ends := make([]unit.Time, j.Ranks)
	_, err := j.RecordProgram(t.Context(), 1, "", -1, func(c *mpi.Comm) error {
		err := program(c)
		j.Recorder.EndRank(c.Rank())
		ends[c.Rank()] = c.Wtime()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := j.Recorder.Schedule(j.Ranks)
	if err != nil {
		t.Fatal(err)
	}
	j.Recorder = nil
	return s, slices.Max(ends)
}

// A program that is recorded and run as its schedule takes the same time, on each kind of network
// and by each engine, whatever it calls. Nearly all are equal to a nanosecond.
func TestReplay(t *testing.T) {
	type subject struct {
		name string
		run  func(*mpi.Comm, unit.Time) error
	}
	var all []subject
	add := func(p programs.Program) {
		s := p.Defaults
		s.Rounds = min(s.Rounds, 5)
		all = append(all, subject{p.Name, func(c *mpi.Comm, operation unit.Time) error {
			s := s
			s.OperationTime = operation
			return p.Run(c, &s, new(programs.Result))
		}})
	}
	for _, p := range programs.Programs {
		if p.Run != nil && slices.Contains(p.Parameters, "size") && !slices.Contains([]string{"shift", "incast", "permutation"}, p.Name) {
			add(p)
		}
	}
	all = append(all, subject{"synchronous", func(c *mpi.Comm, _ unit.Time) error {
		for i := 1; i < c.Size(); i *= 2 {
			to, from := (c.Rank()+i)%c.Size(), (c.Rank()-i+c.Size())%c.Size()
			r := mpi.Irecv(c, make([]byte, 100), from, 0)
			mpi.Ssend(c, make([]byte, 100), to, 0)
			r.Wait()
		}
		return nil
	}})
	for _, name := range []string{"npb-is", "npb-mg", "npb-lu"} {
		p, ok := programs.ProgramNamed(name)
		if !ok {
			t.Fatalf("no %s", name)
		}
		add(p)
	}
	for _, x := range []struct {
		platform, library string
		ranks             int
	}{{"t3d", "", 8}, {"now", "", 4}, {"convex", "", 8}, {"start-x", "", 8}, {"cm5", "", 8}, {"loggp", "", 4}, {"loggp", "queue", 4}, {"loggp", "mbcf", 4}, {"loggp", "start", 4}} {
		for i, p := range all {
			if strings.HasPrefix(p.name, "npb") && x.platform != "t3d" || x.library != "" && i%2 == 0 {
				continue // which take long, or do what others do
			}
			t.Run(strings.Join([]string{x.platform, x.library, p.name}, "/"), func(t *testing.T) {
				t.Parallel()
				j, err := Open(x.platform, x.library, x.ranks, 0)
				if err != nil {
					t.Fatal(err)
				}
				s, want := recorded(t, j, func(c *mpi.Comm) error { return p.run(c, j.Platform.Machine.Processor.Operation) })
				e := goal.Execution{Schedule: s}
				if err := e.Check(); err != nil {
					t.Fatal(err)
				}
				finish := make([]unit.Time, j.Ranks)
				if _, err := j.RecordProgram(t.Context(), 1, "", -1, func(c *mpi.Comm) error {
					finish[c.Rank()] = e.Run(c)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				got := slices.Max(finish)
				d := 100 * (float64(got)/float64(want) - 1)
				if t.Logf("%v, %v: %+.3f %%", want, got, d); math.Abs(d) > 0.1 {
					t.Errorf("the program takes %v, its schedule %v, which is %+.2f %% more", want, got, d)
				}
			})
		}
	}
}

var recordings = flag.Int("recordings", 60, "random programs to record")

// The schedule of a random program ends, in the simulation and on the machine. A program that waits
// for some of its operations is recorded with those that it got, so that messages must not wait for
// their receives where they did not when it was recorded.
func TestRandomPrograms(t *testing.T) {
	libraries := []string{"none", "queue", "mbcf", "start"}
	for seed := range uint64(*recordings) {
		p := program.New(seed, 8)
		j, err := Open("loggp", libraries[seed%4], p.Ranks, 0)
		if err != nil {
			t.Fatal(err)
		}
		j.Recorder, j.ForcedRules = &recorder.Recorder{}, p.Tuning
		if _, err := j.RecordProgram(t.Context(), seed, "", -1, p.Run); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		s, err := j.Recorder.Schedule(p.Ranks)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		params := schedule.DefaultParams
		params.EagerLimit = math.MaxUint64
		for d := schedule.LogGP; d <= schedule.LogGOPSim; d++ {
			res, err := s.Simulate(schedule.Options{Params: params, Dialect: d})
			if err != nil || len(res.Warnings) > 0 {
				t.Fatalf("seed %d, dialect %v: %v, %v\n%v", seed, d, err, res, p)
			}
		}
		j.Recorder = nil
		if _, err := j.RecordProgram(t.Context(), seed, "", -1, func(c *mpi.Comm) error {
			goal.Execution{Schedule: s}.Run(c)
			return nil
		}); err != nil {
			t.Fatalf("seed %d: its schedule: %v\n%v", seed, err, p)
		}
	}
}
