package foreign

import (
	"regexp"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// gpcnetFormat reads the latencies of GPCNeT's network tests:
//
//	|                  Name |   Min |   Max |   Avg | Avg(Worst) |   99% | 99.9% | Units |
//	| RR Two-sided Lat (8 B)|   1.2 |  22.2 |   1.5 |        4.7 |   3.6 |   5.1 |  usec |
//
// All ranks send at once, to the next in an order drawn at random (RR) or by rank (Nat). The mean
// over all samples becomes coll_mean of the pattern, and the other columns facts: their least and
// greatest are of single samples, not of ranks.
var gpcnetFormat = Format{
	Name:        "gpcnet",
	Description: "GPCNeT: latency of random and natural rings and of allreduce (us)",
	Signature:   "a table \"| Name | Min | Max | Avg | Avg(Worst) | 99% | ...\"",
	matchesText: func(text string) bool { return hasLine(text, " Name |", gpcnetAnywhere.MatchString) },
}

const gpcnetHeader = `^\|\s+Name \|\s+Min \|\s+Max \|\s+Avg \|`

var (
	gpcnetAnywhere = regexp.MustCompile(`(?m)^\s*` + gpcnetHeader[1:])
	gpcnetHead     = regexp.MustCompile(gpcnetHeader)
	gpcnetVersion  = regexp.MustCompile(`^(?:Network|Network Load|Congestion) Tests v(\S{1,30})$`)
	gpcnetRanks    = regexp.MustCompile(`^Test with (\d{1,7}) MPI ranks`)
	gpcnetSection  = regexp.MustCompile(`^\|\s+(Isolated|Network Tests running with Congestion|Key Results)`)
	gpcnetRow      = regexp.MustCompile(`^\|\s+(\S.{0,60}?) \((\d{1,10}) B\) \|(.*)\|$`)
	gpcnetLegend   = regexp.MustCompile(`^(?:Legend|RR|Nat|Lat|BW|BW\+Sync)(?: = .*)?$`)
)

// gpcnetPatterns are the tests whose time is imported, as operations.
var gpcnetPatterns = map[string]string{"RR Two-sided Lat": "random_ring", "Nat Two-sided Lat": "natural_ring", "Multiple Allreduce": "multiple_allreduce"}

var gpcnetTables = tableFormat{
	Format: &gpcnetFormat,
	columns: []columnFormat{
		plainColumnFormat(`Bytes`, bytesColumn), timeColumnFormat(`Avg`, averageColumn, "us"),
		plainColumnFormat(`Min|Max|Avg\(Worst\)|99%|99\.9%`, detailColumn),
	},
	readDetail: readGPCNeT,
	resolution: 100 * unit.Nanosecond,
	statistics: "means over samples and ranks",
}

// readGPCNeT reads a line of GPCNeT.
func readGPCNeT(r *tableReader, l *inputLine) bool {
	text := strings.TrimSpace(l.text)
	if m := gpcnetVersion.FindStringSubmatch(text); m != nil {
		r.beginTest(r.tablesOf(&gpcnetFormat), benchmarkTest{})
		r.addFact("tool_version", m[1])
		return true
	}
	if gpcnetHead.MatchString(text) {
		if !r.isOfFormat(&gpcnetFormat) {
			r.beginTest(r.tablesOf(&gpcnetFormat), benchmarkTest{})
		}
		return true
	}
	if !r.isOfFormat(&gpcnetFormat) {
		return false
	}
	if m := gpcnetRanks.FindStringSubmatch(text); m != nil {
		r.printedRanks = parseMatchedNumber(m[1])
	} else if m := gpcnetSection.FindStringSubmatch(text); m != nil {
		if r.testSetting = ""; strings.Contains(m[1], "Congestion") {
			r.testSetting = "with congestion"
		}
	} else if m := gpcnetRow.FindStringSubmatch(text); m != nil {
		readGPCNeTRow(r, l, m[1], m[2], strings.Split(m[3], "|"))
	} else {
		return gpcnetLegend.MatchString(text)
	}
	return true
}

// readGPCNeTRow reads the row of a test.
func readGPCNeTRow(r *tableReader, l *inputLine, name, bytes string, cells []string) {
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	r.test = benchmarkTest{name: name, omissionReason: "there is no timer of ours for it"}
	if len(cells) != 7 || cells[6] != "usec" {
		r.test.omissionReason = "it is no time"
	} else if operation := gpcnetPatterns[name]; operation != "" {
		r.test = benchmarkTest{name: name, kind: collectiveTest, mode: operation}
	}
	r.columns = r.format.parseHeadings("Bytes Min Max Avg Avg(Worst) 99% 99.9%")
	r.beginTable()
	row := &inputLine{input: l.input, number: l.number, text: strings.Join(append([]string{bytes}, cells[:min(6, len(cells))]...), " ")}
	before := r.summary.RowCount
	r.readRow(row)
	if r.summary.RowCount > before {
		for i, what := range []string{"min_us", "max_us", "", "worst_mean_us", "percentile_99_us", "percentile_99.9_us"} {
			if what != "" {
				r.addDetail(what, r.test.mode, "coll_mean", parseMatchedNumber(bytes), cells[i])
			}
		}
	}
	r.endTable()
	r.columns = nil
}
