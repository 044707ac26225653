package foreign

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// ncclFormat reads the tables of nccl-tests and rccl-tests:
//
//	#  size  count  type redop root   time  algbw  busbw #wrong   time  algbw  busbw #wrong
//	      8      2 float   sum   -1   8.97   0.00   0.00      0   8.83   0.00   0.00      0
//
// The first time is out of place, the second in place: microseconds, the mean over repetitions and
// ranks. size is that of the larger buffer of a rank: in allgather and alltoall that of all blocks.
// Versions before 2.17 do not print which operation it is.
var ncclFormat = Format{
	Name:        "nccl-tests",
	Description: "nccl-tests and rccl-tests: collectives on device buffers, out of place (us)",
	Signature:   "a line \"# size count type redop ... time algbw busbw\"",
	matchesText: func(text string) bool { return hasLine(text, "algbw", ncclAnywhere.MatchString) },
}

var ncclTables = tableFormat{
	Format:  &ncclFormat,
	library: "nccl",
	header:  regexp.MustCompile(ncclHeader),
	columns: []columnFormat{
		plainColumnFormat(`size`, bytesColumn), plainColumnFormat(`count`, detailColumn), plainColumnFormat(`type`, detailColumn), plainColumnFormat(`redop`, detailColumn), plainColumnFormat(`root`, detailColumn),
		timeColumnFormat(`time`, averageColumn, "us"), plainColumnFormat(`algbw`, detailColumn), plainColumnFormat(`busbw`, detailColumn), plainColumnFormat(`#wrong`, checkColumn), plainColumnFormat(`error`, detailColumn),
	},
	beginUntitledTest: func(r *tableReader) {
		r.test = ncclTest(r.operation, r.program)
		r.bufferMemory, r.buffersFact = "device buffers", "device"
		r.test.note = "in-place times: those out of place count"
	},
	readDetail: readNCCLDetail,
	endTable:   addNCCLRows,
	resolution: 10 * unit.Nanosecond,
	statistics: "means over the repetitions",
}

const ncclHeader = `^size\s+count\s.*\btime\s+algbw\s+busbw`

var (
	ncclAnywhere = regexp.MustCompile(`(?m)^[#\s]*` + ncclHeader[1:])
	ncclVersion  = regexp.MustCompile(`^#\s*(nccl|rccl)-tests(?:,?:?) version (\S{1,30})`)
	ncclRun      = regexp.MustCompile(`^#\s*nThread \d+ nGpus \d+ minBytes`)
	ncclName     = regexp.MustCompile(`^#\s*Collective test starting: (\S{1,60})`)
	ncclDevice   = regexp.MustCompile(`^#\s*Rank\s+(\d{1,7})\s.*\bPid\s+\d+ on\s+(\S{1,255})`)
)

// ncclOperations are the programs: names of package collective, or of MPI for operations that it
// does not have. blocks: size is that of the blocks of all ranks.
var ncclOperations = map[string]benchmarkTest{
	"all_reduce": {mode: "allreduce"}, "all_gather": {mode: "allgather", countsAllBlocks: true}, "alltoall": {mode: "alltoall", countsAllBlocks: true}, "broadcast": {mode: "bcast"}, "reduce": {mode: "reduce"},
	"reduce_scatter": {mode: "reduce_scatter"}, "gather": {mode: "gather", countsAllBlocks: true}, "scatter": {mode: "scatter", countsAllBlocks: true}, "alltoallv": {mode: "alltoallv", countsAllBlocks: true},
}

// ncclTest returns the test of a program. If its name is not known, its rows will tell.
func ncclTest(names ...string) benchmarkTest {
	for _, name := range names {
		name, _, isTest := strings.Cut(name, "_perf")
		if !isTest {
			continue
		}
		t, ok := ncclOperations[name]
		if t.name = name + "_perf"; ok {
			t.kind = collectiveTest
		} else {
			t.omissionReason = "there is no timer of ours for it"
		}
		return t
	}
	return benchmarkTest{name: "a test of nccl-tests", kind: collectiveTest}
}

