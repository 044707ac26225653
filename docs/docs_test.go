package docs_test

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
)

var (
	block = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	named = regexp.MustCompile(`(?m)\A(?:#|//|!) (\S+\.(?:yaml|c|f90))`)
	word  = regexp.MustCompile(`'[^']*'|\S+`)
)

var defaults = flag.Bool("defaults", false, "TestFirstSteps measures this machine with nothing but the defaults, as make soak does")

// TestFirstSteps runs docs/first-steps.sh. Each command exits with 0 and prints a table, and no
// number in a table is infinite or NaN. Unless -defaults is given, this machine is measured with
// few modes, sizes and repetitions, for as long as it needs, since another load could use up the
// time of the defaults. Documents that begin with the same measurement take the samples from here.
func TestFirstSteps(t *testing.T) {
	skipShort(t)
	script := commandtest.AbsolutePath(t, "first-steps.sh")
	bin := t.TempDir()
	few := ""
	if !*defaults {
		few = "case \"$1 $3\" in 'measure shm' | 'measure tcp' | 'measure mpi') set -- \"$@\" --quick --sizes 0,16,1KiB,16KiB,128KiB --reps 5 --launches 1 ;; esac\n"
	}
	keep := "#!/bin/sh\n" + few + "loggp-command \"$@\" >\"$1.out\" || exit\ncat \"$1.out\"\n"
	if err := os.WriteFile(filepath.Join(bin, "loggp"), []byte(keep), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+filepath.Dir(commandtest.Command)+string(os.PathListSeparator)+os.Getenv("PATH"))
	platforms := []string{"t3d", "shm", "tcp"}
	if commandtest.HasInstalledMPI(t) {
		platforms = append(platforms, "mpi")
	}
	for _, platform := range platforms {
		t.Run(platform, func(t *testing.T) {
			t.Chdir(t.TempDir())
			out, err := exec.CommandContext(t.Context(), "sh", script, platform).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for verb, want := range map[string]string{"measure": "LogGP parameters of", "fit": "LogGP parameters of", "predict": "o_s us", "compare": "measured"} {
				b, err := os.ReadFile(verb + ".out")
				if err != nil || !strings.Contains(string(b), want) {
					t.Errorf("%v: %s does not print %q:\n%s", err, verb, want, b)
				}
				if verb != "compare" { // errors may be negative
					commandtest.CheckNumbers(t, string(b))
				}
			}
			if _, err := os.Stat(platform + "-report/index.html"); err != nil {
				t.Error(err)
			}
			here := &workDir{path: "."}
			here.rememberCommand(t, []string{"measure", "--platform", platform, "-o", "measured.csv"}, "measure.out", platform+".csv")
		})
	}
}

// TestShownCommands runs every command that the documents and the help show.
func TestShownCommands(t *testing.T) {
	skipShort(t)
	commandtest.FakeSSH(t)
	hasMPI := commandtest.HasInstalledMPI(t)
	t.Run("documents", func(t *testing.T) { testDocumentedCommands(t, hasMPI) })
	t.Run("help", func(t *testing.T) { testHelpExamples(t, hasMPI) })
}

// testDocumentedCommands runs the commands of one document after the other in a directory of its
// own, with the files that the document gives: a yaml or c block that begins with its name, or a
// yaml file beside it to which it links. A text block after commands is a look at what the last of
// them prints.
func testDocumentedCommands(t *testing.T, hasMPI bool) {
	t.Parallel()
	documents, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]int{"README.md": 7, "first-steps.md": 10, "platforms.md": 3, "import.md": 2, "export.md": 5} // at least
	examples := commandtest.ExampleFiles(t, "..")
	for _, d := range append([]string{"../README.md"}, documents...) {
		text, err := os.ReadFile(d)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := filepath.Abs(filepath.Dir(d))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(d), func(t *testing.T) {
			w := newWorkDir(t, examples, hasMPI)
			for _, b := range block.FindAllStringSubmatch(string(text), -1) {
				if n := named.FindStringSubmatch(b[2]); slices.Contains([]string{"yaml", "c", "fortran"}, b[1]) && n != nil && examples[n[1]] == "" {
					w.writeFile(t, n[1], b[2])
				}
			}
			for _, l := range link.FindAllStringSubmatch(string(text), -1) {
				if filepath.Ext(l[1]) != ".yaml" || filepath.Base(l[1]) != l[1] {
					continue
				}
				file, err := os.ReadFile(filepath.Join(dir, l[1]))
				if err != nil {
					t.Fatal(err)
				}
				w.writeFile(t, l[1], string(file))
			}
			ran, printed := 0, ""
			blocks := block.FindAllStringSubmatch(string(text), -1)
			for i, b := range blocks {
				switch b[1] {
				case "sh":
					shown := slices.ContainsFunc(blocks[i:], func(b []string) bool { return b[1] == "text" })
					n, last := w.runLines(t, b[2], shown)
					ran, printed = ran+n, last
				case "text":
					if ran > 0 { // else it is no command's
						shows(t, b[2], printed)
					}
				}
			}
			if want := commands[filepath.Base(d)]; ran < want {
				t.Errorf("%d commands found, of %d", ran, want)
			}
		})
	}
}

