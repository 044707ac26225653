// Package probe measures the MPI of the machine that it runs on, from inside a C program: the same timers as package microbench, in the same order,
// without a call from Go in between.
//
// The program is compiled on the spot by the user's mpicc and started by their launcher, as often as launches are asked for. Each launch gets
// the plan in a file, measures with everything in memory, and writes a result, from which samples and facts come. What the numbers mean,
// package fit says; what they are worth, docs/mpi.md.
package probe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
)

// Settings says with what to measure.
type Settings struct {
	Compiler string        // a command, looked for in PATH; "": that of the environment variable MPICC, or mpicc
	Launcher []string      // a command and its arguments that start two ranks; none: that beside the compiler, with -n 2
	Launches int           // how often the program is started; 0: once
	Timeout  time.Duration // of the compiler, and of each launch; 0: DefaultTimeout
	Seed     uint64        // of the order of cells, which is another in each launch
	Place    string        // inter or intra; "": intra if the ranks share memory
}

// DefaultTimeout is how long the compiler, or a launch, may take.
const DefaultTimeout = 5 * time.Minute

// Platform is the name of the platform in samples.
const Platform = "mpi"

// Measure measures the cells of a plan, whose protocol, pair and Common do not count. After each launch done is called with how many
// are over; it may be nil. Whether it fails, is cancelled or succeeds, it leaves no file and no process behind.
func Measure(ctx context.Context, p *microbench.Plan, s Settings, done func(n int)) (_ *sample.Set, err error) {
	s.Launches = max(s.Launches, 1)
	if s.Timeout <= 0 {
		s.Timeout = DefaultTimeout
	}
	if err := check(p, s.Launches); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "loggp-probe-")
	if err != nil {
		return nil, fmt.Errorf("a directory to compile in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b, err := build(ctx, dir, s)
	if err != nil {
		return nil, err
	}
	launcher, err := launcherOf(s.Launcher, b.compiler)
	if err != nil {
		return nil, err
	}
	var results []*result
	for n := range s.Launches {
		r, err := launch(ctx, b, launcher, p, s, n)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
		if done != nil {
			done(n + 1)
		}
	}
	return join(results, p, s, b, launcher)
}

// check says what of a plan cannot be measured here.
func check(p *microbench.Plan, launches int) error {
	if err := p.Check(); err != nil {
		return err
	}
	if p.Protocol != "" {
		return fmt.Errorf("protocol %s cannot be forced on the vendor's MPI", p.Protocol)
	}
	rows := 0
	for _, c := range p.Cells() {
		if c.Mode == microbench.Message {
			return errors.New("the vendor's MPI has no low-level messages to measure")
		}
		for _, t := range timers(c.Mode, p.Reps) {
			rows += t.samples * launches
		}
	}
	if rows > sample.MaxRows {
		return fmt.Errorf("this plan makes %d samples, and at most %d can be kept: take fewer repetitions, sizes, modes or launches", rows, sample.MaxRows)
	}
	return nil
}

// order returns the cells as a launch measures them: what drifts shall not become a curve.
func order(p *microbench.Plan, seed uint64, launch int) []microbench.Cell {
	cells := p.Cells()
	random := rand.New(rand.NewPCG(seed, uint64(launch)))
	random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	return cells
}

// launch starts the program once.
func launch(ctx context.Context, b *built, launcher []string, p *microbench.Plan, s Settings, n int) (*result, error) {
	plan, out := filepath.Join(b.dir, "plan"), filepath.Join(b.dir, "result")
	if err := os.WriteFile(plan, planText(p, order(p, s.Seed, n)), 0o600); err != nil {
		return nil, err
	}
	failed := out + ".failed"
	if err := errors.Join(os.RemoveAll(out), os.RemoveAll(failed)); err != nil {
		return nil, err
	}
	const later = 10 * time.Second // by the program itself, if nobody is left who could end it
	limit := strconv.Itoa(int((s.Timeout + later).Seconds()))
	said, err := process{dir: b.dir, timeout: s.Timeout}.run(ctx, append(launcher[:len(launcher):len(launcher)], b.program, plan, out, limit))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		if text, err := os.ReadFile(failed); err == nil {
			said.Write(append([]byte("\n"), text...))
		}
		return nil, launchError(launcher, said, err, s.Timeout)
	}
	f, err := os.Open(out)
	if err != nil {
		return nil, fmt.Errorf("%s succeeded, but the program left no result%s\nThe first rank must see the directory %s: let TMPDIR be one that all hosts share",
			words(launcher), said.last(), filepath.Dir(b.dir))
	}
	defer f.Close()
	r, err := read(f)
	if err == nil {
		err = r.of(p)
	}
	if err != nil {
		return nil, fmt.Errorf("the result of %s is not what the program writes: %w%s", words(launcher), err, said.last())
	}
	return r, nil
}
