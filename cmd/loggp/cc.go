package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

func ccCommand() *cobra.Command {
	return compilerCommand(&cobra.Command{
		Use:   "cc [--show | --install DIRECTORY] [COMPILER OPTIONS] FILE.c -o PROGRAM",
		Short: "Compile a C program that calls MPI, for 'loggp run'",
		Long: `cc calls the C compiler (environment variable CC, or cc) with the flags, mpi.h and start-up code
that programs for 'loggp run' need, as mpicc does. It passes all other arguments to the compiler. A
function that loggp does not provide is an undefined reference when the program is linked;
docs/c-reference.md lists those that are missing. With -shared it links a shared library, of which
each rank has its own copy.

With --show it prints the command without running it; with --showme:compile and --showme:link, and
the like of Open MPI and MPICH, it prints what it adds, for build systems.

With --install it writes the compilers as commands of one word into a directory: loggp-mpicc,
loggp-mpicxx, loggp-mpifort and loggp-mpiexec, with links mpicc, mpicxx, mpifort, mpiexec and the
other usual names, and files for pkg-config in its directory pkgconfig. With the directory first in
PATH, CMake, autoconf and meson find them.`,
		Example: `  loggp cc -O2 hello.c -o hello
  loggp run --platform t3d -n 4 ./hello
  loggp cc --install bin`,
	}, toolchain.New)
}

func cxxCommand() *cobra.Command {
	return compilerCommand(&cobra.Command{
		Use:     "c++ [--show] [COMPILER OPTIONS] FILE.cpp -o PROGRAM",
		Aliases: []string{"cxx"},
		Short:   "Compile a C++ program that calls MPI, for 'loggp run'",
		Long: `c++ calls the C++ compiler (environment variable CXX, or c++) as 'loggp cc' calls that of C. The
library of C++ is linked statically where there is one for that, so that each rank has its own
streams.

With --show it prints the command without running it; with --showme:compile and --showme:link it
prints what it adds, for build systems.`,
		Example: `  loggp c++ -O2 hello.cpp -o hello
  loggp run --platform t3d -n 4 ./hello`,
	}, toolchain.NewCXX)
}

func fcCommand() *cobra.Command {
	return compilerCommand(&cobra.Command{
		Use:   "fc [--show] [COMPILER OPTIONS] FILE.f90 -o PROGRAM",
		Short: "Compile a Fortran program that calls MPI, for 'loggp run'",
		Long: `fc calls gfortran (or the compiler that the environment variable FC names) with the flags, mpif.h,
module mpi and start-up code that programs for 'loggp run' need, as mpifort does. It passes all
other arguments to the compiler. A procedure that loggp does not provide is an undefined reference
when the program is linked; docs/c-reference.md lists those that are missing.

With --show it prints the command without running it; with --showme:compile and --showme:link it
prints what it adds, for build systems.`,
		Example: `  loggp fc -O2 hello.f90 -o hello
  loggp run --platform t3d -n 4 ./hello`,
	}, toolchain.NewFortran)
}

// compilerCommand completes the command of a compiler, which takes the compiler's flags.
func compilerCommand(cmd *cobra.Command, compiler func(context.Context) (*toolchain.Compiler, error)) *cobra.Command {
	cmd.DisableFlagParsing = true
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return runCompiler(cmd, args, compiler) }
	return cmd
}

// runCompiler calls the compiler with the arguments of the verb.
func runCompiler(cmd *cobra.Command, args []string, compiler func(context.Context) (*toolchain.Compiler, error)) error {
	if len(args) > 0 && args[0] == "--install" && cmd.Name() == "cc" {
		return installCompilerWrappers(cmd, args[1:])
	}
	if len(args) == 0 {
		return cli.Usagef("say what to compile: loggp %s", usageOptionsPattern.ReplaceAllString(cmd.Use, ""))
	}
	if args[0] == "--help" || args[0] == "-h" {
		return cmd.Help()
	}
	c, err := compiler(cmd.Context())
	if err != nil {
		return err
	}
	if shown := c.AnswerShowOption(cmd.Context(), args, moduleVersion()); shown != nil {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.Join(shown, " "))
		return err
	}
	x := c.Command(cmd.Context(), args)
	x.Stdin, x.Stdout, x.Stderr = os.Stdin, cmd.OutOrStdout(), cmd.ErrOrStderr()
	if f, ok := cli.UnderlyingFile(x.Stdout); ok {
		x.Stdout = f
	}
	if err := x.Run(); err != nil {
		return fmt.Errorf("%s: %w", x.Args[0], err)
	}
	return nil
}

// usageOptionsPattern is what a use has between the verb and what is compiled.
var usageOptionsPattern = regexp.MustCompile(`\[.*\] `)

// installCompilerWrappers writes the compilers as commands of one word.
func installCompilerWrappers(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		return cli.Usagef("--install takes one directory")
	}
	loggp, err := os.Executable()
	if err != nil {
		return err
	}
	names, err := toolchain.InstallWrappers(cmd.Context(), args[0], loggp, moduleVersion())
	if err != nil {
		return fmt.Errorf("--install %s: %w", args[0], err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s has %s\n", args[0], strings.Join(names, ", "))
	return err
}
