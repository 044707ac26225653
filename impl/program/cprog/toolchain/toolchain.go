// Package toolchain compiles C and Fortran programs for emulated machines, as mpicc and mpifort do.
// It contains mpi.h, the table of functions (Functions), and the code that is linked into every
// program.
//
// A Compiler wraps the system's compiler: Command adds options for position-independent code,
// headers and the library of stubs. The result is a shared object, so that each rank can have a
// private copy with its own global variables. Compiling needs a C compiler but no cgo; running a
// program needs cgo (package cprog).
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
	Result     string   // type of the result
	Parameters []string // names
	Types      []string // types, with brackets for arrays
	Comm       int      // index of the communicator parameter; -1: none
	IntForm    string   // the form with int in place of MPI_Count; "": none
	prototype  string   // the text in parentheses
}

// IsMPI reports whether the function belongs to MPI. The others serve the code in every program.
func (f Function) IsMPI() bool { return strings.HasPrefix(f.Name, "MPI_") }

// IsInFortran reports whether the function has a Fortran binding.
func (f Function) IsInFortran() bool { return f.IsMPI() && !strings.HasPrefix(f.Name, "MPI_T_") }

// Functions is the table of all functions, by number.
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

// stubSource returns the C code of all stubs. A stub passes its number and its arguments, one word
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

// Compiler is a C, C++ or Fortran compiler with the files that programs need.
type Compiler struct {
	command []string // with arguments of the user
	dir     string   // directory of the files
	fortran bool
	options []string // always passed to the compiler
}

// New returns the C compiler in the environment variable CC, or cc. It installs the files that
// programs need in the user's cache directory.
func New(ctx context.Context) (*Compiler, error) { return newCompiler(ctx, "CC", "cc", "C") }

// NewCXX is New for C++. The compiler is in CXX, or c++.
func NewCXX(ctx context.Context) (*Compiler, error) { return newCompiler(ctx, "CXX", "c++", "C++") }

// newCompiler returns the compiler in an environment variable, or the usual one.
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

// isNestedCompiler reports whether another loggp has called this one to compile. make and configure
// put CC, which may name loggp or a script that calls it, into the environment. A nested compiler
// only runs the usual compiler.
var isNestedCompiler = os.Getenv(nestedCompilerVariable) != ""

const nestedCompilerVariable = "LOGGP_COMPILES"

// missingCompilerError says that there is no compiler for a language. It wraps exec.ErrNotFound.
type missingCompilerError struct{ language, command, variable string }

func (e missingCompilerError) Error() string {
	return fmt.Sprintf("there is no %s compiler %q, which %[1]s programs need: install one, or name it in %[3]s", e.language, e.command, e.variable)
}

func (missingCompilerError) Is(err error) bool { return err == exec.ErrNotFound }

// newCompilerCommand returns a command that runs a compiler.
func newCompilerCommand(ctx context.Context, command []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // lets it end its children and remove its temporary files
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), nestedCompilerVariable+"=1")
	return cmd
}

// compilerCommand returns the compiler command for a language.
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

// isThisProgram reports whether a command is loggp itself. If the compiler is "loggp cc", CMake
// sets the environment variable without the verb.
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

// installedFiles returns the files installed for the compiler, by name.
func installedFiles() map[string]string {
	all := interfaceFiles()
	maps.Copy(all, map[string]string{"mpif.h": FortranHeader(), "mpi.f90": FortranModule(), "mpi_f08.f90": Fortran08Module(), "procedures.h": fortranProcedures(), "aliases.h": fortranAliases(),
		"exports": "{ global: loggp_attach; loggp_start; local: *; };\n"})
	return all
}

// interfaceFiles returns those that determine the interface between a compiled program and loggp.
// What is generated for Fortran calls the same functions with the constants of mpi.h, and takes ten
// times as long to generate.
func interfaceFiles() map[string]string {
	return map[string]string{"mpi.h": Header(), "rank.h": sourceText("rank.h"), "runtime.c": sourceText("runtime.c"), "threads.c": sourceText("threads.c"), "stubs.c": stubSource(),
		"fortran.c": sourceText("fortran.c")}
}

// hashFiles returns a hash of files by name.
func hashFiles(files map[string]string) []byte {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(hash, "%s\n%s\n", name, files[name])
	}
	return hash.Sum(nil)
}

// Version identifies the functions with which a program is compiled. A program with another version
// is not run, because its function numbers differ.
var Version = sync.OnceValue(func() int64 {
	return int64(binary.LittleEndian.Uint64(hashFiles(interfaceFiles())) >> 1)
})

