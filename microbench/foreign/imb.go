package foreign

import (
	"regexp"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// imbFormat reads the blocks of the Intel MPI Benchmarks, parts MPI-1 and P2P:
//
//	# Benchmarking PingPong
//	# #processes = 2
//	       #bytes #repetitions      t[usec]   Mbytes/sec
//	            8         1000         0.09        85.46
//
// t is half of the round trip, in microseconds with two decimals. Uniband sends windows by
// MPI_Isend, each answered by a short message, and prints messages a second. In Biband both
// processes do so at once, and the rate is of both. Part P2P prints messages a second of PingPong
// too, which have more digits than the time. Collective operations have the mean over repetitions
// of each process's time: the least, the greatest and the mean of the processes.
var imbFormat = Format{
	Name:        "imb",
	Description: "Intel MPI Benchmarks MPI-1 and P2P: PingPong, Uniband, Biband and collectives (us)",
	Signature:   "a line \"# Intel(R) MPI Benchmarks ...\" in the head, or \"# Benchmarking ...\"",
	matchesText: func(text string) bool {
		return hasLine(text, imbName, imbTitle.MatchString) || hasLine(text, "# Benchmarking ", imbBlock.MatchString)
	},
}

// imbName is in each match of imbTitle.
const imbName = "MPI Benchmark"

var imbTables = tableFormat{
	Format:    &imbFormat,
	title:     imbBlock,
	beginTest: beginIMBTest,
	header:    regexp.MustCompile(`^(?:group\s+#?)?(?:bytes\s+#)?repetitions\s`),
	columns: []columnFormat{
		plainColumnFormat(`#?bytes`, bytesColumn), plainColumnFormat(`#?repetitions`, repetitionsColumn),
		timeColumnFormat(`t\[usec\]`, averageColumn, "us"), timeColumnFormat(`t_avg\[usec\]`, averageColumn, "us"),
		timeColumnFormat(`t_min\[usec\]`, minimumColumn, "us"), timeColumnFormat(`t_max\[usec\]`, maximumColumn, "us"),
		plainColumnFormat(`Mbytes/sec`, detailColumn), rateColumnFormat(`Msg/sec`, rateColumn, 1),
		plainColumnFormat(`defects`, checkColumn),
	},
	readDetail: readIMBDetail,
	resolution: 10 * unit.Nanosecond,
	statistics: "means over the repetitions",
}

var (
	imbTitle = regexp.MustCompile(`(?m)^[#\s]*(Intel ?\(R\) MPI Benchmarks?) (\S{1,40}?),? (?:MPI-1|MPI-2|IMB-\w+|\w+) part`)
	imbBlock = regexp.MustCompile(`(?m)^[ \t]*# Benchmarking (\S{1,60})`)
	imbPairs = regexp.MustCompile(`^#processes = (\d{1,9})`)
)

// imbTests are the blocks that can be imported, and reasons for others.
var imbTests = map[string]benchmarkTest{
	"PingPong": {kind: roundTripTest, mode: "send", usesMessageRate: true},
	"Uniband": {kind: oneWayStreamTest, mode: "isend", usesMessageRate: true,
		note: "g and o_s of Uniband: it has windows of sends with an answer each; the time a message is imported as stream, which bounds g and has G"},
	"Biband":   {kind: bidirectionalStreamTest, mode: "isend", usesMessageRate: true},
	"PingPing": {omissionReason: bothSendNote}, "Sendrecv": {omissionReason: bothSendNote}, "Exchange": {omissionReason: bothSendNote},
	"PingPongSpecificSource": {omissionReason: "a second test of the same calls, which PingPong has too"}, "PingPingSpecificSource": {omissionReason: bothSendNote},
	"PingPongAnySource": {omissionReason: "a receive from any source, for which there is no timer"}, "PingPingAnySource": {omissionReason: bothSendNote},
}

const bothSendNote = "both send at once, for which there is no timer of ours"

// imbOperations are the collective operations: titles in lower case, and names of package
// collective or, for operations that it does not have, those of MPI.
var imbOperations = map[string]string{
	"bcast": "bcast", "allgather": "allgather", "allgatherv": "allgatherv", "gather": "gather", "gatherv": "gatherv", "scatter": "scatter", "scatterv": "scatterv",
	"alltoall": "alltoall", "alltoallv": "alltoallv", "reduce": "reduce", "allreduce": "allreduce", "reduce_scatter": "reduce_scatter",
	"reduce_scatter_block": "reduce_scatter_block", "barrier": "barrier",
}

// beginIMBTest takes a test from the title of its block.
func beginIMBTest(r *tableReader, _ string, m []string) {
	if m == nil {
		return
	}
	t, known := imbTests[m[1]]
	operation := imbOperations[strings.ToLower(m[1])]
	switch {
	case strings.HasPrefix(strings.ToLower(m[1]), "multi-"):
		t.omissionReason = "several groups of processes at once"
	case operation != "":
		t = benchmarkTest{kind: collectiveTest, mode: operation, isReduction: strings.Contains(operation, "reduce")}
	case !known:
		t.omissionReason = "there is no timer of ours for it"
	}
	t.name = m[1]
	r.test = t
}

// readIMBDetail takes facts from the head of the file, and the number of processes of a block.
func readIMBDetail(r *tableReader, l *inputLine) bool {
	text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(l.text), "#"))
	if strings.Contains(text, imbName) {
		if m := imbTitle.FindStringSubmatch(l.text); m != nil {
			r.addFact("tool", m[1])
			r.addFact("tool_version", strings.TrimSuffix(m[2], ","))
			r.isIMBHeadRead = true
			return true
		}
	}
	if m := imbPairs.FindStringSubmatch(text); m != nil && r.isOfFormat(&imbFormat) {
		if r.printedRanks = parseMatchedNumber(m[1]); r.test.kind != collectiveTest && r.test.kind != unsupportedTest && r.printedRanks != 2 {
			r.test.name += " of " + m[1] + " processes"
			r.test.kind, r.test.omissionReason = unsupportedTest, "several pairs at once"
		}
		return true
	}
	if key, value, ok := strings.Cut(text, ":"); ok && r.isIMBHeadRead && r.format == nil {
		if name, ok := imbFacts[strings.TrimSpace(key)]; ok {
			r.addFact(name, value)
			return true
		}
	}
	return false
}

var imbFacts = map[string]string{"Date": "date", "Machine": "machine", "System": "system", "Release": "release", "MPI Version": "mpi_version"}
