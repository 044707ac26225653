package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// wrapper is a compiler or launcher command of one word, which build systems expect.
type wrapper struct {
	name          string
	verb          string   // of loggp
	aliases       []string // links to it, with names of other MPI implementations
	pkgConfigName string   // its pkg-config file, and the end of the name of Open MPI's, for which meson asks; "": none
	compiler      func(context.Context) (*Compiler, error)
}

var wrappers = []wrapper{
	{"loggp-mpicc", "cc", []string{"mpicc"}, "c", New},
	{"loggp-mpicxx", "c++", []string{"mpicxx", "mpic++", "mpiCC"}, "cxx", NewCXX},
	{"loggp-mpifort", "fc", []string{"mpifort", "mpif90", "mpif77"}, "fort", NewFortran},
	{"loggp-mpiexec", "", []string{"mpiexec", "mpirun"}, "", nil},
}

// wrapperMark is contained in all files that InstallWrappers writes.
const wrapperMark = "Written by 'loggp cc --install'"

// script returns the text of a wrapper. loggp is the path of the program that it calls.
func (w wrapper) script(loggp string) string {
	quoted := "'" + strings.ReplaceAll(loggp, "'", `'\''`) + "'"
	if w.verb != "" {
		return fmt.Sprintf("#!/bin/sh\n# %s: compiles for 'loggp run'.\nexec %s %s \"$@\"\n", wrapperMark, quoted, w.verb)
	}
	return fmt.Sprintf(`#!/bin/sh
# %s: runs a program on the platform that LOGGP_PLATFORM names, or on this machine, with LOGGP_SPARE spare ranks.
if [ "$1" = -np ]; then shift; set -- -n "$@"; fi
exec %s run --platform "${LOGGP_PLATFORM:-shm}" ${LOGGP_SPARE:+--spare "$LOGGP_SPARE"} "$@"
`, wrapperMark, quoted)
}

// pkgConfigText returns the text of the pkg-config file.
func (w wrapper) pkgConfigText(c *Compiler, version string) string {
	return fmt.Sprintf("# %s.\nName: loggp-%s\nDescription: MPI for programs that 'loggp run' runs\nVersion: %s\nCflags: %s\nLibs: %s\n",
		wrapperMark, w.pkgConfigName, version, strings.Join(c.CompileOptions(), " "), strings.Join(c.LinkOptions(), " "))
}

// InstallWrappers writes commands of one word to dir: loggp-mpicc, loggp-mpicxx, loggp-mpifort and
// loggp-mpiexec, links with the names of other MPI implementations, and pkg-config files in the
// subdirectory pkgconfig. The commands call loggp by its path. If any of the files exists and was
// written by something else, it fails and writes nothing. Languages without a compiler get no
// pkg-config file. It returns the names of the commands.
func InstallWrappers(ctx context.Context, dir, loggp, version string) ([]string, error) {
	packages := filepath.Join(dir, "pkgconfig")
	files, links := map[string]string{}, map[string]string{}
	var names []string
	for _, w := range wrappers {
		files[filepath.Join(dir, w.name)] = w.script(loggp)
		names = append(names, w.name)
		for _, a := range w.aliases {
			links[filepath.Join(dir, a)] = w.name
			names = append(names, a)
		}
		if w.pkgConfigName == "" {
			continue
		}
		c, err := w.compiler(ctx)
		if errors.Is(err, exec.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files[filepath.Join(packages, "mpi-"+w.pkgConfigName+".pc")] = w.pkgConfigText(c, version)
		links[filepath.Join(packages, "ompi-"+w.pkgConfigName+".pc")] = "mpi-" + w.pkgConfigName + ".pc"
	}
	for _, paths := range []map[string]string{files, links} {
		for path := range paths {
			if err := checkReplaceable(path); err != nil {
				return nil, err
			}
		}
	}
	if err := os.MkdirAll(packages, 0o777); err != nil {
		return nil, err
	}
	for path, text := range files {
		if err := replaceFile(path, func(path string) error { return os.WriteFile(path, []byte(text), 0o777) }); err != nil {
			return nil, err
		}
	}
	for path, to := range links {
		if err := replaceFile(path, func(path string) error { return os.Symlink(to, path) }); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// checkReplaceable fails for a file that InstallWrappers has not written.
func checkReplaceable(path string) error {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is a link to a file that does not exist: remove it, or name another directory", path)
		}
		return nil
	case err != nil:
		return err
	case !strings.Contains(string(text), wrapperMark):
		return fmt.Errorf("%s was not written by loggp, and would be lost: name another directory", path)
	}
	return nil
}

// replaceFile creates a file next to path and renames it to path.
func replaceFile(path string, create func(path string) error) error {
	next := fmt.Sprintf("%s.%d", path, os.Getpid())
	err := create(next)
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		os.Remove(next)
	}
	return err
}
