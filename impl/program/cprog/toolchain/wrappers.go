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

// wrapper is a command of one word that build systems look for.
type wrapper struct {
	name          string
	verb          string   // of loggp
	aliases       []string // links to it: the names of other MPIs
	pkgConfigName string   // its file for pkg-config, and the end of Open MPI's, which meson asks for; "": none
	compiler      func(context.Context) (*Compiler, error)
}

var wrappers = []wrapper{
	{"loggp-mpicc", "cc", []string{"mpicc"}, "c", New},
	{"loggp-mpicxx", "c++", []string{"mpicxx", "mpic++", "mpiCC"}, "cxx", NewCXX},
	{"loggp-mpifort", "fc", []string{"mpifort", "mpif90", "mpif77"}, "fort", NewFortran},
	{"loggp-mpiexec", "", []string{"mpiexec", "mpirun"}, "", nil},
}

// wrapperMark is in all files that InstallWrappers writes.
const wrapperMark = "Written by 'loggp cc --install'"

// script returns the text of a wrapper that calls a program of loggp.
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

// pkgConfigText returns the text of the file for pkg-config.
func (w wrapper) pkgConfigText(c *Compiler, version string) string {
	return fmt.Sprintf("# %s.\nName: loggp-%s\nDescription: MPI for programs that 'loggp run' runs\nVersion: %s\nCflags: %s\nLibs: %s\n",
		wrapperMark, w.pkgConfigName, version, strings.Join(c.CompileOptions(), " "), strings.Join(c.LinkOptions(), " "))
}

// InstallWrappers writes into a directory the compilers as commands of one word, loggp-mpicc,
// loggp-mpicxx, loggp-mpifort and loggp-mpiexec, with links of the names that other MPIs give them,
// and files for pkg-config in its directory pkgconfig. They call a program of loggp by its path.
// Files of these names that something else has written are an error, and then nothing is written. A
// language without a compiler has no file for pkg-config. It returns the commands that it has
// written.
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

// replaceFile makes a file beside a path, and gives it the path.
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
