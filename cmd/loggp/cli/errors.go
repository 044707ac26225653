// Package cli has what all verbs of the command need of a command line: flags that parse into
// options, files that are checked before a verb works and are written whole or not at all,
// documents printed in the format that was asked for, and errors of usage. It knows no verb.
package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// usageError is an error in how a command was called.
type usageError struct {
	command string // "": the one that returns the error
	err     error
}

func (u *usageError) Error() string { return u.err.Error() }
func (u *usageError) Unwrap() error { return u.err }

// Usage makes an error one of usage. It returns nil for nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err: err}
}

// Usagef returns an error of usage.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// UsageOf returns an error in how cmd was called, for another command to return.
func UsageOf(cmd *cobra.Command, err error) error {
	return &usageError{cmd.CommandPath(), err}
}

// IsUsage reports whether an error is one of usage.
func IsUsage(err error) bool { return errors.As(err, new(*usageError)) }

// MisusedCommand returns the command that an error of usage is about, if cmd returned it.
func MisusedCommand(cmd *cobra.Command, err error) string {
	var u *usageError
	if errors.As(err, &u) && u.command != "" {
		return u.command
	}
	return cmd.CommandPath()
}

// RejectFlags refuses flags that have no effect here, and says why by a format with the name of the
// flag.
func RejectFlags(cmd *cobra.Command, format string, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return Usagef(format, name)
		}
	}
	return nil
}

// CheckRange checks the number of a flag.
func CheckRange(flag string, n, low, high int) error {
	if n < low || n > high {
		return Usagef("%s %d: it must be from %d to %d", flag, n, low, high)
	}
	return nil
}

// PrintLines prints a line for each item, after a prefix, on standard error.
func PrintLines[T any](cmd *cobra.Command, prefix string, items []T) {
	for _, x := range items {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s%v\n", prefix, x)
	}
}
