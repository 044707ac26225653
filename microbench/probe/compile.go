package probe

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed program/*.c
var source embed.FS

// compiledProgram is the program, compiled.
type compiledProgram struct {
	directory       string // all that is written is there
	compilerPath    string // its path
	compilerVersion string // its first line
	programPath     string // its path
	options         []string
}

// Options of the compiler: those that it always has, and one where collective operations are
// measured.
var (
	compilerOptions   = []string{"-std=c99", "-O1"}
	collectivesOption = "-DCOLLECTIVES"
)

// compileProgram compiles the program.
func compileProgram(ctx context.Context, dir string, s Settings, options ...string) (*compiledProgram, error) {
	compiler, err := FindCompiler(s.Compiler)
	if err != nil {
		return nil, err
	}
	b := &compiledProgram{directory: dir, compilerPath: compiler, programPath: filepath.Join(dir, "probe"), options: slices.Concat(compilerOptions, options)}
	if err := os.CopyFS(dir, source); err != nil {
		return nil, err
	}
	args := append([]string{compiler}, b.options...)
	compile := commandRunner{dir: dir, timeout: s.compilerTimeout}
	output, err := compile.run(ctx, append(args, "-o", b.programPath, filepath.Join("program", "probe.c")))
	if err == nil {
		_, err = os.Stat(b.programPath)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errTimeout):
		return nil, fmt.Errorf("%s has not compiled the program within %v (--timeout)%s", compiler, s.compilerTimeout, output.firstLines())
	case err != nil:
		return nil, fmt.Errorf("%s cannot compile the program: %w%s", compiler, err, output.firstLines())
	}
	output, err = compile.run(ctx, []string{compiler, "--version"})
	if lines := output.lines(); err == nil && len(lines) > 0 {
		b.compilerVersion = lines[0]
	}
	return b, ctx.Err()
}

// FindCompiler returns the path of an MPI compiler; "": $MPICC, or mpicc.
func FindCompiler(name string) (string, error) {
	if name == "" {
		name = os.Getenv("MPICC")
	}
	if name == "" {
		name = "mpicc"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("no MPI compiler: %w\nInstall an MPI with its compiler (Debian: openmpi-bin and libopenmpi-dev, or mpich and libmpich-dev; on a cluster: module load), or name it with --mpicc", err)
	}
	return filepath.Abs(path)
}

// findLauncher returns the launcher that was asked for, or that beside the compiler: mpirun.mpich
// for mpicc.mpich.
func findLauncher(asked []string, compiler string, ranks int) ([]string, error) {
	if len(asked) > 0 {
		if _, err := exec.LookPath(asked[0]); err != nil {
			return nil, fmt.Errorf("no launcher: %w\nName with --launcher what starts %d ranks, such as --launcher 'mpirun -n %[2]d' or --launcher 'srun -n %[2]d'", err, ranks)
		}
		return asked, nil
	}
	dir, base := filepath.Split(compiler)
	_, suffix, _ := strings.Cut(base, ".")
	if suffix != "" {
		suffix = "." + suffix
	}
	for _, name := range []string{"mpirun", "mpiexec"} {
		if path, err := exec.LookPath(dir + name + suffix); err == nil {
			return []string{path, "-n", strconv.Itoa(ranks)}, nil
		}
	}
	return nil, fmt.Errorf("no launcher: there is neither mpirun%s nor mpiexec%[1]s beside %s\nName with --launcher what starts %d ranks, such as --launcher 'mpirun -n %[3]d' or --launcher 'srun -n %[3]d'",
		suffix, compiler, ranks)
}
