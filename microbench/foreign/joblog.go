package foreign

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Information in a job's log outside of tables: how programs were started, with which library, and
// lines that are not results.

var (
	launcherPattern = regexp.MustCompile(`(?:^|[\s/"'(])(mpirun|mpiexec|mpiexec\.hydra|mpirun_rsh|orterun|prterun|prun|srun|aprun|jsrun|lrun|ibrun|flux run|flux mini run)\s`)
	// benchmarkProgramPattern matches a program whose tables can be read. Its arguments follow.
	benchmarkProgramPattern = regexp.MustCompile(`(?:^|[\s/"'])(osu_\w+|IMB-\w+|[a-z]\w*_perf(?:_mpi)?|ib_\w+_(?:lat|bw)|fi_\w+|ucxx?_perftest|mpiBench\w*|network_(?:load_)?test)(?:["'\s]|$)`)
	commandLiterals         = []string{"run", "mpiexec", "osu_", "IMB-", "_perf", "ib_", "fi_", "mpiBench", "network_"} // every match of the launcher pattern and of benchmarkProgramPattern contains one of these
	rankOptionPattern       = regexp.MustCompile(`\s--?(?:np|n|ntasks)(?:[ =]+|)(\d{1,7})(?:\s|$)`)
	nodeOptionPattern       = regexp.MustCompile(`\s--?(?:N|nodes)(?:[ =]+|)(\d{1,7})(?:\s|$)`)
	perNodeOptionPattern    = regexp.MustCompile(`\s--ntasks-per-node[ =](\d{1,7})(?:\s|$)`)
	perSetOptionPattern     = regexp.MustCompile(`\s(?:-a|--tasks_per_rs)[ =]?(\d{1,7})(?:\s|$)`)
	rankCountPattern        = regexp.MustCompile(`(?i)^#?\s*(?:SLURM_NTASKS|(?:total )?(?:number of |num[ _]|n)(?:mpi[ _])?(?:processes|procs|ranks|tasks)|world[ _]size)\s*(?:is|[:=])\s*(\d{1,7})\s*$`)
)

// readCommand parses a command line: the program and its number of ranks.
func (r *tableReader) readCommand(text string) bool {
	if last := text[len(text)-1]; '0' <= last && last <= '9' {
		if m := rankCountPattern.FindStringSubmatch(text); m != nil {
			r.commandRanks = parseMatchedNumber(m[1])
			return true
		}
	}
	if !containsAny(text, commandLiterals) {
		return false
	}
	text = strings.TrimLeft(text, "# \t")
	before, program, args := text, "", ""
	if at := benchmarkProgramPattern.FindAllStringSubmatchIndex(text, -1); at != nil {
		last := at[len(at)-1]
		before, program, args = text[:last[2]], text[last[2]:last[3]], text[last[3]:]
	}
	starts := launcherPattern.FindString(" "+before) != ""
	ranks := 0
	if starts {
		ranks = optionRanks(" "+before+" ", launcherPattern.FindStringSubmatch(" " + before)[1])
	}
	if program == "" && ranks == 0 || program != "" && !starts && !isCommand(before, args) {
		return false
	}
	r.endTable()
	if r.columns = nil; program != "" {
		r.test = benchmarkTest{}
	}
	r.commandRanks, r.program, r.programArgs = ranks, path.Base(program), args
	return true
}

// isCommand reports whether a program's name between two texts is a command without a launcher:
// preceded by a prompt or a path, or followed by options.
func isCommand(before, args string) bool {
	words := strings.Fields(before)
	if len(words) == 0 {
		return args == "" || strings.HasPrefix(strings.TrimSpace(args), "-") || len(strings.Fields(args)) <= 1
	}
	last := words[len(words)-1]
	return strings.ContainsAny(last[len(last)-1:], "$#>%+/") || strings.HasPrefix(strings.TrimSpace(args), "-") || strings.HasPrefix(last, "./")
}

// optionRanks returns the number of ranks in the options of a launcher; 0: not given.
func optionRanks(options, launcher string) int {
	number := func(pattern *regexp.Regexp) int {
		if m := pattern.FindStringSubmatch(options); m != nil {
			return parseMatchedNumber(m[1])
		}
		return 0
	}
	n := number(rankOptionPattern)
	switch {
	case launcher == "jsrun" && n > 0:
		n *= max(number(perSetOptionPattern), 1)
	case n == 0 && strings.HasPrefix(launcher, "srun"):
		n = number(nodeOptionPattern) * number(perNodeOptionPattern)
	}
	return n
}

