// Package probe measures the MPI of the machine that it runs on, from inside a C program: the same timers as package microbench, in the same order,
// without a call from Go in between, of messages between two ranks or of collective operations of all.
//
//  1. The program is compiled on the spot by the user's mpicc.
//  2. Their launcher starts it as often as there are launches, all at first, since that takes longer than to measure. Each waits asleep.
//  3. In its turn each gets a plan in a file: cells, and how long they may take. It measures with everything in memory, decides itself what to repeat, and
//     writes a result.
//  4. Between launches the campaign decides, as it does for our own library.
//
// What the numbers mean, package fit says; what they are worth, docs/vendor.md.
package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
)

// Settings says with what to measure.
type Settings struct {
	Compiler string        // a command, looked for in PATH; "": that of the environment variable MPICC, or mpicc
	Launcher []string      // a command and its arguments that start the ranks; none: that beside the compiler, with -n and their number
	Timeout  time.Duration // of the compiler, and of whatever a launch is to do; 0: DefaultTimeout
	Place    string        // inter or intra; "": intra if the ranks share memory
}

// DefaultTimeout is how long the compiler, or a launch, may take.
const DefaultTimeout = 5 * time.Minute

// Platform is the name of the platform in samples.
const Platform = "mpi"

// Measure goes through a campaign, whose protocol, pair and Common do not count. Now and then progress is called with what part is over, from 0 to 1; it may
// be nil. Whether it fails, is cancelled or succeeds, it leaves no file and no process behind.
func Measure(ctx context.Context, c *microbench.Campaign, s Settings, progress func(part float64)) (*sample.Set, *microbench.Outcome, error) {
	if err := check(c); err != nil {
		return nil, nil, err
	}
	m := &measurement{campaign: c}
	return m.measure(ctx, 2, s, "auto", progress)
}

// measure measures so many ranks, and gives all series a protocol.
func (m *measurement) measure(ctx context.Context, ranks int, s Settings, protocol string, progress func(part float64)) (_ *sample.Set, _ *microbench.Outcome, err error) {
	if s.Timeout <= 0 {
		s.Timeout = DefaultTimeout
	}
	begin := time.Now()
	dir, err := os.MkdirTemp("", "loggp-probe-")
	if err != nil {
		return nil, nil, fmt.Errorf("a directory to compile in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var options []string
	if m.collectives != nil {
		options = append(options, withCollectives)
	}
	b, err := build(ctx, dir, s, options...)
	if err != nil {
		return nil, nil, err
	}
	launcher, err := launcherOf(s.Launcher, b.compiler, ranks)
	if err != nil {
		return nil, nil, err
	}
	m.fleet = &fleet{built: b, ranks: ranks, launcher: launcher, here: len(s.Launcher) == 0, timeout: s.Timeout, together: together(m.campaign, ranks, s), variables: !m.campaign.Quick}
	defer m.stop()
	out, err := m.run(ctx, begin, progress)
	if err != nil {
		return nil, nil, err
	}
	set, err := m.join(out, s, protocol)
	return set, out, err
}

// run measures, from the first start to the last end. All that has passed since the beginning is of the budget.
func (m *measurement) run(ctx context.Context, begin time.Time, progress func(part float64)) (*microbench.Outcome, error) {
	if err := m.muster(ctx); err != nil {
		return nil, err
	}
	c := *m.campaign
	if c.Time() > 0 {
		c.Budget = max(1, c.Time()-time.Since(begin))
	}
	out, err := m.goThrough(ctx, &c, progress)
	if err != nil {
		return nil, err
	}
	if err := m.disband(ctx); err != nil {
		return nil, err
	}
	out.Took = time.Since(begin)
	return out, nil
}

// goThrough goes through the launches of a campaign.
func (m *measurement) goThrough(ctx context.Context, c *microbench.Campaign, progress func(part float64)) (*microbench.Outcome, error) {
	if m.collectives == nil {
		out, err := c.Run(ctx, m.launch, progress)
		if err != nil {
			return nil, err
		}
		out.Series = relabel(out.Series, m.used, m.best)
		return out, nil
	}
	all := &microbench.Collectives{Campaign: *c, Of: m.collectives.Of}
	return all.Run(ctx, m.perform, progress)
}

// Ranks of launches that are started together, at most, and for how long they may have to wait for their turns.
const (
	mostTogether    = 20
	longestTogether = time.Minute
)

// together returns how many launches are started at once.
func together(c *microbench.Campaign, ranks int, s Settings) int {
	if len(s.Launcher) > 0 || c.Time() == 0 || c.Time() > longestTogether {
		return 0
	}
	return min(c.LeastLaunches(), mostTogether/ranks)
}

// check says what of a campaign cannot be measured here.
func check(c *microbench.Campaign) error {
	if err := c.Check(); err != nil {
		return err
	}
	if c.Protocol != "" {
		return fmt.Errorf("protocol %s cannot be forced on the vendor's MPI", c.Protocol)
	}
	rows := 0
	for _, x := range c.All() {
		if x.Mode == microbench.Message {
			return errors.New("the vendor's MPI has no low-level messages to measure")
		}
		which := all
		if c.OnlyTrips(x.Bytes) {
			which = trips
		}
		for _, timer := range timersOf(x.Mode, which) {
			rows += repeated(timer, c.Reps) * c.LeastLaunches()
		}
	}
	if rows > sample.MaxRows {
		return fmt.Errorf("this plan makes %d samples, and at most %d can be kept: take fewer repetitions, sizes, modes or launches", rows, sample.MaxRows)
	}
	return nil
}
