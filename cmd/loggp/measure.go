package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
)

// measure has the flags of the verb.
type measure struct {
	target
	modes, sizes, maxSize, protocol, noise, delta, output string
	level, format, pairs                                  *string
	reps, warmup                                          int
	vendor                                                vendor
	here                                                  here
	effort                                                effort
	together                                              together
	spoiled                                               spoiled
}

func measureCommand() *cobra.Command {
	var m measure
	cmd := &cobra.Command{
		Use:   "measure --platform NAME|FILE|'loggp:L=5us,...'|shm|tcp|mpi",
		Short: "Measure latency, bandwidth and LogGP parameters",
		Long: `measure sends messages of many sizes between two ranks and prints what a message costs: latency,
bandwidth and message rate by size, and the LogGP parameters of MPI's eight send modes. On emulated
machines it also measures the low-level messages below MPI. The ranks are the first and the last, or
those of --place; with --pairs all every pair is measured, to find which ranks are near each other.
-o keeps the samples for 'loggp fit', 'compare' and 'report'.

Platforms shm and tcp are this machine, with loggp's own library between processes that share memory
or are connected by TCP. Platform mpi is this machine with the MPI that is installed on it: the same
timers in a C program, built by its mpicc and started by its launcher.

With --collective it measures collective operations of all ranks, by every algorithm. 'loggp
compare' sets them beside the model.`,
		Example: `  loggp measure --platform t3d
  loggp measure --platform t3d --modes send,isend,ssend --sizes 0,16,1KB,10KB -o samples.csv
  loggp measure --platform t3d --protocol RTA --modes ssend -o rta.csv
  loggp measure --platform t3d --place intra -o intra.csv
  loggp measure --platform t3d --ranks 8 --pairs all -o pairs.csv
  loggp measure --platform t3d --level message -o message.csv
  loggp measure --platform 'loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B' --noise 5%
  loggp measure --platform shm -o here.csv
  loggp measure --platform tcp --quick
  loggp measure --platform mpi --modes send,isend,ssend --reps 100 -o mpi.csv
  loggp measure --platform shm --pairs all -o cores.csv
  loggp measure --platform t3d -n 16 --collective bcast,allreduce -o together.csv
  loggp measure --platform shm --collective all --quick
  loggp measure --platform mpi --collective all --quick -o vendor.csv`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			agent, err := m.here.managed(cmd, m.platform)
			if err != nil {
				return err
			}
			if agent {
				return m.here.serve(cmd)
			}
			defer m.here.close()
			if err := m.run(cmd); err != nil {
				return err
			}
			m.spoiled.complain(cmd)
			return nil
		},
	}
	f := cmd.Flags()
	m.target.flags(cmd, flagHelp{"platform": "machine: a name of 'loggp platforms', a file, loggp:PARAMETERS, or this machine: shm (shared memory), tcp (loopback, or --hosts) or mpi (the installed MPI)", "library": "", "ranks": "", "place": "", "seed": ""}, allPlatforms)
	m.pairs = chosen(cmd, "pairs", []string{"one", sample.AllPairsValue}, "one", "measure one pair of ranks, or all, to find which are near each other; all pairs are measured with few modes, sizes and repetitions unless flags name them, and beyond 4096 pairs those of ranks drawn at random")
	f.StringVar(&m.modes, "modes", "all", "list of "+strings.Join(microbench.Modes(), " ")+", or all")
	f.StringVar(&m.sizes, "sizes", "", "message sizes, such as 0,16,1KB or 1..1MiB*2 (default 0 to 100,000 bytes; on this machine 0 to 128 KiB, with more sizes around protocol changes)")
	f.StringVar(&m.maxSize, "max-size", "", "largest size, such as 64K, 1M or 4MiB: leaves out larger sizes, and without --sizes adds powers of two up to it")
	f.StringVar(&m.protocol, "protocol", "", "force a protocol, and also measure its T_s and T_s-r: "+strings.Join(model.ProtocolNames(), ", ")+"; auto measures them of the protocol that the library chooses")
	m.level = chosen(cmd, "level", []string{"both", "mpi", "message"}, "both", "measure messages of MPI, the low-level messages below it, or both; on this machine only those of MPI")
	f.IntVar(&m.reps, "reps", 600, "repetitions with each root of the barrier; on this machine in each launch (default there: by --precision and --budget)")
	f.IntVar(&m.warmup, "warmup", 10, "untimed rounds before the repetitions; shm and tcp warm up until times are stable")
	f.StringVar(&m.delta, "delta", "", "wait before timer12 (default: twice the longest round of the warm-up; on this machine half the shortest)")
	m.here.flags(cmd)
	m.effort.flags(cmd)
	m.together.flags(cmd)
	f.StringVar(&m.noise, "noise", "on", "timing noise: on (that of the platform), off, or a relative standard deviation such as 5%")
	f.StringVarP(&m.output, "output", "o", "", "file for the samples")
	m.format = chosen(cmd, "format", []string{"table", "csv", "json", "markdown"}, "table", "what to print; with -o, the format of the file if csv or json")
	m.vendor.flags(cmd)
	mustComplete(cmd, "protocol", append(model.ProtocolNames(), auto))
	return cmd
}

