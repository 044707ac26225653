// Package mpitracer builds a tracer for programs with any MPI: a library that is loaded before the
// program (LD_PRELOAD) and records each communication call by MPI's profiling interface. Package
// model/trace reads the records.
package mpitracer

import (
	"context"
	_ "embed" // the source
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/loggp/loggp/microbench/probe"
)

//go:embed library/tracer.c
var source []byte

// compilerOptions are the compiler options for the library.
var compilerOptions = []string{"-std=c11", "-O1", "-shared", "-fPIC"}

// Build compiles the tracer with an MPI compiler ("": $MPICC, or mpicc), and writes it to a file.
// The library works with programs of the same MPI.
func Build(ctx context.Context, compiler, file string) (err error) {
	path, err := probe.FindCompiler(compiler)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "loggp-tracer")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	text, library := filepath.Join(dir, "tracer.c"), filepath.Join(dir, "tracer.so")
	if err := os.WriteFile(text, source, 0o600); err != nil {
		return err
	}
	args := append(append([]string{}, compilerOptions...), "-o", library, text)
	output, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		const shown = 2000
		return fmt.Errorf("%s cannot compile the tracer: %w\n%.*s", path, err, shown, strings.TrimSpace(string(output)))
	}
	made, err := os.ReadFile(library)
	if err != nil {
		return err
	}
	return os.WriteFile(file, made, 0o755)
}