// TestPagesTakeFiveMinutes checks that pages have at most 1,200 words, but those in which readers
// look things up. Code and what commands print are not counted.
func TestPagesTakeFiveMinutes(t *testing.T) {
	const mostWords = 1200
	references := []string{"c-reference.md", "glossary.md", "platform-keys.md"}
	documents, err := filepath.Glob("*.md")
	if err != nil || len(documents) == 0 {
		t.Fatal(err, documents)
	}
	for _, d := range append(documents, "../README.md") {
		text, err := os.ReadFile(d)
		if err != nil {
			t.Fatal(err)
		}
		words := 0
		for _, w := range strings.Fields(code.ReplaceAllString(string(text), "")) {
			if strings.Trim(w, "|#-") != "" {
				words++
			}
		}
		if words > mostWords && !slices.Contains(references, d) {
			t.Errorf("%s has %d words, want at most %d", d, words, mostWords)
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	code    = regexp.MustCompile("(?ms)^```.*?^```$")
)

// TestLinks checks that the files and headings to which the documents link exist.
func TestLinks(t *testing.T) {
	documents, err := filepath.Glob("*.md")
	if err != nil || len(documents) == 0 {
		t.Fatal(err, documents)
	}
	for _, d := range append(documents, "../README.md", "../STYLE.md", "../CHANGELOG.md") {
		text, err := os.ReadFile(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range link.FindAllStringSubmatch(string(text), -1) {
			target := text
			if l[1] != "" {
				target, err = os.ReadFile(filepath.Join(filepath.Dir(d), l[1]))
				if errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: link to %s: %v", d, l[1], err)
				}
			}
			isTarget := func(h []string) bool { return anchor(h[1]) == l[2] }
			if l[2] != "" && !slices.ContainsFunc(heading.FindAllStringSubmatch(string(target), -1), isTarget) {
				t.Errorf("%s: link to %s#%s: no such heading", d, l[1], l[2])
			}
		}
	}
}

// anchor returns the name by which links reach a heading, as GitHub makes it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// shows checks that a look at an output has its lines, in their order; "…" stands for lines that
// are left out.
func shows(t *testing.T, look, output string) {
	t.Helper()
	for part := range strings.SplitSeq(look, "…\n") {
		_, after, ok := strings.Cut(output, part)
		if !ok {
			t.Errorf("not what is printed:\n%s", part)
		}
		output = after
	}
}

// runLines runs the lines of a shell block that call loggp. It returns how many, and what the last
// printed. If that is not shown, commands that measure emulated machines make few repetitions.
// Commands that cannot run here are left out, and so are those that read what they would have
// written.
func (w *workDir) runLines(t *testing.T, lines string, shown bool) (ran int, printed string) {
	t.Helper()
	for line := range strings.Lines(strings.ReplaceAll(lines, "\\\n", " ")) {
		line, _, _ = strings.Cut(line, " #")
		args, ok := strings.CutPrefix(line, "loggp ")
		if !ok {
			args, ok = strings.CutPrefix(line, "go run ./cmd/loggp ")
		}
		if !ok {
			continue
		}
		ran++
		var words []string
		for _, quoted := range word.FindAllString(args, -1) {
			words = append(words, strings.Trim(quoted, "'"))
		}
		if why := w.reasonNotToRun(t, words); why != "" {
			t.Logf("%s: left out %s", why, line)
			if i := slices.Index(words, "-o"); i >= 0 {
				w.unwritten[words[i+1]] = true
			}
			continue
		}
		printed = w.runOnce(t, quick(words, shown)...)
	}
	return ran, printed
}

// workDir is a directory in which commands run.
type workDir struct {
	path      string
	hasMPI    bool            // whether commands that take an installed MPI can run
	unwritten map[string]bool // files that commands which cannot run here would have written
}

// newWorkDir returns a new directory with files.
func newWorkDir(t *testing.T, files map[string]string, hasMPI bool) *workDir {
	t.Helper()
	w := &workDir{t.TempDir(), hasMPI, map[string]bool{}}
	for name, text := range files {
		w.writeFile(t, name, text)
	}
	return w
}

// filePath returns the path of a file of the directory.
func (w *workDir) filePath(name string) string { return filepath.Join(w.path, name) }

// writeFile writes a file of the directory, in a directory that may not exist yet.
func (w *workDir) writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.filePath(name)), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, w.filePath(name), text)
}

