// Package toolchain compiles C and Fortran programs for emulated machines: it has mpi.h, the table
// of functions, and the code that is linked into every program, and it wraps the compilers as mpicc
// and mpifort do.
//
// A program becomes a shared object, so that each rank can have a private copy of it with its own
// global variables. It needs a C compiler, and Go's cgo only to be run (package cprog).
package toolchain

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

//go:embed c
var sourceFiles embed.FS

func sourceText(name string) string {
	text, err := sourceFiles.ReadFile("c/" + name)
	if err != nil {
		panic("toolchain: " + err.Error())
	}
	return string(text)
}

// Function is a function that programs can call. Its number is its index in Functions.
type Function struct {
	Name       string
	Result     string   // its type
	Parameters []string // their names
	Types      []string // their types, with the brackets of arrays
	Comm       int      // which of them is its communicator; -1: none
	IntForm    string   // the function that has int where this one has MPI_Count; empty: none
	prototype  string   // what stands in parentheses
}

// IsMPI reports whether the function is one of MPI's. The others are for the code in every program.
func (f Function) IsMPI() bool { return strings.HasPrefix(f.Name, "MPI_") }

// IsInFortran reports whether the function is one of MPI's in Fortran, too.
func (f Function) IsInFortran() bool { return f.IsMPI() && !strings.HasPrefix(f.Name, "MPI_T_") }

// Functions is the table of all functions.
var Functions = func() []Function {
	all := parseFunctions(sourceText("functions.txt"))
	all = append(all, parseFunctions(persistentPrototypes(all))...)
	large := parseFunctions(largeCountPrototypes(all))
	for i := range large {
		large[i].IntForm = strings.TrimSuffix(large[i].Name, "_c")
	}
	return append(all, large...)
}()

var (
	prototypePattern = regexp.MustCompile(`^(\w+) (\w+)\((.*)\)$`)
	parameterPattern = regexp.MustCompile(`(\w+)(\[[^\]]*\])*$`)
)

func parseFunctions(table string) []Function {
	var all []Function
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		m := prototypePattern.FindStringSubmatch(line)
		if m == nil {
			panic("toolchain: functions.txt: " + line)
		}
		f := Function{Result: m[1], Name: m[2], Comm: -1, prototype: m[3]}
		for p := range strings.SplitSeq(m[3], ",") {
			if p = strings.TrimSpace(p); p != "void" && p != "..." {
				if strings.HasPrefix(p, "MPI_Comm ") && p[9] != '*' && f.Comm < 0 {
					f.Comm = len(f.Parameters)
				}
				at := parameterPattern.FindStringSubmatchIndex(p)
				f.Parameters = append(f.Parameters, p[at[2]:at[3]])
				f.Types = append(f.Types, strings.TrimSpace(p[:at[2]])+p[at[3]:])
			}
		}
		all = append(all, f)
	}
	return all
}

// Header returns the text of mpi.h.
func Header() string {
	var b strings.Builder
	b.WriteString(sourceText("constants.h"))
	for _, prefix := range []string{"", "P"} {
		b.WriteString("\n")
		for _, f := range Functions {
			if f.IsMPI() {
				fmt.Fprintf(&b, "%s %s%s(%s);\n", f.Result, prefix, f.Name, f.prototype)
			}
		}
	}
	b.WriteString("\n/* Handles have the same numbers in Fortran. */\n")
	for _, kind := range []string{"Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win"} {
		name := kind
		if kind == "Datatype" {
			name = "Type"
		}
		fmt.Fprintf(&b, "static __inline__ MPI_Fint MPI_%s_c2f(MPI_%s h) { return (MPI_Fint)(intptr_t)h; }\n", name, kind)
		fmt.Fprintf(&b, "static __inline__ MPI_%s MPI_%s_f2c(MPI_Fint h) { return (MPI_%[1]s)(intptr_t)h; }\n", kind, name)
		fmt.Fprintf(&b, "#define PMPI_%s_c2f MPI_%[1]s_c2f\n#define PMPI_%[1]s_f2c MPI_%[1]s_f2c\n", name)
	}
	b.WriteString("static __inline__ int MPI_Status_c2f(const MPI_Status *c, MPI_Fint *f) { *(MPI_Status *)f = *c; return MPI_SUCCESS; }\n" +
		"static __inline__ int MPI_Status_f2c(const MPI_Fint *f, MPI_Status *c) { *c = *(const MPI_Status *)f; return MPI_SUCCESS; }\n" +
		"typedef MPI_Status MPI_F08_status;\n" +
		"static __inline__ int MPI_Status_c2f08(const MPI_Status *c, MPI_F08_status *f) { *f = *c; return MPI_SUCCESS; }\n" +
		"static __inline__ int MPI_Status_f082c(const MPI_F08_status *f, MPI_Status *c) { *c = *f; return MPI_SUCCESS; }\n" +
		"static __inline__ int MPI_Status_f2f08(const MPI_Fint *f, MPI_F08_status *g) { return MPI_Status_f2c(f, g); }\n" +
		"static __inline__ int MPI_Status_f082f(const MPI_F08_status *g, MPI_Fint *f) { return MPI_Status_c2f(g, f); }\n" +
		"#define PMPI_Status_c2f MPI_Status_c2f\n#define PMPI_Status_f2c MPI_Status_f2c\n")
	b.WriteString("\n#if defined(__cplusplus)\n}\n#endif\n\n#endif\n")
	return b.String()
}

