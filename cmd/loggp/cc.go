package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

func ccCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cc [--show] [COMPILER OPTIONS] FILE.c -o PROGRAM",
		Short: "Compile a C program that calls MPI, for 'loggp run'",
		Long: `cc calls the C compiler (environment variable CC, or cc) with the flags, mpi.h and start-up code
that programs for 'loggp run' need, as mpicc does. It passes all other arguments to the compiler. A
function that loggp does not provide is an undefined reference when the program is linked; docs/c.md
lists the functions.

With --show it prints the command without running it; with --showme:compile and --showme:link it
prints what it adds, for build systems.`,
		Example: `  loggp cc -O2 hello.c -o hello
  loggp run --platform t3d -n 4 ./hello`,
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, args []string) error { return runCompiler(cmd, args, toolchain.New) },
	}
}

func fcCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fc [--show] [COMPILER OPTIONS] FILE.f90 -o PROGRAM",
		Short: "Compile a Fortran program that calls MPI, for 'loggp run'",
		Long: `fc calls gfortran (or the compiler that the environment variable FC names) with the flags, mpif.h,
module mpi and start-up code that programs for 'loggp run' need, as mpifort does. It passes all
other arguments to the compiler. A procedure that loggp does not provide is an undefined reference
when the program is linked; docs/c.md lists them.

With --show it prints the command without running it; with --showme:compile and --showme:link it
prints what it adds, for build systems.`,
		Example: `  loggp fc -O2 hello.f90 -o hello
  loggp run --platform t3d -n 4 ./hello`,
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, args []string) error { return runCompiler(cmd, args, toolchain.NewFortran) },
	}
}

// runCompiler calls the compiler with the arguments of the verb.
func runCompiler(cmd *cobra.Command, args []string, compiler func(context.Context) (*toolchain.Compiler, error)) error {
	if len(args) == 0 {
		return usageError(cmd, fmt.Errorf("say what to compile: loggp %s", strings.ReplaceAll(cmd.Use, "[--show] [COMPILER OPTIONS] ", "")))
	}
	if args[0] == "--help" || args[0] == "-h" {
		return cmd.Help()
	}
	c, err := compiler(cmd.Context())
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
		if f, ok := asFile(x.Stdout); ok {
			x.Stdout = f
		}
		if err := x.Run(); err != nil {
			return fmt.Errorf("%s: %w", x.Args[0], err)
		}
		return nil
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.Join(shown, " "))
	return err
}