// reasonNotToRun says why a command cannot run in this test, or nothing.
func (w *workDir) reasonNotToRun(t *testing.T, words []string) string {
	t.Helper()
	args := strings.Join(words, " ")
	switch {
	case strings.Contains(args, "--platform mpi") && !w.hasMPI:
		return "no MPI is installed"
	case (words[0] == "cc" || strings.Contains(args, " ./")) && !commandtest.CanCompile(t):
		return "C programs cannot be run here"
	case strings.HasPrefix(args, "reproduce mpi-start"):
		return "TestPapers reproduces this paper"
	case words[0] == "reproduce" && len(words) > 1 && !slices.Contains(words, "-o"):
		return "TestReproduceFormats has what it prints"
	case strings.Contains(args, "--expect") || strings.Contains(args, "--join"):
		return "it takes another to go with it, as TestJoinByHand does"
	}
	for i, name := range words {
		if _, err := os.Stat(w.filePath(name)); w.unwritten[name] && err != nil && words[max(i-1, 0)] != "-o" {
			return name + " was not written"
		}
	}
	return ""
}

// Where no MPI is installed, commands that take one are left out of the tests of documents and
// help, and so are those that read their samples.
func TestDocumentsNeedNoMPI(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CI", "")
	ran, printed := newWorkDir(t, nil, commandtest.HasInstalledMPI(t)).runLines(t, `loggp platforms show t3d
loggp measure --platform mpi -o unwritten.csv
loggp fit unwritten.csv -o unwritten.params
loggp compare t3d.csv unwritten.csv
loggp predict --params unwritten.params --bytes 8
`, false)
	if ran != 5 || !strings.Contains(printed, "Cray T3D") {
		t.Errorf("%d commands; the last printed %q", ran, printed)
	}
}

// quick returns a command that takes a second or two. The documents show no output of commands that
// measure this machine or reproduce a paper, and shown says whether they do of others. A
// measurement of this machine with nothing but the defaults is that of TestFirstSteps.
func quick(words []string, shown bool) []string {
	without := func(flag string) bool {
		i := slices.Index(words, flag)
		if i >= 0 {
			words = slices.Delete(words, i, i+2)
		}
		return i < 0
	}
	switch {
	case words[0] == "reproduce" && len(words) > 1:
		without("--reps")
		without("--noise") // as TestReproduceOptions has it
		return slices.Insert(words, 2, "--reps", "5")
	case words[0] == "platforms" && len(words) == 3 && words[1] == "sensitivity" && words[2] == "t3d": // some of its rows
		return append(words, "--to", "table-3 T3D o_s *")
	case words[0] == "doctor" && !slices.Contains(words, "--quick"):
		return append(words, "--quick")
	case words[0] == "compare" && slices.Contains(words, "shm"):
		without("--sizes")
		return append(words, "--sizes", "8")
	case words[0] != "measure":
		return words
	case slices.ContainsFunc(words, func(w string) bool { return w == "shm" || w == "tcp" || w == "mpi" }):
		if len(words) == 3 || len(words) == 5 && words[3] == "-o" {
			return words
		}
		without("--reps")
		without("--budget")
		launches := "1"
		if !without("--launches") {
			launches = "2"
		}
		words = append(words, "--launches", launches, "--reps", "5") // so few that they need no time limit, which another load could use up
		if !slices.Contains(words, "--quick") {
			words = append(words, "--quick")
		}
		switch {
		case slices.Contains(words, "--sizes"):
		case slices.Contains(words, "--collective"):
			words = append(words, "--sizes", "8,4KiB")
		case slices.Contains(words, "mpi"): // whose ranks poll for whole time slices beside other load
			words = append(words, "--sizes", "0,1KB")
		default:
			words = append(words, "--sizes", "0,16,1KiB,16KiB,128KiB")
		}
		return words
	case shown || slices.Contains(words, "--reps") || slices.Contains(words, "nccl"):
		return words
	}
	return append(words, "--reps", "5")
}

// remembered is what commands have done, an effect by the command and what is in the files that it
// names.
var remembered sync.Map

// effect is what a command prints, and the files that it writes.
type effect struct {
	printed string
	files   map[string][]byte
}

// commandKey returns the key of a command.
func (w *workDir) commandKey(words []string) string {
	key := sha256.New()
	for _, name := range words {
		fmt.Fprintf(key, "%q ", name)
		if b, err := os.ReadFile(w.filePath(name)); err == nil {
			key.Write(b)
		}
	}
	return string(key.Sum(nil))
}

// rememberCommand keeps what a command printed and wrote elsewhere as that of the one that writes
// measured.csv.
func (w *workDir) rememberCommand(t *testing.T, words []string, printed, file string) {
	t.Helper()
	text, err := os.ReadFile(w.filePath(printed))
	b, err2 := os.ReadFile(w.filePath(file))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	remembered.Store(w.commandKey(words), effect{string(text), map[string][]byte{"measured.csv": b}})
}

