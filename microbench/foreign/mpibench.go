package foreign

import (
	"regexp"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// mpiBenchFormat reads the lines of LLNL's mpiBench, of which each has its headings within:
//
//	Allreduce Bytes: 8 Iters: 1000 Avg: 12.35 Min: 12.10 Max: 12.60 Comm: MPI_COMM_WORLD Ranks: 64
//
// Times are means over the repetitions of each rank's time, in microseconds: their mean, least and
// greatest over the ranks.
var mpiBenchFormat = Format{
	Name:        "mpibench",
	Description: "mpiBench of LLNL: collectives (us)",
	Signature:   "lines \"NAME Bytes: ... Iters: ... Avg: ... Min: ... Max: ... Ranks: ...\"",
	matchesText: func(text string) bool { return hasLine(text, "Ranks:", mpiBenchAnywhere.MatchString) },
}

const mpiBenchLine = `(\S+)(?: \S+)*\s+Bytes:\s*(\S+)\s+Iters:\s*(\S+)\s+Avg:\s*(\S+)\s+Min:\s*(\S+)\s+Max:\s*(\S+)\s+(?:Limit:\s*\S+\s+)?Comm:\s*(\S+)\s+Ranks:\s*(\d{1,7})`

var (
	mpiBenchAnywhere = regexp.MustCompile(`(?m)^\s*` + mpiBenchLine + `\s*$`)
	mpiBenchRow      = regexp.MustCompile(`^` + mpiBenchLine + `$`)
)

var mpiBenchTables = tableFormat{
	Format: &mpiBenchFormat,
	columns: []columnFormat{
		plainColumnFormat(`Bytes`, bytesColumn), plainColumnFormat(`Iters`, repetitionsColumn),
		timeColumnFormat(`Avg`, averageColumn, "us"), timeColumnFormat(`Min`, minimumColumn, "us"), timeColumnFormat(`Max`, maximumColumn, "us"),
	},
	readDetail: readMPIBench,
	resolution: 100 * unit.Picosecond,
	statistics: "means over the repetitions",
}

// readMPIBench reads a line with the times of one operation and size.
func readMPIBench(r *tableReader, l *inputLine) bool {
	if len(l.text) > maxLineBytes || !strings.Contains(l.text, "Ranks:") {
		return false
	}
	m := mpiBenchRow.FindStringSubmatch(strings.TrimSpace(l.text))
	if m == nil {
		return false
	}
	if !r.isOfFormat(&mpiBenchFormat) || r.test.name != m[1] || r.operation != m[7] {
		r.beginTest(r.tablesOf(&mpiBenchFormat), benchmarkTest{name: m[1], omissionReason: "there is no timer of ours for it"})
		r.operation = m[7]
		if operation := imbOperations[strings.ToLower(m[1])]; m[7] != "MPI_COMM_WORLD" {
			r.test.omissionReason = "several communicators at once"
		} else if operation != "" {
			r.test = benchmarkTest{name: m[1], kind: collectiveTest, mode: operation}
		}
		r.columns = r.format.parseHeadings("Bytes Iters Avg Min Max")
		r.beginTable()
	}
	r.printedRanks = parseMatchedNumber(m[8])
	row := &inputLine{input: l.input, number: l.number, text: strings.Join(m[2:7], " ")}
	r.readRow(row)
	return true
}