// stubSource returns the C code of all functions: each gives its number and its arguments, one word
// each, to the emulator. A profiling tool may define MPI_X and call PMPI_X.
func stubSource() string {
	var b strings.Builder
	b.WriteString("#include \"mpi.h\"\n#include \"rank.h\"\n\nint64_t loggp_enter(int64_t, intptr_t *, void *);\ndouble loggp_enter_real(int64_t, intptr_t *, void *);\n")
	for i, f := range Functions {
		words := "0"
		if len(f.Parameters) > 0 {
			words = "(intptr_t)" + strings.Join(f.Parameters, ", (intptr_t)")
		}
		enter, name := "loggp_enter", f.Name
		if f.Result == "double" {
			enter = "loggp_enter_real"
		}
		if f.IsMPI() {
			name = "P" + name
		}
		fmt.Fprintf(&b, "%s %s(%s) { intptr_t a[] = {%s}; return (%s)%s(%d, a, __builtin_return_address(0)); }\n", f.Result, name, f.prototype, words, f.Result, enter, i)
		if f.IsMPI() {
			fmt.Fprintf(&b, "%s %s(%s) __attribute__((weak, alias(\"%s\")));\n", f.Result, f.Name, f.prototype, name)
		}
	}
	return b.String()
}

// Compiler is a compiler of C or Fortran and the files that it needs.
type Compiler struct {
	command []string // with arguments of the user's
	dir     string   // where the files are
	fortran bool
	options []string // that it always gets
}

// New returns the compiler that the environment variable CC names, or cc. It writes the files that
// programs need to the user's cache.
func New(ctx context.Context) (*Compiler, error) { return newCompiler(ctx, "CC", "cc", "C") }

// NewCXX is New for C++: the compiler is that of the environment variable CXX, or c++.
func NewCXX(ctx context.Context) (*Compiler, error) { return newCompiler(ctx, "CXX", "c++", "C++") }

// newCompiler returns the compiler that a variable of the environment names, or the usual one.
func newCompiler(ctx context.Context, variable, usual, language string) (*Compiler, error) {
	command, err := compilerCommand(variable, usual, language)
	if err != nil {
		return nil, err
	}
	c := &Compiler{command: command}
	if isNestedCompiler {
		return c, nil
	}
	return c, c.install(ctx, command, linkedObjects, nil)
}

// isNestedCompiler reports whether another loggp has called this one to compile: make and configure
// put CC into the environment, where it may name loggp itself, or a script that calls it. This one
// is then the usual compiler and nothing more.
var isNestedCompiler = os.Getenv(nestedCompilerVariable) != ""

const nestedCompilerVariable = "LOGGP_COMPILES"

// missingCompilerError says that there is no compiler of a language. It is exec.ErrNotFound.
type missingCompilerError struct{ language, command, variable string }

func (e missingCompilerError) Error() string {
	return fmt.Sprintf("there is no %s compiler %q, which %[1]s programs need: install one, or name it in %[3]s", e.language, e.command, e.variable)
}

func (missingCompilerError) Is(err error) bool { return err == exec.ErrNotFound }

// newCompilerCommand returns a command that runs a compiler.
func newCompilerCommand(ctx context.Context, command []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // so that it ends its own children and removes its files
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), nestedCompilerVariable+"=1")
	return cmd
}

// compilerCommand returns the command of a compiler of a language.
func compilerCommand(variable, usual, language string) ([]string, error) {
	command := strings.Fields(os.Getenv(variable))
	if len(command) == 0 || isNestedCompiler || isThisProgram(command[0]) {
		command = []string{usual}
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, missingCompilerError{language, command[0], variable}
	}
	return command, nil
}

