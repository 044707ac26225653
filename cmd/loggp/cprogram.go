package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/program/cprog"
	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/timeline"
)

// cprogram has the flags for programs in C.
type cprogram struct {
	compute, stack, limit string
	tag                   bool
}

func (c *cprogram) flags(f *pflag.FlagSet) {
	f.SetInterspersed(false)
	f.StringVar(&c.compute, "compute", "none", "C programs: virtual time of computing between calls: none, measured, measured*FACTOR, or a clock rate such as 150MHz")
	f.StringVar(&c.stack, "stack", "8MiB", "C programs: stack of each rank")
	f.StringVar(&c.limit, "limit", "", "C programs: real time that a rank may compute without a call (default: any)")
	f.BoolVar(&c.tag, "tag-output", false, "C programs: begin each line of output with the rank")
}

// program returns a program that is set up by the flags.
func (c *cprogram) program(path string, args []string) (*cprog.Program, error) {
	p := &cprog.Program{Path: path, Arguments: args, Tag: c.tag}
	var err error
	p.Compute, err = parseCompute(c.compute)
	stack, wrong := unit.ParseSize(c.stack)
	if p.Stack = stack; wrong != nil || stack < 16<<10 || stack > 1<<32 {
		err = errors.Join(err, fmt.Errorf("--stack %s: it is a size from 16KiB to 4GiB", c.stack))
	}
	if c.limit != "" {
		limit, wrong := unit.ParseTime(c.limit)
		if p.Limit = time.Duration(limit / unit.Nanosecond); wrong != nil || p.Limit <= 0 {
			err = errors.Join(err, fmt.Errorf("--limit %s: it is a time such as 10s", c.limit))
		}
	}
	return p, err
}

// parseCompute returns what --compute says.
func parseCompute(s string) (cprog.Compute, error) {
	switch s {
	case "none":
		return cprog.Compute{}, nil
	case "measured":
		return cprog.Compute{Factor: 1}, nil
	}
	if factor, ok := strings.CutPrefix(s, "measured*"); ok {
		if x, err := strconv.ParseFloat(factor, 64); err == nil && x > 0 && x < 1e9 {
			return cprog.Compute{Factor: x}, nil
		}
	} else if rate, err := parseClock(s); err == nil && rate >= 1 && rate <= 1e15 {
		return cprog.Compute{Rate: rate}, nil
	}
	return cprog.Compute{}, fmt.Errorf("--compute %s: it is none, measured, measured*FACTOR with a factor such as 2.5, or a clock rate such as 150MHz", s)
}

// parseClock returns a clock rate in cycles a second, which is in Hz if it has no unit.
func parseClock(s string) (float64, error) {
	number, times := s, 1.0
	for _, u := range []struct {
		name  string
		times float64
	}{{"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}, {"Hz", 1}} {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			number, times = strings.TrimSpace(n), u.times
			break
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	return x * times, err
}

// onlyBuiltIn are the flags that programs in C do not have.
var onlyBuiltIn = []string{"size", "rounds", "class", "operation", "stride", "root", "picture"}

// runC runs a program in C.
func (r *runs) runC(cmd *cobra.Command, args []string) error {
	for _, name := range onlyBuiltIn {
		if cmd.Flags().Changed(name) {
			return misuse(cmd, fmt.Errorf("--%s is for programs that ship with loggp: arguments of %s stand behind it", name, args[0]))
		}
	}
	if r.platform == "" {
		return misuse(cmd, fmt.Errorf("--platform: say on what to run: %s, a file, or loggp:PARAMETERS", strings.Join(platform.Names(), ", ")))
	}
	if slices.Contains(job.Here, r.platform) && cmd.Flags().Changed("compute") {
		return misuse(cmd, fmt.Errorf("--compute: it is for emulated machines, and %s is this one: computing takes its own time", r.platform))
	}
	r.output = os.Stdout
	known, open, err := r.machine(cmd, false)
	if err != nil {
		return err
	}
	job, _, err := r.set(known, portable.Settings{Size: 1, Rounds: 1}, largest, open) // settings that it does not use
	if err != nil {
		return misuse(cmd, err)
	}
	if err := errors.Join(r.recorder(cmd, job), r.courseOf(cmd, job)); err != nil {
		return err
	}
	p, err := r.c.program(args[0], args[1:])
	if err != nil {
		return misuse(cmd, err)
	}
	p.Context, p.Real = cmd.Context(), job.Real()
	p.Stdout, p.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	main, err := p.Main()
	if err != nil {
		return err
	}
	defer p.Close()
	out := cmd.OutOrStdout()
	cmd.SetOut(cmd.ErrOrStderr())
	defer cmd.SetOut(out)
	begin := time.Now()
	name := filepath.Base(args[0])
	if job.Real() {
		ends, err := r.timed(cmd, name, job, main)
		if err != nil {
			return err
		}
		return errors.Join(show(cmd, timeline.EndTimes(fmt.Sprintf("%s, %d ranks, on %s, %s", name, job.Ranks, r.platform, job.Library.Name), "Computing takes its own time.", ends)), p.Status())
	}
	record, err := job.Record(cmd.Context(), r.seed, r.protocol, r.most(), main)
	if err != nil {
		return fmt.Errorf("%s on %s: %w", name, job.Platform.Machine.Name, err)
	}
	note := "Computing takes no time; --compute measured charges the time that it takes here."
	switch {
	case p.Compute.Rate > 0:
		note = fmt.Sprintf("Computing takes as many cycles as here, at %s: %.3g times the time that it takes here.", r.c.compute, p.Compute.Factor)
	case p.Compute.Factor > 0:
		note = fmt.Sprintf("Computing takes %g times the time that it takes here.", p.Compute.Factor)
	}
	document := timeline.RunTimes(fmt.Sprintf("%s, %d ranks, on %s, %s", name, job.Ranks, job.Platform.Machine.Name, job.Library.Name), note, record, r.profile)
	if err := show(cmd, document); err != nil {
		return err
	}
	if err := errors.Join(r.keep(cmd, job), r.writeRun(cmd, args, job, record, document)); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "emulated in %v\n", time.Since(begin).Round(time.Millisecond))
	return p.Status()
}
