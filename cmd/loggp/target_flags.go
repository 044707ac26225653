package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/model/platform"
)

// targetFlags has the flags that say what a verb is about: a machine, a library on it, and its
// ranks. A value that is set before the flags are declared is the flag's default.
type targetFlags struct {
	platform, library, rankPairPlace string
	ranks                            int
	seed                             uint64
}

// helpTextByFlag has the help of the flags that a verb declares; "" is the usual help of a flag.
type helpTextByFlag map[string]string

// targetFlagHelp is the help of the flags of a target.
var targetFlagHelp = helpTextByFlag{
	"platform": "machine: a name of 'loggp platforms', a file, or loggp:PARAMETERS",
	"library":  "library on the machine (default: its first)",
	"ranks":    "number of ranks (default: the platform's)",
	"place":    "pair of ranks: intra, in one node; inter, in two; or two ranks such as 0,3 (default: the first and the last)",
	"seed":     "seed of the random numbers",
}

// buffersHelp is the help of --buffers.
const buffersHelp = "buffers in the memory of GPUs: registered, accessed by interfaces, or staged through host memory (default: as --platform says)"

// Platforms that flags complete.
var (
	emulatedPlatformNames = platform.Names()
	runnablePlatformNames = slices.Concat(emulatedPlatformNames, job.LocalPlatforms)
	allPlatformNames      = append(slices.Clone(runnablePlatformNames), probe.PlatformName)
)

// addFlags declares the flags that the help names; platforms are those that --platform completes.
func (t *targetFlags) addFlags(cmd *cobra.Command, help helpTextByFlag, platforms []string) {
	f := cmd.Flags()
	for name, text := range help {
		if text == "" {
			text = targetFlagHelp[name]
		}
		switch name {
		case "platform":
			f.StringVar(&t.platform, name, t.platform, text)
			addFlagCompletion(cmd, name, platforms)
		case "library":
			f.StringVar(&t.library, name, t.library, text)
		case "ranks":
			f.IntVarP(&t.ranks, name, "n", t.ranks, text)
		case "place":
			f.StringVar(&t.rankPairPlace, name, t.rankPairPlace, text)
			addFlagCompletion(cmd, name, loggp.Places)
		case "seed":
			if t.seed == 0 {
				t.seed = 1
			}
			f.Uint64Var(&t.seed, name, t.seed, text)
		default:
			panic("cmd/loggp: --" + name + " is not a flag of a target")
		}
	}
}