// isThisProgram reports whether a command is loggp itself. CMake puts it into the environment
// without the verb where the compiler is "loggp cc".
func isThisProgram(command string) bool {
	path, err := exec.LookPath(command)
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	own, err := os.Executable()
	if err != nil {
		return false
	}
	here, err := os.Stat(own)
	return err == nil && os.SameFile(here, there)
}

// installedFiles returns the text of each file that is installed for the compiler, by name.
func installedFiles() map[string]string {
	return map[string]string{"mpi.h": Header(), "rank.h": sourceText("rank.h"), "runtime.c": sourceText("runtime.c"), "threads.c": sourceText("threads.c"), "stubs.c": stubSource(),
		"mpif.h": FortranHeader(), "mpi.f90": FortranModule(), "mpi_f08.f90": Fortran08Module(), "fortran.c": sourceText("fortran.c"), "procedures.h": fortranProcedures(), "aliases.h": fortranAliases(),
		"exports": "{ global: loggp_attach; loggp_start; local: *; };\n"}
}

// Version stands for what a program is compiled with. A program of another one is not run: its
// functions have other numbers.
var Version = sync.OnceValue(func() int64 {
	hash := sha256.New()
	all := installedFiles()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(hash, "%s\n%s\n", name, all[name])
	}
	return int64(binary.LittleEndian.Uint64(hash.Sum(nil)) >> 1)
})

// install writes the files to a directory that is named after what is in them, unless it is there,
// and compiles what is linked into programs with a C compiler. More is done in the directory before
// it gets its name.
func (c *Compiler) install(ctx context.Context, cc, objects []string, more func(ctx context.Context, dir string) error) error {
	hash := sha256.New()
	fmt.Fprintln(hash, Version())
	fmt.Fprintln(hash, c.command, cc, objects, runtime.GOARCH, c.Library())
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	c.dir = filepath.Join(cache, "loggp", fmt.Sprintf("cc-%x", hash.Sum(nil)[:8]))
	if _, err := os.Stat(c.dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.dir), 0o755); err != nil {
		return fmt.Errorf("preparing C programs: %w", err)
	}
	work, err := os.MkdirTemp(filepath.Dir(c.dir), "new-")
	if err != nil {
		return fmt.Errorf("preparing C programs: %w", err)
	}
	defer os.RemoveAll(work)
	for name, text := range installedFiles() {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("preparing C programs: %w", err)
		}
	}
	for _, name := range objects {
		cmd := newCompilerCommand(ctx, slices.Concat(cc, []string{"-O2", "-fPIC", "-ffunction-sections", "-fvisibility=hidden", "-fno-builtin", "-w", fmt.Sprintf("-DLOGGP_VERSION=%d", Version()), "-x", "c", "-c", name + ".c", "-o", name + ".o"}))
		cmd.Dir = work
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("preparing C programs: %s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(out))
		}
	}
	if err := os.WriteFile(filepath.Join(work, "lib"+c.Library()+".a"), []byte(c.libraryScript(ctx, objects)), 0o644); err != nil {
		return fmt.Errorf("preparing C programs: %w", err)
	}
	if more != nil {
		if err := more(ctx, work); err != nil {
			return fmt.Errorf("preparing programs: %w", err)
		}
	}
	if err := os.Chmod(work, 0o755); err != nil {
		return fmt.Errorf("preparing C programs: %w", err)
	}
	if err := os.Rename(work, c.dir); err != nil {
		if _, there := os.Stat(c.dir); there != nil { // nobody else has written it meanwhile
			return fmt.Errorf("preparing C programs: %w", err)
		}
	}
	return nil
}

// linkedObjects are linked into every program.
var linkedObjects = []string{"stubs", "runtime", "threads"}

// Command returns the command that compiles or links a program with the arguments of a C compiler.
func (c *Compiler) Command(ctx context.Context, args []string) *exec.Cmd {
	switch {
	case isNestedCompiler:
		return newCompilerCommand(ctx, slices.Concat(c.command, args))
	case slices.Contains(args, "-static"): // programs are shared objects: with it they find static libraries all the same
		return c.Command(ctx, slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "-static" }))
	case !hasInputFiles(args):
		return newCompilerCommand(ctx, slices.Concat(c.command, []string{"-I" + c.dir}, c.options, args))
	}
	command := slices.Concat(c.command, []string{"-I" + c.dir}, c.options, args, positionIndependentOptions)
	if !slices.ContainsFunc(args, func(a string) bool {
		return slices.Contains([]string{"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r"}, a)
	}) {
		if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-x") }) {
			command = append(command, "-x", "none") // what follows has a language of its own
		}
		options := c.LinkOptions()
		if slices.ContainsFunc(args, c.isOtherLibrary) { // it has what ours has
			options = options[:len(options)-1]
		}
		command = append(command, options...)
	}
	return newCompilerCommand(ctx, command)
}

