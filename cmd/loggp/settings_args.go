package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// settingFlags take a variable and its value as two arguments, as mpirun and mpiexec do.
var settingFlags = []string{"--mca", "--genv"}

// joinSettings puts the variable and the value behind each setting flag of run into one argument,
// NAME=VALUE. Arguments behind the program are its own.
func joinSettings(root *cobra.Command, args []string) []string {
	verb, _, err := root.Find(args)
	if err != nil || verb.Name() != "run" {
		return args
	}
	var joined []string
	for i := 0; i < len(args); i++ {
		joined = append(joined, args[i])
		switch isFlag := strings.HasPrefix(args[i], "-") && len(args[i]) > 1; {
		case !isFlag && i > 0, args[i] == "--":
			return append(joined, args[i+1:]...)
		case !isFlag || i+1 == len(args):
		case slices.Contains(settingFlags, args[i]) && i+2 < len(args) && !strings.Contains(args[i+1], "="):
			joined = append(joined, args[i+1]+"="+args[i+2])
			i += 2
		case takesArgument(verb.Flags(), args[i]):
			joined = append(joined, args[i+1])
			i++
		}
	}
	return joined
}

// takesArgument reports whether the argument behind a flag is its value.
func takesArgument(flags *pflag.FlagSet, arg string) bool {
	name, isLong := strings.CutPrefix(arg, "--")
	f := flags.Lookup(name)
	if !isLong {
		f = flags.ShorthandLookup(arg[len(arg)-1:])
		if len(arg) > 2 && flags.ShorthandLookup(arg[1:2]) != nil && flags.ShorthandLookup(arg[1:2]).NoOptDefVal == "" {
			return false // -n4
		}
	}
	return f != nil && f.NoOptDefVal == ""
}
