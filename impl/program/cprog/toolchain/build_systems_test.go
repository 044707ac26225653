package toolchain_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// buildLoggp builds loggp and installs the compiler wrappers next to it.
func buildLoggp(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, "../../../../cmd/loggp").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	runIn(t, dir, nil, "./loggp", "cc", "--install", "bin")
	return dir
}

// runIn runs a command in a directory and returns its output.
func runIn(t *testing.T, dir string, env []string, command ...string) string {
	t.Helper()
	var errs strings.Builder
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", command, err, out, errs.String())
	}
	return string(out)
}

// Build systems find the compilers by PATH, by an environment variable, or as a command of two
// words, and build programs whose build files do not mention loggp.
func TestBuildSystemsFindCompilers(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("Fortran programs need Linux on amd64")
	}
	for _, tool := range []string{"cmake", "autoreconf", "meson", "ninja", "pkg-config", "gfortran"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	loggp := buildLoggp(t)
	bin := filepath.Join(loggp, "bin")
	path := func(dir string) string { return "PATH=" + dir + ":" + os.Getenv("PATH") }
	autoconf := [][]string{{"autoreconf", "-i"}, {"./configure"}, {"make"}}
	for _, c := range []struct {
		name, sources string
		env           []string
		commands      [][]string
		programs      []string
	}{
		{"CMake by PATH", "cmake", []string{path(bin)}, [][]string{{"cmake", "-DLANGUAGES=C;CXX;Fortran", "."}, {"make"}, {"ctest", "--output-on-failure"}}, []string{"C", "CXX", "Fortran"}},
		{"CMake by variable", "cmake", nil, [][]string{{"cmake", "-DMPI_C_COMPILER=" + bin + "/loggp-mpicc", "."}, {"make"}}, []string{"C"}},
		{"CMake by two words", "cmake", []string{path(loggp), "CC=loggp cc"}, [][]string{{"cmake", "."}, {"make"}}, []string{"C"}},
		{"CMake by two words for each language", "cmake", []string{path(loggp), "CC=loggp cc", "CXX=loggp c++", "FC=loggp fc"}, [][]string{{"cmake", "-DLANGUAGES=C;CXX;Fortran", "."}, {"make"}}, []string{"C", "CXX", "Fortran"}},
		{"CMake by wrapper", "cmake", []string{"CXX=" + bin + "/mpicxx"}, [][]string{{"cmake", "-DLANGUAGES=CXX", "."}, {"make"}}, []string{"CXX"}},
		{"autoconf", "autoconf", []string{path(bin)}, autoconf, []string{"C"}},
		{"autoconf by two words for each language", "languages", []string{path(loggp)}, [][]string{{"autoreconf", "-i"}, {"./configure", "CC=loggp cc", "CXX=loggp c++", "FC=loggp fc"}, {"make"}}, []string{"C", "CXX", "Fortran"}},
		{"meson", "meson", []string{"PKG_CONFIG_PATH=" + bin + "/pkgconfig"}, [][]string{{"meson", "setup", "build"}, {"ninja", "-C", "build"}, {"sh", "-c", "mv build/hello_C* ."}}, []string{"C", "CXX"}},
		{"pkg-config", "cmake", []string{"PKG_CONFIG_PATH=" + bin + "/pkgconfig"}, [][]string{{"sh", "-c", "cc $(pkg-config --cflags mpi-c) hello.c -o hello_C $(pkg-config --libs mpi-c)"}}, []string{"C"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, from := range slices.Compact([]string{"testdata/cmake", "testdata/" + c.sources}) {
				if err := copyFiles(dir, from); err != nil {
					t.Fatal(err)
				}
			}
			for _, command := range c.commands {
				runIn(t, dir, c.env, command...)
			}
			for _, language := range c.programs {
				out := runIn(t, dir, nil, filepath.Join(loggp, "loggp"), "run", "--platform", "t3d", "-n", "2", "./hello_"+language)
				if !strings.HasPrefix(out, "0 of 2\n1 of 2\n") {
					t.Errorf("the program in %s prints\n%s", language, out)
				}
			}
		})
	}
}

// copyFiles copies the files of a directory.
func copyFiles(dir, from string) error {
	entries, err := os.ReadDir(from)
	for _, e := range entries {
		text, read := os.ReadFile(filepath.Join(from, e.Name()))
		err = errors.Join(err, read, os.WriteFile(filepath.Join(dir, e.Name()), text, 0o666))
	}
	return err
}

// Wrappers replace those of an earlier version and no other file. mpiexec accepts the options of
// other MPI implementations for the number of ranks.
func TestInstallWrappers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bin")
	install := func() error {
		_, err := toolchain.InstallWrappers(t.Context(), dir, "/bin/echo", "1.2")
		return err
	}
	for range 2 {
		if err := install(); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]string{
		"mpicc -c x.c":          "cc -c x.c\n",
		"mpic++ -c x.cpp":       "c++ -c x.cpp\n",
		"mpif90 a.f90":          "fc a.f90\n",
		"mpiexec -n 3 ./a b":    "run --platform shm -n 3 ./a b\n",
		"loggp-mpiexec -np 2 a": "run --platform shm -n 2 a\n",
	} {
		words := strings.Fields(command)
		if out := runIn(t, dir, nil, append([]string{filepath.Join(dir, words[0])}, words[1:]...)...); out != want {
			t.Errorf("%s calls loggp with %q, want %q", command, out, want)
		}
	}
	if out := runIn(t, dir, []string{"LOGGP_PLATFORM=t3d"}, "./mpirun", "-n", "3", "a"); out != "run --platform t3d -n 3 a\n" {
		t.Errorf("with LOGGP_PLATFORM: %q", out)
	}
	if out := runIn(t, dir, []string{"LOGGP_SPARE=2"}, "./mpirun", "-n", "3", "a"); out != "run --platform shm --spare 2 -n 3 a\n" {
		t.Errorf("with LOGGP_SPARE: %q", out)
	}
	for name, replace := range map[string]func(path string) error{
		"mpicc":       func(path string) error { return os.WriteFile(path, []byte("#!/bin/sh\n"), 0o777) },
		"loggp-mpicc": func(path string) error { return os.WriteFile(path, []byte("mine\n"), 0o777) },
		"mpirun":      func(path string) error { return os.Symlink("/nowhere", path) },
		"pkgconfig":   func(path string) error { return os.WriteFile(path, nil, 0o666) },
	} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := replace(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if err := install(); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
			t.Errorf("%s of something else: %v", name, err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) || len(entries) != 1 {
			t.Errorf("after the error there are %v, %v", entries, err)
		}
	}
}
