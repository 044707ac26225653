//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// largeCountMacros returns a C header that makes a program call the functions with large counts
// instead of those with int counts.
func largeCountMacros() string {
	var b strings.Builder
	b.WriteString(`
#define WIDE(type)                                             \
	static type *wide_##type(const int *from, int n) {     \
		if (!from) return NULL;                        \
		type *all = calloc(n + 1, sizeof *all);        \
		for (int i = 0; i < n; i++) all[i] = from[i];  \
		return all;                                    \
	}
WIDE(MPI_Count)
WIDE(MPI_Aint)
`)
	types := map[string]string{"const MPI_Count[]": "const int ", "const MPI_Aint[]": "const int ", "MPI_Count *": "int *"}
	for _, f := range toolchain.Functions {
		if f.IntForm == "" {
			continue
		}
		i := slices.IndexFunc(toolchain.Functions, func(g toolchain.Function) bool { return g.Name == f.IntForm })
		small := toolchain.Functions[i]
		var parameters, arguments, before, after []string
		for k, name := range f.Parameters {
			declaration, brackets, _ := strings.Cut(small.Types[k], "[")
			if brackets != "" {
				brackets = "[" + brackets
			}
			parameters = append(parameters, declaration+" "+name+brackets)
			argument := name
			switch wide := f.Types[k]; {
			case wide == small.Types[k] || wide == "MPI_Count" || wide == "MPI_Aint":
			case wide == "MPI_User_function_c *":
				argument = "(" + wide + ")" + name
			case wide == "MPI_Count *" || wide == "MPI_Aint *":
				before = append(before, fmt.Sprintf("%s l_%s = %s ? *%[3]s : 0;", strings.TrimSuffix(wide, " *"), name, name))
				limit := ""
				if small.Types[k] == "int *" {
					limit = "l_" + name + " > 2147483647 ? MPI_UNDEFINED : "
				}
				after = append(after, fmt.Sprintf("*%s = %sl_%[1]s;", name, limit))
				argument = "&l_" + name
			case small.Types[k] == "const MPI_Aint[]":
				argument = "(const MPI_Count *)" + name
			case types[wide] != "":
				n := "16"
				if slices.Contains(f.Parameters, "count") && strings.Contains(f.Name, "Type") {
					n = "count"
				} else if slices.Contains(f.Parameters, "ndims") {
					n = "ndims"
				}
				argument = fmt.Sprintf("wide_%s(%s, %s)", strings.Trim(strings.TrimPrefix(wide, "const "), "[]"), name, n)
			default:
				panic(f.Name + ": " + wide)
			}
			arguments = append(arguments, argument)
		}
		fmt.Fprintf(&b, "static int large_%s(%s) { %s int e = %s(%s); %s return e; }\n#undef %[1]s\n#define %[1]s large_%[1]s\n",
			f.IntForm, strings.Join(parameters, ", "), strings.Join(before, " "), f.Name, strings.Join(arguments, ", "), strings.Join(after, " "))
	}
	return b.String()
}

// recipeTests call MPI_Type_get_envelope, which is an error for types with large counts.
var recipeTests = []string{"recipes", "darrays", "large_recipes"}

// largeCountTests returns the names of the other tests of a suite.
func largeCountTests(t *testing.T, dir string) []string {
	source, err := os.ReadFile(filepath.Join("testdata", dir, "suite.c"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`RUN\((\w+)\)`).FindAllSubmatch(source, -1) {
		if name := string(m[1]); !slices.Contains(recipeTests, name) {
			names = append(names, name)
		}
	}
	return names
}

// linesOf returns the output lines of the tests with these names.
func linesOf(output string, tests []string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if name, _, _ := strings.Cut(line, " "); slices.Contains(tests, name) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// largeCountOptions writes the header and returns the options that make the suite use it.
func largeCountOptions(t *testing.T) []string {
	path := filepath.Join(t.TempDir(), "large.h")
	if err := os.WriteFile(path, []byte(largeCountMacros()), 0o666); err != nil {
		t.Fatal(err)
	}
	return []string{fmt.Sprintf("-DLARGE_COUNTS=%q", path)}
}

// The suites print the same with functions that have large counts.
func TestLargeCounts(t *testing.T) {
	options := largeCountOptions(t)
	for _, s := range suites {
		path := filepath.Join(t.TempDir(), s.dir)
		compile(t, filepath.Join("testdata", s.dir, "suite.c"), path, append([]string{"-g"}, options...)...)
		want, err := os.ReadFile(fmt.Sprintf("testdata/%s/3.txt", s.dir))
		if err != nil {
			t.Fatal(err)
		}
		w, o := emulated(t, simple, 3)
		tests := largeCountTests(t, s.dir)
		got, err := run(t, w, o, &Program{Path: path, Arguments: tests})
		if err != nil {
			t.Error(err)
		}
		if err := firstDifference(got, linesOf(string(want), tests)); err != nil {
			t.Errorf("%s: %v", s.dir, err)
		}
	}
}