// readNCCLDetail takes the operation and the ranks from the lines above a table.
func readNCCLDetail(r *tableReader, l *inputLine) bool {
	text := strings.TrimSpace(l.text)
	if !strings.HasPrefix(text, "#") {
		return false
	}
	if m := ncclVersion.FindStringSubmatch(text); m != nil {
		r.beginNCCL()
		r.addFact("tool_version", m[2])
		r.formatLibrary = m[1]
	} else if ncclRun.MatchString(text) {
		r.beginNCCL()
	} else if m := ncclName.FindStringSubmatch(text); m != nil {
		r.beginNCCL()
		r.operation = m[1]
	} else if m := ncclDevice.FindStringSubmatch(text); m != nil {
		r.printedRanks = max(r.printedRanks, parseMatchedNumber(m[1])+1)
		if r.hosts == nil {
			r.hosts = map[string]bool{}
		}
		r.hosts[m[2]] = true
		if strings.Contains(text, " AMD ") || strings.Contains(text, "gfx") {
			r.formatLibrary = "rccl"
		}
	} else {
		return false
	}
	return true
}

// beginNCCL begins a run, unless the lines before have.
func (r *tableReader) beginNCCL() {
	if !r.isOfFormat(&ncclFormat) || r.columns != nil {
		r.operation = ""
		r.beginTest(r.tablesOf(&ncclFormat), benchmarkTest{})
	}
}

// addNCCLRows notes on how many hosts the ranks were, and adds the rows of a table that does not
// name its operation.
func addNCCLRows(r *tableReader) {
	if len(r.hosts) > 0 {
		r.addFact(sample.NodesFact(r.printedRanks), strconv.Itoa(len(r.hosts)))
	}
	if len(r.rows) == 0 {
		return
	}
	name, why := guessNCCLOperation(r)
	if why != "" {
		r.rowsLeftOut, r.test.omissionReason = len(r.rows), why
		return
	}
	r.test = ncclTest(name + "_perf")
	r.summary.Test = r.test.name
	if r.test.kind == unsupportedTest {
		r.rowsLeftOut = len(r.rows)
		return
	}
	for _, x := range r.rows {
		if why := r.addRow(x.line, x.values); why != "" {
			r.skipped.addRow(x.line, why)
		}
	}
}

// guessNCCLOperation returns the operation of a table by its reduction, its root, and the factor
// between the two bandwidths, which documentation of nccl-tests has for each operation.
func guessNCCLOperation(r *tableReader) (name, why string) {
	const add = ": add a line with the name of the program, such as \"# all_gather_perf\", above the table"
	redop, root, algorithm, bus := r.columnNamed("redop"), r.columnNamed("root"), r.columnNamed("algbw"), r.columnNamed("busbw")
	factor := 0.0
	for _, x := range r.rows {
		a, errA := strconv.ParseFloat(x.values.words[algorithm].text, 64)
		b, errB := strconv.ParseFloat(x.values.words[bus].text, 64)
		if errA == nil && errB == nil && a >= 0.5 {
			factor = b / a
		}
	}
	last := r.rows[len(r.rows)-1].values.words
	reduces := redop >= 0 && last[redop].text != "none"
	rooted := root >= 0 && last[root].text != "-1"
	const rounding = 0.02
	switch whole := factor > 1-rounding; {
	case reduces && rooted:
		return "reduce", ""
	case factor == 0:
		return "", "no line says which operation it is" + add
	case reduces && whole:
		return "all_reduce", ""
	case reduces:
		return "reduce_scatter", ""
	case rooted && whole:
		return "broadcast", ""
	case whole:
		return "sendrecv", ""
	case rooted:
		return "", "no line says whether it is gather or scatter" + add
	}
	return "", "no line says whether it is all_gather or alltoall" + add
}
