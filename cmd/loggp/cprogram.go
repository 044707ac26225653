package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loggp/loggp/impl/cprog"
	"github.com/loggp/loggp/impl/portable"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/recording"
)

// cprogram has the flags for programs in C.
type cprogram struct {
	compute, stack, limit string
	tag                   bool
}

func (c *cprogram) flags(f *pflag.FlagSet) {
	f.SetInterspersed(false)
	f.StringVar(&c.compute, "compute", "none", "C programs: what computing between calls takes: none, or measured, or measured*FACTOR")
	f.StringVar(&c.stack, "stack", "8MiB", "C programs: stack of each rank")
	f.StringVar(&c.limit, "limit", "", "C programs: real time that a rank may compute without a call (default: any)")
	f.BoolVar(&c.tag, "tag-output", false, "C programs: begin each line of output with the rank")
}

// program returns a program that is set up by the flags.
func (c *cprogram) program(path string, args []string) (*cprog.Program, error) {
	p := &cprog.Program{Path: path, Arguments: args, Tag: c.tag}
	var err error
	if c.compute != "none" {
		factor, ok := strings.CutPrefix(c.compute, "measured")
		p.Compute.Factor = 1
		if factor != "" && ok {
			var wrong error
			factor, ok = strings.CutPrefix(factor, "*")
			p.Compute.Factor, wrong = strconv.ParseFloat(factor, 64)
			ok = ok && wrong == nil && p.Compute.Factor > 0 && p.Compute.Factor < 1e9
		}
		if !ok {
			err = fmt.Errorf("--compute %s: it is none, measured, or measured*FACTOR with a factor such as 2.5", c.compute)
		}
	}
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
	if isHere(r.platform) && cmd.Flags().Changed("compute") {
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
			return p.Explain(err)
		}
		return show(cmd, recording.Ends(fmt.Sprintf("%s, %d ranks, on %s, %s", name, job.Ranks, r.platform, job.Library.Name), "Computing takes its own time.", ends))
	}
	record, err := job.Record(cmd.Context(), r.seed, r.protocol, r.most(), main)
	if err != nil {
		return fmt.Errorf("%s on %s: %w", name, job.Platform.Machine.Name, p.Explain(err))
	}
	note := "Computing takes no time: --compute measured charges what it takes here."
	if f := p.Compute.Factor; f > 0 {
		note = fmt.Sprintf("Computing takes %g times what it takes here.", f)
	}
	document := recording.Run(fmt.Sprintf("%s, %d ranks, on %s, %s", name, job.Ranks, job.Platform.Machine.Name, job.Library.Name), note, record, r.profile)
	if err := show(cmd, document); err != nil {
		return err
	}
	if err := errors.Join(r.keep(cmd, job), r.writeRun(cmd, args, job, record, document)); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "emulated in %v\n", time.Since(begin).Round(time.Millisecond))
	return nil
}