// isOtherLibrary reports whether an argument names the library of programs in another language, as
// build systems give it to the linker of a program in several.
func (c *Compiler) isOtherLibrary(argument string) bool {
	return strings.HasPrefix(argument, "-lloggp_") && argument != "-l"+c.Library()
}

// ShowCommand returns the words of the command that Command returns; where the arguments have
// nothing to compile, with what compiles and links a program.
func (c *Compiler) ShowCommand(ctx context.Context, args []string) []string {
	if hasInputFiles(args) || isNestedCompiler {
		return c.Command(ctx, args).Args
	}
	return slices.Concat(c.command, c.CompileOptions(), args, c.LinkOptions())
}

// Directory returns where headers and the library of programs are.
func (c *Compiler) Directory() string { return c.dir }

// Library returns the name of the library that programs are linked with. Each language has another
// name: CMake looks for each name once.
func (c *Compiler) Library() string {
	switch {
	case c.fortran:
		return "loggp_fortran"
	case c.isCXX():
		return "loggp_cxx"
	}
	return "loggp_c"
}

// positionIndependentOptions are the options for position-independent code. They come last, so that
// they hold.
var positionIndependentOptions = []string{"-fPIC", "-fno-semantic-interposition", "-ffunction-sections"}

// CompileOptions returns what the compiler is given to compile a program.
func (c *Compiler) CompileOptions() []string {
	return slices.Concat([]string{"-I" + c.dir}, c.options, positionIndependentOptions)
}

// LinkOptions returns what the compiler is given to link a program, behind its objects. Build
// systems that ask for the options keep those for the linker and libraries, and drop others and
// what begins with -Wl,-z: what counts is said in a form that they keep as well.
func (c *Compiler) LinkOptions() []string {
	return []string{"-shared", "-Wl,-shared,-Bsymbolic,--gc-sections,--as-needed,-z,defs,-z,norelro",
		"-Wl,-u,main,-e,loggp_alone,--version-script=" + filepath.Join(c.dir, "exports"), "-L" + c.dir, "-l" + c.Library()} // main may be in a library
}

// libraryScript returns the text of the library that programs are linked with, which names what is
// in it for the linker: object files of the directory and, of the libraries of C++ and Fortran,
// those for static linking. Ranks have copies of them then, with streams and units of their own.
func (c *Compiler) libraryScript(ctx context.Context, objects []string) string {
	var parts []string
	for _, name := range objects {
		parts = append(parts, filepath.Join(c.dir, name+".o"))
	}
	var libraries []string
	switch {
	case c.fortran:
		parts = append(parts, filepath.Join(c.dir, "error.o"))
		libraries = []string{"libgfortran.a", "libquadmath.a"}
	case c.isCXX():
		libraries = []string{"libstdc++.a"}
	}
	for _, name := range libraries {
		path, err := newCompilerCommand(ctx, slices.Concat(c.command, []string{"-print-file-name=" + name})).Output()
		if at := strings.TrimSpace(string(path)); err == nil && filepath.IsAbs(at) {
			parts = append(parts, at)
		}
	}
	return fmt.Sprintf("INPUT(\"%s\")\n", strings.Join(parts, `" "`))
}

// isCXX reports whether the compiler is one of C++.
func (c *Compiler) isCXX() bool {
	return slices.ContainsFunc(c.command, func(a string) bool { return strings.Contains(filepath.Base(a), "++") })
}

// hasInputFiles reports whether there is something to compile among the arguments.
func hasInputFiles(args []string) bool {
	value := false
	for _, a := range args {
		switch {
		case value:
			value = false
		case a == "-o" || a == "-I" || a == "-L" || a == "-D" || a == "-U" || a == "-include" || a == "-x" || a == "-J" || a == "-MF" || a == "-MT" || a == "-isystem" || a == "-Xlinker":
			value = true
		case a == "-" || a == "" || a[0] != '-':
			return true
		}
	}
	return false
}
