package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// AddCompletionCommand adds cobra's command completion, which writes to the output that root has.
func AddCompletionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args, c.RunE = RejectUnknownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		for _, shell := range c.Commands() {
			shell.Args = NoArgs
		}
		ReportArgErrorsAsUsage(c)
	}
}

// HelpCommand prints the help of a command, and refuses a command that does not exist.
func HelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			about, rest, _ := root.Find(args)
			if about == nil {
				about, rest = root, args
			}
			if len(rest) > 0 {
				return RejectUnknownCommand(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// CheckVerbExists complains of a verb that does not exist before its flags are found to be unknown.
func CheckVerbExists(root *cobra.Command, args []string) error {
	if cmd, rest, _ := root.Find(args); cmd == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && !strings.HasPrefix(rest[0], "__") &&
		rest[0] != "help" && rest[0] != "completion" {
		return RejectUnknownCommand(root, rest)
	}
	return nil
}