func (m *measure) run(cmd *cobra.Command) error {
	if m.all() && isHere(m.platform) && m.ranks == 0 && !m.here.asked() {
		m.ranks = max(2, len(host.Processors()))
	}
	if m.here.manager == nil {
		m.spoiled.look(cmd, m)
	}
	if err := m.together.check(cmd, m); err != nil {
		return misuse(cmd, err)
	}
	if m.platform == probe.Platform {
		return m.vendor.run(cmd, m)
	}
	if err := m.vendor.unasked(cmd); err != nil {
		return misuse(cmd, err)
	}
	if m.together.operations != "" {
		return m.collectives(cmd)
	}
	job, err := m.open(cmd)
	if err != nil {
		return err
	}
	if err := m.briefly(cmd, job.Real()); err != nil {
		return misuse(cmd, err)
	}
	plan, err := m.plan(job)
	if err == nil {
		plan.CommonClock = job.Common()
		plan.Pair, err = pairOf(job, m.place)
	}
	if err == nil {
		err = measurable(job, plan.Pair)
	}
	if err != nil {
		return misuse(cmd, err)
	}
	if job.Real() {
		return m.here.run(cmd, m, job, plan)
	}
	series, err := m.sweep(cmd, job, plan)
	if err != nil {
		return fmt.Errorf("measure on %s: %w", job.Platform.Machine.Name, err)
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	set := m.set(cmd, job, plan, series)
	return m.write(cmd, job, plan, set)
}

// sweep measures the plan between its pair of ranks, or all.
func (m *measure) sweep(cmd *cobra.Command, job *job.Job, plan *microbench.Plan) ([]sample.Series, error) {
	open := func(ctx context.Context, n int) (mpi.World, error) {
		return job.World(ctx, m.seed*1_000_003+uint64(n))
	}
	if !m.all() {
		bar := newProgress(cmd.ErrOrStderr(), len(plan.Cells()))
		defer bar.end()
		return microbench.Sweep(cmd.Context(), plan, job.Options(m.forced()), open, bar.done)
	}
	pairs := m.every(job.Ranks)
	bar := newProgress(cmd.ErrOrStderr(), len(pairs))
	defer bar.end()
	return microbench.SweepPairs(cmd.Context(), plan, pairs, job.Options(m.forced()), open, bar.done)
}

// all says whether all pairs are measured.
func (m *measure) all() bool { return *m.pairs == sample.AllPairsValue }

// most is how many pairs are measured at most.
const most = 4096

// every returns the pairs of --pairs all.
func (m *measure) every(ranks int) [][2]int { return microbench.RankPairs(ranks, most, m.seed) }

// briefly sets what flags leave open for all pairs.
func (m *measure) briefly(cmd *cobra.Command, real bool) error {
	if !m.all() {
		return nil
	}
	if m.place != "" {
		return errors.New("--pairs, --place: one of them says which ranks to measure")
	}
	given := cmd.Flags().Changed
	modes := microbench.PairModes
	if real {
		modes = microbench.QuickModes
		if !given("launches") {
			m.effort.launches = microbench.PairLaunches
		}
	}
	if !given("modes") && *m.level != "message" {
		m.modes = strings.Join(m.served(modes), ",")
	}
	if !given("sizes") {
		m.sizes = strings.Trim(strings.ReplaceAll(fmt.Sprint(microbench.PairSizes), " ", ","), "[]")
	}
	if !given("reps") {
		m.reps = microbench.PairReps
	}
	return nil
}

// amongAll makes an experiment on a real machine one of all pairs.
func (m *measure) amongAll(cmd *cobra.Command, e *microbench.Experiment, plan *microbench.Plan, ranks int) {
	if !m.all() {
		return
	}
	e.Pairs, e.Modes, e.Sizes = m.every(ranks), plan.Modes, plan.Sizes
	e.RefineSizes, e.RoundTripSizes, e.MaxTrainBytes = false, nil, 0
	if !cmd.Flags().Changed("budget") {
		e.Reps, e.Budget = m.reps, 0
	}
}

// open finds the platform. What is wrong with a flag is an error of usage, what is wrong in a
// platform's file is not.
func (m *measure) open(cmd *cobra.Command) (*job.Job, error) {
	if m.platform == "" {
		return nil, misuse(cmd, fmt.Errorf("--platform: say what to measure: %s, a file, loggp:PARAMETERS, or this machine: %s or mpi", strings.Join(platform.Names(), ", "), strings.Join(job.Here, ", ")))
	}
	if launch.IsRank() {
		m.output = "" // rank 0 writes, where there is such a directory
	}
	if err := output(m.output); err != nil {
		return nil, misuse(cmd, err)
	}
	if err := m.misplaced(cmd); err != nil {
		return nil, misuse(cmd, err)
	}
	var job *job.Job
	var err error
	if isHere(m.platform) {
		job, err = m.openHere(cmd)
	} else {
		job, err = m.openEmulated(cmd)
	}
	if err == nil && job.Ranks < 2 {
		err = misuse(cmd, fmt.Errorf("--ranks %d: measuring needs at least two", job.Ranks))
	}
	return job, err
}

// openEmulated sets up a job on a platform of the catalogue, or of the user's.
func (m *measure) openEmulated(cmd *cobra.Command) (*job.Job, error) {
	noise, err := parseNoise(m.noise)
	if err != nil {
		return nil, misuse(cmd, err)
	}
	p, err := load(cmd, m.platform)
	if u := (*platform.UnknownError)(nil); errors.As(err, &u) {
		return nil, misuse(cmd, fmt.Errorf("%w; this machine is %s or %s", u, strings.Join(job.Here, ", "), probe.Platform))
	}
	if err != nil {
		return nil, err
	}
	job, err := job.New(p, m.library, m.ranks, noise)
	return job, misuse(cmd, err)
}

// longest is the longest message that is measured. Both ranks hold it several times.
const longest = 1 << 28

// plan makes a plan of the flags. Without a job it is for the vendor's MPI.
func (m *measure) plan(job *job.Job) (*microbench.Plan, error) {
	plan := &microbench.Plan{Protocol: m.forced(), MeasureDelivery: m.protocol == auto, Reps: m.reps, WarmupRounds: m.warmup, CommonClock: true}
	if err := inRange("--reps", m.reps, 1, 1_000_000); err != nil {
		return nil, err
	}
	if err := inRange("--warmup", m.warmup, 0, 1_000_000); err != nil {
		return nil, err
	}
	var err error
	if plan.Sizes, err = sizes(m.sizes, m.grid()); err != nil {
		return nil, err
	}
	if plan.Sizes, err = m.limited(plan.Sizes); err != nil {
		return nil, err
	}
	if k := slices.Max(plan.Sizes); k > longest {
		return nil, fmt.Errorf("--sizes: messages of %s are too long to measure: at most %s", unit.Bytes(k), unit.Bytes(longest))
	}
	if m.delta != "" {
		if plan.Delta, err = unit.ParseTime(m.delta); err != nil {
			return nil, fmt.Errorf("--delta: %w", err)
		}
		if plan.Delta <= 0 {
			return nil, fmt.Errorf("--delta %s: it must be above zero", m.delta)
		}
	}
	if plan.Modes, err = m.chooseModes(job); err != nil {
		return nil, err
	}
	return plan, plan.Check()
}

// limited returns sizes up to --max-size. If sizes were not named, powers of two go on up to it.
func (m *measure) limited(list []int) ([]int, error) {
	if m.maxSize == "" {
		return list, nil
	}
	most, err := unit.ParseSize(m.maxSize)
	if err != nil {
		return nil, fmt.Errorf("--max-size: %w", err)
	}
	if most > longest {
		return nil, fmt.Errorf("--max-size: messages of %s are too long to measure: at most %s", unit.Bytes(most), unit.Bytes(longest))
	}
	list = slices.Clone(list)
	if last := slices.Max(list); m.sizes == "" {
		for k := 1; k < most; k *= 2 {
			if k > last {
				list = append(list, k)
			}
		}
		list = append(list, most)
	}
	list = slices.DeleteFunc(list, func(k int) bool { return k > most })
	if len(list) == 0 {
		return nil, fmt.Errorf("--max-size %s: no size of --sizes is that short", m.maxSize)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// grid returns the sizes that are measured unless flags say otherwise.
func (m *measure) grid() []int {
	if m.platform == job.TCP && !m.here.apart() {
		return microbench.LongSizes
	}
	if isHere(m.platform) || m.platform == probe.Platform {
		return microbench.LogSizes
	}
	return microbench.DefaultSizes
}

// chooseModes returns the modes to measure: of all, those that the forced protocol can serve.
func (m *measure) chooseModes(job *job.Job) ([]string, error) {
	messages := job != nil && job.Library.CarriedBy().Messages
	if *m.level == "message" {
		if job != nil && !messages {
			return nil, fmt.Errorf("--level message: the library %s has no low-level messages, as its engine %s has none; leave it out", job.Library.Name, job.Library.CarriedBy().Name)
		}
		if m.modes != "all" {
			return nil, errors.New("--modes: low-level messages have none; leave it out with --level message")
		}
		return []string{microbench.Message}, nil
	}
	if m.forced() != "" {
		if err := protocol(m.forced()); err != nil {
			return nil, err
		}
	}
	if m.modes != "all" {
		list, known := words(m.modes), append(microbench.Modes(), microbench.Message)
		for _, mode := range list {
			if meant := table.Meant(mode, known); meant != "" && !slices.Contains(known, mode) {
				return nil, fmt.Errorf("--modes: there is no mode %q; did you mean %s? There are %s", mode, meant, strings.Join(known, ", "))
			}
		}
		return list, nil
	}
	list := m.served(microbench.Modes())
	if messages && !job.Real() && m.forced() == "" && *m.level == "both" {
		list = append(list, microbench.Message)
	}
	return list, nil
}

// auto is the protocol that stands for the library's own choice.
const auto = "auto"

// forced returns the protocol that is forced; "" if the library chooses.
func (m *measure) forced() string {
	if m.protocol == auto {
		return ""
	}
	return m.protocol
}

// served returns those modes that the forced protocol can serve.
func (m *measure) served(modes []string) []string {
	var out []string
	for _, mode := range modes {
		if (&microbench.Plan{Modes: []string{mode}, Sizes: []int{0}, Reps: 1, Protocol: m.forced()}).Check() == nil {
			out = append(out, mode)
		}
	}
	return out
}

// set makes a data set of the series.
func (m *measure) set(cmd *cobra.Command, job *job.Job, plan *microbench.Plan, series []sample.Series) *sample.Set {
	on := job.Platform.Machine
	p1, p2 := plan.Pair[0], plan.Pair[1]
	pair := fmt.Sprintf("%d %d", p1, p2)
	if m.all() {
		pair = sample.AllPairsValue
	}
	for i := range series {
		k := &series[i].Key
		k.Platform, k.Library, k.Clock, k.Protocol = on.Name, job.Library.Name, job.Clock(), "auto"
		if k.Place == "" {
			k.Place = job.Place(p1, p2)
		}
		if m.forced() != "" {
			k.Protocol = m.forced()
		}
	}
	set := &sample.Set{Series: series, Facts: append(m.head(cmd, job), sample.Fact{Key: sample.PairFact, Value: pair})}
	if !job.Real() {
		set.Facts = append(set.Facts, m.emulation(job, plan.Reps, plan.WarmupRounds)...)
	}
	set.Facts = append(set.Facts, []sample.Fact{
		{Key: sample.RootsFact, Value: "2"},
		{Key: sample.ResolutionFact, Value: on.Timer.MicrosString()},
	}...)
	if place := onePlace(job); m.all() && place != "" {
		set.Facts = append(set.Facts, sample.Fact{Key: sample.OnePlaceFact, Value: place})
	}
	set.Facts = append(set.Facts, m.drawn(job.Ranks)...)
	return set
}

// drawn says how many pairs were measured, if not all.
func (m *measure) drawn(ranks int) []sample.Fact {
	if n := ranks * (ranks - 1) / 2; m.all() && n > most {
		return []sample.Fact{{Key: "pairs_drawn", Value: fmt.Sprintf("%d of %d, of ranks drawn at random", len(m.every(ranks)), n)}}
	}
	return nil
}

// onePlace returns the place of all pairs of ranks, or "" if they are in several.
func onePlace(job *job.Job) string {
	place := job.Place(0, job.Ranks-1)
	for a := range job.Ranks {
		for b := range a {
			if job.Place(b, a) != place {
				return ""
			}
		}
	}
	return place
}

// write saves or prints the samples, and prints what they say.
func (m *measure) write(cmd *cobra.Command, job *job.Job, plan *microbench.Plan, set *sample.Set) error {
	set.Facts = append(set.Facts, m.spoiled.facts()...)
	if m.bare() {
		return m.keep(cmd, set)
	}
	out := cmd.OutOrStdout()
	result, err := fit.Fit(set, clean.Options{})
	if err != nil {
		return err
	}
	if err := m.keep(cmd, set); err != nil {
		return err
	}
	if byRealClock(set) {
		if m.forced() != "" {
			fmt.Fprintf(out, "Parameters are of the library's own choice of protocols. -o keeps the times of %s, to compare them with predictions: 'loggp compare --samples FILE --params FILE'.\n\n", m.forced())
		}
		return text(cmd, reports.Measured(set, result))
	}
	if err := text(cmd, reports.Measured(set, result)); err != nil || m.forced() == "" {
		return err
	}
	w := way{job.Platform, job.Ranks, plan.Pair}
	if m.all() {
		w.pair = everywhere
	}
	steps, err := compare.ComparePredictions(set, nil, bySteps([]way{w}))
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	return text(cmd, reports.Comparisons(steps))
}

// bare says whether samples alone are printed.
func (m *measure) bare() bool {
	return m.output == standard || m.output == "" && (*m.format == "csv" || *m.format == "json")
}

// keep saves the samples, or prints them where that is asked for.
func (m *measure) keep(cmd *cobra.Command, set *sample.Set) error {
	write := sample.Write
	if *m.format == "json" || *m.format != "csv" && extension(m.output) == ".json" {
		write = sample.WriteJSON
	}
	switch {
	case m.output != "":
		return save(cmd, m.output, set, write)
	case m.bare():
		return write(cmd.OutOrStdout(), set)
	}
	return nil
}

// emulation returns the facts of an emulated machine.
func (m *measure) emulation(job *job.Job, reps, warmup int) []sample.Fact {
	return []sample.Fact{
		{Key: "seed", Value: strconv.FormatUint(m.seed, 10)},
		{Key: sample.NoiseFact, Value: unit.Percent(job.Noise) + " relative standard deviation of every processor step"},
		{Key: "reps", Value: strconv.Itoa(reps)},
		{Key: "warmup", Value: strconv.Itoa(warmup)},
	}
}

// head returns the facts with which every data set begins.
func (m *measure) head(cmd *cobra.Command, job *job.Job) []sample.Fact {
	facts := []sample.Fact{
		{Key: "loggp", Value: version()},
		{Key: "command", Value: recall(cmd)},
		{Key: "platform", Value: job.Platform.Machine.Description},
	}
	facts = append(facts, m.origin(job)...)
	return append(facts, sample.Fact{Key: "library", Value: job.Library.Description}, sample.Fact{Key: sample.RanksFact, Value: strconv.Itoa(job.Ranks)})
}

// save writes samples to a file, and says so.
func save(cmd *cobra.Command, file string, set *sample.Set, write func(io.Writer, *sample.Set) error) error {
	if err := keep(cmd, file, func(w io.Writer) error { return write(w, set) }, "%d samples", set.SampleCount()); err != nil {
		return fmt.Errorf("samples: %w", err)
	}
	return nil
}

// parseNoise returns the noise that a flag asks for, or world.PlatformNoise.
func parseNoise(s string) (float64, error) {
	switch s {
	case "on":
		return job.PlatformNoise, nil
	case "off":
		return 0, nil
	}
	x, err := unit.ParsePercent(s)
	if err != nil {
		return 0, fmt.Errorf("--noise: on, off, or a percentage: %w", err)
	}
	if x < 0 || x > 0.4 {
		return 0, fmt.Errorf("--noise %s: it must be from 0%% to 40%%, so that no step takes less than no time", s)
	}
	return x, nil
}

func inRange(flag string, n, low, high int) error {
	if n < low || n > high {
		return fmt.Errorf("%s %d: it must be from %d to %d", flag, n, low, high)
	}
	return nil
}
