package main

import (
	"fmt"
	"os"
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

With --show it prints the command and does not call it; with --showme:compile and --showme:link, what it adds, for build systems that ask.`,
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

With --show it prints the command and does not call it; with --showme:compile and --showme:link, what it adds, for build systems that ask.`,
		Example: `  loggp fc -O2 hello.f90 -o hello
  loggp run --platform t3d -n 4 ./hello`,
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, args []string) error { return compile(cmd, args, toolchain.NewFortran) },
	}
}

// compile calls the compiler with the arguments of the verb.
func compile(cmd *cobra.Command, args []string, compiler func() (*toolchain.Compiler, error)) error {
	if len(args) == 0 {
		return misuse(cmd, fmt.Errorf("say what to compile: loggp %s", strings.ReplaceAll(cmd.Use, "[--show] [COMPILER OPTIONS] ", "")))
	}
	if args[0] == "--help" || args[0] == "-h" {
		return cmd.Help()
	}
	c, err := compiler()
	if err != nil {
		return err
	}
	var shown []string
	switch args[0] {
	case "--show", "-show", "-showme", "--showme":
		shown = c.Command(cmd.Context(), args[1:]).Args
	case "-showme:compile", "--showme:compile", "-compile-info", "-compile_info":
		shown = c.CompileOptions()
	case "-showme:link", "--showme:link", "-link-info", "-link_info":
		shown = c.LinkOptions()
	default:
		x := c.Command(cmd.Context(), args)
		x.Stdin, x.Stdout, x.Stderr = os.Stdin, cmd.OutOrStdout(), cmd.ErrOrStderr()
		if err := x.Run(); err != nil {
			return fmt.Errorf("%s: %w", x.Args[0], err)
		}
		return nil
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.Join(shown, " "))
	return err
}
