package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// nameFlagOfOption turns the error of an option into an error of usage that names the flag.
func nameFlagOfOption(err error) error {
	if o, is := err.(*loggp.OptionError); is {
		return cli.Usage(errors.New(o.Text(flagNameOfOption)))
	}
	return err
}

// flagNameOfOption returns the flag of an option, such as --per-node of PerNode.
func flagNameOfOption(field string) string {
	if rest, negated := strings.CutPrefix(field, "No"); negated && unicode.IsUpper(rune(rest[0])) {
		field = rest // the option turns off what the flag has on
	}
	field = strings.Replace(field, "LogGOPS", "Loggops", 1)
	var b strings.Builder
	b.WriteString("--")
	for i, r := range field {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(rune(field[i-1])) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// targetFlags declares the flags that say what a verb is about: a machine, a library on it, and its
// ranks. A verb declares those whose options it names; their values are the defaults.
type targetFlags struct {
	platform, library, place *string
	ranks                    *int
	seed                     *uint64

	platforms              []string // that --platform completes
	platformHelp, rankHelp string   // "": the usual help
}

// addFlags declares the flags.
func (t targetFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	if t.platform != nil {
		f.StringVar(t.platform, "platform", *t.platform, cmp.Or(t.platformHelp, "machine: a name of 'loggp platforms', a file, or loggp:PARAMETERS"))
		cli.AddCompletion(cmd, "platform", t.platforms)
	}
	if t.library != nil {
		f.StringVar(t.library, "library", *t.library, "library on the machine (default: its first)")
	}
	if t.ranks != nil {
		f.IntVarP(t.ranks, "ranks", "n", *t.ranks, cmp.Or(t.rankHelp, "number of ranks (default: the platform's)"))
	}
	if t.place != nil {
		f.StringVar(t.place, "place", *t.place, "pair of ranks: intra, in one node; inter, in two; or two ranks such as 0,3 (default: the first and the last)")
		cli.AddCompletion(cmd, "place", loggp.Places)
	}
	if t.seed != nil {
		f.Uint64Var(t.seed, "seed", 1, "seed of the random numbers")
	}
}

// Platforms that flags complete.
var (
	emulatedPlatformNames = platform.Names()
	runnablePlatformNames = slices.Concat(emulatedPlatformNames, job.LocalPlatforms)
	allPlatformNames      = append(slices.Clone(runnablePlatformNames), probe.PlatformName)
)

// warningPrefix marks a warning on standard error.
const warningPrefix = "loggp: warning: "

// Helps of flags of several verbs.
const (
	buffersHelp = "buffers in the memory of GPUs: registered, accessed by interfaces, or staged through host memory (default: as --platform says)"
	paramsHelp  = "file of parameters, as 'loggp fit -o' writes them"
	noiseHelp   = "timing noise: on (that of the platform), off, or a relative standard deviation such as 5%"
)

// addModeFlag adds the flag of a send mode, which is named by a call of MPI. The name of the mode,
// such as synchronous, is accepted for its blocking call.
func addModeFlag(cmd *cobra.Command, mode *string, calls []string, help string) {
	aliases := map[string]string{}
	for m, call := range loggp.SendCalls {
		aliases[model.Mode(m).String()] = call
	}
	cli.AddChoice(cmd, mode, "mode", calls, loggp.SendCalls[model.StandardMode], help, aliases)
}

// parseNoise returns the relative noise that --noise asks for, or job.PlatformNoise.
func parseNoise(text string) (float64, error) {
	switch text {
	case "on":
		return job.PlatformNoise, nil
	case "off":
		return 0, nil
	}
	x, err := unit.ParsePercent(text)
	if err != nil {
		return 0, fmt.Errorf("write on, off, or a percentage such as 5%%: %w", err)
	}
	if x < 0 || x > 0.4 {
		return 0, cli.ValueError("it must be from 0% to 40%, so that no step takes negative time")
	}
	return x, nil
}

// readParameters reads a file of parameters, or nothing without its name.
func readParameters(name string) (loggp.Parameters, error) {
	if name == "" {
		return loggp.Parameters{}, nil
	}
	return loggp.ReadParameters(name)
}

// readSchedule reads a schedule from a file or standard input.
func readSchedule(cmd *cobra.Command, name string) (*schedule.Schedule, error) {
	f, err := cli.OpenInput(cmd, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if name == cli.StandardStream {
		name = "standard input"
	}
	return loggp.ReadSchedule(f, name)
}

// writeSchedule writes a schedule to a file, or prints it.
func writeSchedule(cmd *cobra.Command, name string, s *schedule.Schedule) error {
	return cli.WriteFileOrPrint(cmd, name, s.Write, "schedule of %d operations in %d ranks", s.CountOps(), s.CountRanks())
}

// writeNetworkPicture writes the picture of a platform's network as SVG. load is that of its links;
// nil: it is not shown.
func writeNetworkPicture(cmd *cobra.Command, file string, p *platform.Platform, load map[string]float64) error {
	c, err := loggp.NetworkChart(p, load)
	if err != nil {
		return cli.Usagef("--picture %s: %w", file, err)
	}
	return cli.WriteChart(cmd, file, c, "picture of the network")
}

// writableNetworkPicture checks a file of writeNetworkPicture.
var writableNetworkPicture = cli.WritableWithExtension(".svg", "the picture of a network is an SVG file")
