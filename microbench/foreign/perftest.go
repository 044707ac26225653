package foreign

import (
	"regexp"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// perftestFormat reads the tables of perftest, the tests of InfiniBand verbs:
//
//	                   RDMA_Write Latency Test
//	#bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] t_stdev[usec] ...
//	2      1000        0.98        3.34        1.01            1.01        0.06          ...
//
// Times of writes and sends are half of a round trip, those of reads and atomics all of it;
// t_typical is the median. Bandwidth is in MB of 2²⁰ bytes, or in Gbit, a second, and messages are
// in millions a second, which has more digits.
var perftestFormat = Format{
	Name:        "perftest",
	Description: "perftest, ib_write_lat and others: latency (us) and messages a second",
	Signature:   "a line \"#bytes #iterations ...\"",
	matchesText: func(text string) bool { return hasLine(text, "#iterations", perftestAnywhere.MatchString) },
}

var perftestTables = tableFormat{
	Format:  &perftestFormat,
	library: "verbs",
	title:   regexp.MustCompile(`^(Send|RDMA_Write(?:_imm)?|RDMA_Read|Atomic\w*)\s+((?:Bidirectional )?)(?:Post List )?(BW|Latency)(?: Post List)? Test$`),
	beginTest: func(r *tableReader, text string, m []string) {
		r.test = perftestTest(text, m[1], m[2] != "", m[3] == "BW")
	},
	beginUntitledTest: func(r *tableReader) { r.test = perftestProgram(r.program, r.programArgs) },
	header:            regexp.MustCompile(`^bytes\s+#iterations\s`),
	columns: []columnFormat{
		plainColumnFormat(`#?bytes`, bytesColumn), plainColumnFormat(`#iterations`, repetitionsColumn),
		timeColumnFormat(`t_typical\[usec\]`, typicalColumn, "us"), timeColumnFormat(`t_avg\[usec\]`, averageColumn, "us"),
		plainColumnFormat(`t_min\[usec\]|t_max\[usec\]|t_stdev\[usec\]|[\d.]+% percentile\[usec\]|tps average|BW peak\s?\[[^\]]*\]|CPU_Util\[%\]`, detailColumn),
		rateColumnFormat(`BW average\s?\[(?:MB|MiB)/sec\]`, bandwidthColumn, mebibytes), rateColumnFormat(`BW average\s?\[Gb/sec\]`, bandwidthColumn, gigabits),
		rateColumnFormat(`MsgRate\s?\[Mpps\]`, rateColumn, 1e6),
	},
	readDetail: readPerftestDetail,
	resolution: 10 * unit.Nanosecond,
	statistics: "medians (t_typical) or means over the repetitions",
}

var (
	perftestAnywhere = regexp.MustCompile(`(?m)^[#\s]*bytes\s+#iterations\s`)
	perftestName     = regexp.MustCompile(`^ib_(send|write|read|atomic)_(lat|bw)$`)
	perftestSetting  = regexp.MustCompile(`^[A-Z][\w .*()/-]{1,30}:\s|^(?:local|remote) address:|^GID:`)
)

// perftestTest returns the test of a verb.
func perftestTest(name, verb string, both, bandwidth bool) benchmarkTest {
	t := benchmarkTest{name: name, mode: strings.ToLower(verb), usesMessageRate: true}
	if verb == "Send" {
		t.mode = "message"
	}
	reads := verb == "RDMA_Read" || strings.HasPrefix(verb, "Atomic")
	switch {
	case bandwidth && both:
		t.kind = bidirectionalStreamTest
	case bandwidth:
		t.kind = oneWayStreamTest
	case reads:
		t.kind = remoteReadTest
	default:
		t.kind = roundTripTest
	}
	return t
}

// perftestProgram returns the test of a program.
func perftestProgram(program, args string) benchmarkTest {
	m := perftestName.FindStringSubmatch(program)
	if m == nil {
		return benchmarkTest{omissionReason: "neither a title nor a command above it names the test"}
	}
	verb := map[string]string{"send": "Send", "write": "RDMA_Write", "read": "RDMA_Read", "atomic": "Atomic"}[m[1]]
	both := strings.Contains(args+" ", " -b ") || strings.Contains(args, "--bidirectional")
	return perftestTest(program, verb, both, m[2] == "bw")
}

// readPerftestDetail passes over the settings that are printed above a table.
func readPerftestDetail(r *tableReader, l *inputLine) bool {
	return r.isOfFormat(&perftestFormat) && r.columns == nil && perftestSetting.MatchString(strings.TrimSpace(l.text))
}