// install writes the files to a directory named after their contents, and compiles the objects that
// are linked into programs. It does nothing if the directory exists. more may add files before the
// directory gets its final name.
func (c *Compiler) install(ctx context.Context, cc, objects []string, more func(ctx context.Context, dir string) error) error {
	files := installedFiles()
	hash := sha256.New()
	hash.Write(hashFiles(files))
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
	for name, text := range files {
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
	if err := c.compileLinkLibrary(ctx, cc, work); err != nil {
		return err
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
		if _, there := os.Stat(c.dir); there != nil { // otherwise another process has written it meanwhile
			return fmt.Errorf("preparing C programs: %w", err)
		}
	}
	return nil
}

// linkLibrary is the library of MPI functions that shared libraries are linked to. Its functions do
// nothing: at run time each rank has a copy of the library of LoadABILibrary.
const linkLibrary = "libmpi_abi.so"

func (c *Compiler) compileLinkLibrary(ctx context.Context, cc []string, dir string) error {
	var text strings.Builder
	for _, f := range Functions {
		if f.IsMPI() {
			fmt.Fprintf(&text, "void %s(void) {}\nvoid P%[1]s(void) {}\n", f.Name)
		}
	}
	cmd := newCompilerCommand(ctx, slices.Concat(cc, []string{"-w", "-fPIC", "-fno-builtin", "-nostdlib", "-shared", "-Wl,-soname," + ABILibrary, "-x", "c", "-", "-o", filepath.Join(dir, linkLibrary)}))
	cmd.Stdin = strings.NewReader(text.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("preparing shared libraries: %s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// linkedObjects are linked into every program.
var linkedObjects = []string{"stubs", "runtime", "threads"}

// Command returns the command that compiles or links a program with the given compiler arguments.
// An argument -shared asks for a shared library instead of a program.
func (c *Compiler) Command(ctx context.Context, args []string) *exec.Cmd {
	switch {
	case isNestedCompiler:
		return newCompilerCommand(ctx, slices.Concat(c.command, args))
	case slices.Contains(args, "-static"): // programs are shared objects, but link static libraries with it
		return c.Command(ctx, slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "-static" }))
	case !hasInputFiles(args):
		return newCompilerCommand(ctx, slices.Concat(c.command, []string{"-I" + c.dir}, c.options, args))
	}
	command := slices.Concat(c.command, []string{"-I" + c.dir}, c.options, args, positionIndependentOptions)
	if !slices.ContainsFunc(args, func(a string) bool {
		return slices.Contains([]string{"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r"}, a)
	}) {
		if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-x") }) {
			command = append(command, "-x", "none") // the following files keep their own language
		}
		switch options := c.LinkOptions(); {
		case slices.Contains(args, "-shared"):
			command = slices.DeleteFunc(command, func(a string) bool {
				return slices.Contains(options, a) || c.isOtherLibrary(a)
			})
			command = append(command, "-Wl,--push-state,--as-needed", filepath.Join(c.dir, linkLibrary), "-Wl,--pop-state")
		case slices.ContainsFunc(args, c.isOtherLibrary): // it contains what this library contains
			command = append(command, options[:len(options)-1]...)
		default:
			command = append(command, options...)
		}
	}
	return newCompilerCommand(ctx, command)
}

// isOtherLibrary reports whether an argument names the library for programs in another language.
// Build systems pass it when they link programs in several languages.
func (c *Compiler) isOtherLibrary(argument string) bool {
	return strings.HasPrefix(argument, "-lloggp_") && argument != "-l"+c.Library()
}

// ShowCommand returns the arguments of the command that Command returns. If there is nothing to
// compile, it shows how a program is compiled and linked.
func (c *Compiler) ShowCommand(ctx context.Context, args []string) []string {
	if hasInputFiles(args) || isNestedCompiler {
		return c.Command(ctx, args).Args
	}
	return slices.Concat(c.command, c.CompileOptions(), args, c.LinkOptions())
}

// Directory returns the directory of the headers and libraries.
func (c *Compiler) Directory() string { return c.dir }

// Library returns the name of the library to which programs are linked. It differs by language,
// because CMake searches each name only once.
func (c *Compiler) Library() string {
	switch {
	case c.fortran:
		return "loggp_fortran"
	case c.isCXX():
		return "loggp_cxx"
	}
	return "loggp_c"
}

// positionIndependentOptions are options for position-independent code. They come last, so that
// they take precedence.
var positionIndependentOptions = []string{"-fPIC", "-fno-semantic-interposition", "-ffunction-sections"}

// CompileOptions returns the compiler options for compiling a program.
func (c *Compiler) CompileOptions() []string {
	return slices.Concat([]string{"-I" + c.dir}, c.options, positionIndependentOptions)
}

// LinkOptions returns the options for linking a program, to be placed after its objects. Some build
// systems keep only linker options and libraries, and drop those that start with -Wl,-z, so all
// essential options have a form that they keep. The compiler takes --shared as -shared, which asks
// Command for a shared library.
func (c *Compiler) LinkOptions() []string {
	return []string{"--shared", "-Wl,-shared,-Bsymbolic,--gc-sections,--as-needed,-z,defs,-z,norelro",
		"-Wl,-u,main,-e,loggp_alone,--version-script=" + filepath.Join(c.dir, "exports"), "-L" + c.dir, "-l" + c.Library()} // main may be in a library
}

// libraryScript returns the text of the library to which programs are linked: a linker script that
// names object files of the directory and the static libraries of C++ and Fortran. Each rank then
// has its own copy of these libraries, with its own streams and units.
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

// isCXX reports whether this is a C++ compiler.
func (c *Compiler) isCXX() bool {
	return slices.ContainsFunc(c.command, func(a string) bool { return strings.Contains(filepath.Base(a), "++") })
}

// hasInputFiles reports whether the arguments contain something to compile.
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