// libraryLinePattern matches a line that names the MPI library: a spack specification, a module, or
// the output of mpirun --version.
var libraryLinePattern = regexp.MustCompile(`(?im)^[^\n#]{0,60}?\b(openmpi|open mpi|mpich|mvapich2?|mvapich-plus|intel-mpi|intel-oneapi-mpi|impi|hpcx-mpi|hpcx|cray-mpich|spectrum-mpi|mpt)(?:@|/|\) |: | v)=?v?(\d[\w.]{0,20})`)

// libraryLiterals are parts of library names: each match of libraryLinePattern contains one.
var libraryLiterals = []string{"mpi", "vapich", "hpcx", "mpt"}

// findLibrary returns the library and the version that a line names.
func findLibrary(text string) (name, version string) {
	if !containsAny(strings.ToLower(text), libraryLiterals) {
		return "", ""
	}
	m := libraryLinePattern.FindStringSubmatch(text)
	if m == nil {
		return "", ""
	}
	name = strings.ReplaceAll(strings.ToLower(m[1]), " ", "")
	return name, strings.TrimRight(m[2], ".")
}

// severalVersions is the version of a library for which a log names several versions.
const severalVersions = "several"

// libraryVersions returns the libraries that a log names, with their versions.
func libraryVersions(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if len(line) > maxLineBytes || !strings.ContainsAny(line, "@/)v:") || line[0] >= '0' && line[0] <= '9' {
			continue
		}
		if name, version := findLibrary(strings.TrimSpace(line)); name != "" {
			if v, ok := all[name]; ok && v != version {
				version = severalVersions
			}
			all[name] = version
		}
	}
	return all
}

// readLibrary sets the library of the following tables from a line that names one.
func (r *tableReader) readLibrary(text string) bool {
	name, version := findLibrary(text)
	if name == "" {
		return false
	}
	r.endTable()
	r.columns = nil
	r.addFact("library_version", name+" "+version)
	if r.loggedLibrary = name; r.libraryVersions[name] == severalVersions {
		r.loggedLibrary = name + "-" + version
	}
	r.setLibrary()
	return true
}

// setLibrary sets the library name for the following rows. The name includes what distinguishes
// rows of the same test, the memory of the buffers and the datatype, so that they are never mixed.
func (r *tableReader) setLibrary() {
	name := r.givenLibrary
	if name == "" {
		name = cmp.Or(r.formatLibrary, r.loggedLibrary)
	}
	var parts []string
	for _, part := range []string{r.bufferMemory, r.testSetting} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if parts != nil {
		name = strings.TrimSpace(name + " (" + strings.Join(parts, ", ") + ")")
	}
	r.key.Library = name
	r.key.Protocol = autoProtocol
	if r.test.kind == collectiveTest {
		r.key.Protocol = vendorAlgorithm
	}
}

// skippedLines records the lines of a log that are not results, and the rows that could not be
// read.
type skippedLines struct {
	lines, rows []skippedLine // the first ones
	lineCount   int
	rowCount    int
}

type skippedLine struct {
	number int
	text   string
}

// Limits on the skipped lines and rows that are shown.
const (
	maxLinesShown = 3
	maxRowsShown  = 10
)

func (s *skippedLines) add(number int, text string) {
	if s.lineCount++; len(s.lines) < maxLinesShown {
		s.lines = append(s.lines, skippedLine{number, text})
	}
}

func (s *skippedLines) addRow(number int, why string) {
	if s.rowCount++; len(s.rows) < maxRowsShown {
		s.rows = append(s.rows, skippedLine{number, why})
	}
}

// addNotes adds notes about skipped lines and rows to a set.
func (s *skippedLines) addNotes(b *setBuilder) {
	for _, x := range s.rows {
		b.noteLeftOut("line %d: %s", x.number, x.text)
	}
	if n := s.rowCount - len(s.rows); n > 0 {
		b.noteLeftOut("%d more rows that cannot be read", n)
	}
	if s.lineCount == 0 {
		return
	}
	var shown []string
	for _, x := range s.lines {
		shown = append(shown, fmt.Sprintf("line %d %s", x.number, quoteUpTo(x.text, 100)))
	}
	what := "1 line that is no result"
	if s.lineCount > 1 {
		what = fmt.Sprintf("%d lines that are no results", s.lineCount)
	}
	if s.lineCount > len(shown) {
		shown = append(shown, "...")
	}
	b.noteLeftOut("%s: %s", what, strings.Join(shown, "; "))
}
