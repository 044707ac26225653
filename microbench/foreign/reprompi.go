package foreign

import (
	"regexp"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// reproMPIFormat reads the output of ReproMPI, single repetitions or a summary of them:
//
//	#@nprocs=4
//	test nrep count runtime_sec
//	MPI_Allreduce 0 1 0.0000021
//
// A run time is the slowest rank's behind a barrier, or with synchronized clocks from a common
// start until the last rank has ended, in seconds. count is in elements of the datatype, by default
// bytes.
var reproMPIFormat = Format{
	Name:        "reprompi",
	Description: "ReproMPI: collectives, single repetitions or medians (s)",
	Signature:   "a line \"test nrep count runtime_sec\"",
	matchesText: func(text string) bool { return hasLine(text, "_sec", reproMPIAnywhere.MatchString) },
}

const reproMPIHeader = `^test\s+(?:\w+\s+)*(?:runtime|median)\w*_sec`

var (
	reproMPIAnywhere = regexp.MustCompile(`(?m)^\s*` + reproMPIHeader[1:])
	reproMPIFact     = regexp.MustCompile(`^#\s*@([\w-]{1,60})=(.*)$`)
)

var reproMPITables = tableFormat{
	Format: &reproMPIFormat,
	header: regexp.MustCompile(reproMPIHeader),
	columns: []columnFormat{
		plainColumnFormat(`test`, nameColumn), plainColumnFormat(`count`, elementsColumn), plainColumnFormat(`msize`, bytesColumn),
		timeColumnFormat(`runtime_sec`, runtimeColumn, "s"), timeColumnFormat(`median(?:_runtime)?_sec`, typicalColumn, "s"),
		plainColumnFormat(`nrep|process|total_nrep|valid_nrep|(?:mean|min|max)(?:_runtime)?_sec`, detailColumn),
	},
	beginUntitledTest: func(r *tableReader) { r.test = benchmarkTest{name: "ReproMPI", kind: collectiveTest} },
	readDetail:        readReproMPIDetail,
	resolution:        unit.Nanosecond,
	statistics:        "single repetitions, or their median",
}

// datatypeBytes are the sizes of datatypes of ReproMPI.
var datatypeBytes = map[string]int{"MPI_BYTE": 1, "MPI_CHAR": 1, "MPI_SHORT": 2, "MPI_INT": 4, "MPI_FLOAT": 4, "MPI_LONG": 8, "MPI_DOUBLE": 8}

// readReproMPIDetail takes what a line #@key=value says of the rows below.
func readReproMPIDetail(r *tableReader, l *inputLine) bool {
	m := reproMPIFact.FindStringSubmatch(strings.TrimSpace(l.text))
	if m == nil {
		return false
	}
	if !r.isOfFormat(&reproMPIFormat) || r.columns != nil {
		r.beginTest(r.tablesOf(&reproMPIFormat), benchmarkTest{})
		r.elementBytes = 1
	}
	switch value := strings.TrimSpace(m[2]); m[1] {
	case "nprocs":
		if isWhole(value) {
			r.printedRanks = parseMatchedNumber(value)
		}
	case "datatype":
		r.elementBytes = datatypeBytes[value]
	case "clocksync", "window_size_sec", "clock-sync":
		r.hasCommonStart = value != "" && value != "None"
	}
	return true
}

// setReproMPIOperation takes the operation from the first column of a row.
func setReproMPIOperation(r *tableReader, name string) (why string) {
	operation := imbOperations[strings.ToLower(strings.TrimPrefix(name, "MPI_"))]
	switch {
	case operation == "":
		return "there is no timer of ours for " + quoteShort(name)
	case r.elementBytes == 0:
		return "the size of its datatype is not known"
	}
	r.test.mode, r.test.name = operation, name
	return ""
}
