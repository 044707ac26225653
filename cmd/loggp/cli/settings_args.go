package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nameValueFlags are flags of run that take a variable and its value as two arguments, as those of
// mpirun and mpiexec do.
var nameValueFlags = []string{"--mca", "--genv"}

// JoinNameValueArgs joins the variable and the value after each of nameValueFlags to one argument,
// NAME=VALUE. Arguments behind the program are its own.
func JoinNameValueArgs(root *cobra.Command, args []string) []string {
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
		case slices.Contains(nameValueFlags, args[i]) && strings.Contains(args[i+1], " "): // quoted as one
			name, value, _ := strings.Cut(args[i+1], " ")
			joined = append(joined, name+"="+strings.TrimSpace(value))
			i++
		case slices.Contains(nameValueFlags, args[i]) && i+2 < len(args) && !strings.Contains(args[i+1], "=") && !isLongFlag(args[i+2]):
			joined = append(joined, args[i+1]+"="+args[i+2])
			i += 2
		case takesValue(verb.Flags(), args[i]):
			joined = append(joined, args[i+1])
			i++
		}
	}
	return joined
}

// isLongFlag reports whether an argument is a flag, and no negative number.
func isLongFlag(arg string) bool {
	return strings.HasPrefix(arg, "-") && strings.Trim(arg, "-0123456789.") != ""
}

// takesValue reports whether the argument after a flag is its value.
func takesValue(flags *pflag.FlagSet, arg string) bool {
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
