package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/cprog/toolchain"
)

func ccCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cc [--show] [COMPILER OPTIONS] FILE.c -o PROGRAM",
		Short: "Compile a C program that calls MPI, for 'loggp run'",
		Long: `cc calls the C compiler (that of the environment variable CC, or cc) with what programs for 'loggp run' need, as mpicc does: mpi.h, position-
independent code, and the code that each rank's copy of the program begins with. All other arguments are the compiler's. A function that loggp does
not have is an undefined reference when the program is linked. docs/c.md says which functions there are.

With --show it prints the command and does not call it.`,
		Example: `  loggp cc -O2 hello.c -o hello
  loggp run --platform t3d -n 4 ./hello`,
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, args []string) error { return compile(cmd, args, toolchain.New) },
	}
}

func fcCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fc [--show] [COMPILER OPTIONS] FILE.f90 -o PROGRAM",
		Short: "Compile a Fortran program that calls MPI, for 'loggp run'",
		Long: `fc calls gfortran (or the version of it that the environment variable FC names) with what programs for 'loggp run' need, as mpifort does: mpif.h
and module mpi, position-independent code, and the code that each rank's copy of the program begins with. All other arguments are the compiler's.
A procedure that loggp does not have is an undefined reference when the program is linked. docs/c.md says which there are.

With --show it prints the command and does not call it.`,
		Example: `  loggp fc -O2 hello.f90 -o hello
  loggp run --platform t3d -n 4 ./hello`,
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, args []string) error { return compile(cmd, args, toolchain.NewFortran) },
	}
}

// compile calls the compiler with the arguments of the verb.
func compile(cmd *cobra.Command, args []string, compiler func() (*toolchain.Compiler, error)) error {
	show := false
	if len(args) > 0 {
		switch args[0] {
		case "--help", "-h":
			return cmd.Help()
		case "--show", "-show":
			show, args = true, args[1:]
		}
	}
	if len(args) == 0 && !show {
		return misuse(cmd, fmt.Errorf("say what to compile: loggp %s", strings.ReplaceAll(cmd.Use, "[--show] [COMPILER OPTIONS] ", "")))
	}
	c, err := compiler()
	if err != nil {
		return err
	}
	command := c.Command(args)
	if show {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.Join(command, " "))
		return err
	}
	x := exec.CommandContext(cmd.Context(), command[0], command[1:]...)
	x.Stdin, x.Stdout, x.Stderr = os.Stdin, cmd.OutOrStdout(), cmd.ErrOrStderr()
	if err := x.Run(); err != nil {
		return fmt.Errorf("%s: %w", command[0], err)
	}
	return nil
}