// runOnce runs a command in the directory, or repeats what it did before: many documents
// show the same first steps. Commands that measure print the same whatever the file for the samples
// is called, or if there is none.
func (w *workDir) runOnce(t *testing.T, words ...string) string {
	t.Helper()
	file := ""
	if words[0] == "measure" && !slices.Contains(words, "--format") {
		words = slices.Clone(words)
		if i := slices.Index(words, "-o"); i >= 0 {
			file = words[i+1]
			words = slices.Delete(words, i, i+2)
		}
		words = append(words, "-o", "measured.csv")
		defer func() {
			measured := w.filePath("measured.csv")
			b, err := os.ReadFile(measured)
			if err == nil {
				err = os.Remove(measured)
			}
			if err == nil && file != "" {
				err = os.WriteFile(w.filePath(file), b, 0o666)
			}
			if err != nil {
				t.Error(err)
			}
		}()
	}
	k := w.commandKey(words)
	if known, ok := remembered.Load(k); ok {
		x := known.(effect)
		for name, b := range x.files {
			w.writeFile(t, name, string(b))
		}
		t.Logf("loggp %q, as before", words)
		return x.printed
	}
	begin := time.Now()
	before := w.modificationTimes(t)
	x := effect{commandtest.MustRun(t, w.path, words...), map[string][]byte{}}
	for name, when := range w.modificationTimes(t) {
		if when.Equal(before[name]) {
			continue
		}
		b, err := os.ReadFile(w.filePath(name))
		if err != nil {
			t.Fatal(err)
		}
		x.files[name] = b
	}
	remembered.Store(k, x)
	t.Logf("loggp %q, in %.1f s", words, time.Since(begin).Seconds())
	return x.printed
}

// modificationTimes returns when each file below the directory was written.
func (w *workDir) modificationTimes(t *testing.T) map[string]time.Time {
	t.Helper()
	times := map[string]time.Time{}
	err := filepath.WalkDir(w.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(w.path, path)
		times[name] = info.ModTime()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return times
}

// testHelpExamples runs every example that --help shows, in the order of the verbs.
func testHelpExamples(t *testing.T, hasMPI bool) {
	t.Parallel()
	page, err := os.ReadFile("c.md")
	if err != nil {
		t.Fatal(err)
	}
	platform, err := os.ReadFile("mesh.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorkDir(t, commandtest.ExampleFiles(t, ".."), hasMPI)
	w.writeFile(t, "my.yaml", string(platform))
	for _, b := range block.FindAllStringSubmatch(string(page), -1) {
		switch b[1] {
		case "c":
			w.writeFile(t, "hello.c", b[2])
			w.writeFile(t, "hello.cpp", b[2]) // it is C++ as well
		case "fortran":
			w.writeFile(t, "hello.f90", b[2])
		}
	}
	verbs := listVerbs(t)
	if len(verbs) < 15 {
		t.Fatalf("loggp --help lists only %q", verbs)
	}
	compiles := func(verb string) bool { return slices.Contains([]string{"cc", "c++", "fc"}, verb) }
	slices.SortStableFunc(verbs, func(a, b string) int { // run executes what cc compiles
		switch {
		case compiles(a) == compiles(b):
			return 0
		case compiles(a):
			return -1
		}
		return 1
	})
	for _, verb := range verbs {
		for _, with := range append(listVerbs(t, verb), "") {
			words := strings.Fields(verb + " " + with)
			_, examples, _ := strings.Cut(commandtest.MustRun(t, "", append(words, "--help")...), "\nExamples:\n")
			examples, _, _ = strings.Cut(examples, "\n\n")
			if n, _ := w.runLines(t, strings.ReplaceAll("\n"+examples, "\n  ", "\n"), false); n == 0 {
				t.Errorf("%s has no example", words)
			}
		}
	}
}

var listedVerb = regexp.MustCompile(`(?m)^  (\S+) +[A-Z]`)

// listVerbs returns the verbs that the help of the command, or of one of its verbs, lists, but for
// those that every command of this kind has.
func listVerbs(t *testing.T, verb ...string) []string {
	t.Helper()
	help := commandtest.MustRun(t, "", append(verb, "--help")...)
	list, _, _ := strings.Cut(help, "\nFlags:\n")
	if _, after, ok := strings.Cut(list, "\nExamples:\n"); ok {
		_, list, _ = strings.Cut(after, "\n\n")
	}
	var verbs []string
	for _, m := range listedVerb.FindAllStringSubmatch(list, -1) {
		if m[1] != "help" && m[1] != "completion" {
			verbs = append(verbs, m[1])
		}
	}
	return verbs
}
