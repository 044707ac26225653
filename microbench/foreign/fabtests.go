package foreign

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// fabtestsFormat reads the tables of fi_pingpong and of the tests of libfabric:
//
//	bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
//	64      10k     =10k     1.2m        0.04s     30.11       2.13       0.47
//
// usec/xfer is the time of a message one way: in ping-pongs half of a round trip. The tables do not
// say which test it is. fi_pingpong alone has #ack; in other ping-pongs total is twice the bytes of
// all messages sent, in streams once.
var fabtestsFormat = Format{
	Name:        "fabtests",
	Description: "libfabric's fi_pingpong and fabtests: time of a transfer (us)",
	Signature:   "a line \"bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec\"",
	matchesText: func(text string) bool { return hasLine(text, "usec/xfer", fabtestsAnywhere.MatchString) },
}

const fabtestsHeader = `^(?:name\s+)?bytes\s+(?:#sent|iters)\s.*usec/xfer`

var (
	fabtestsAnywhere = regexp.MustCompile(`(?m)^[#\s]*` + fabtestsHeader[1:])
	fabtestsName     = regexp.MustCompile(`^fi_(msg|rdm|dgram|ud|tagged|rma|rdm_tagged)?_?(pingpong|tagged_pingpong|bw|tagged_bw)$`)
)

var fabtestsTables = tableFormat{
	Format:  &fabtestsFormat,
	library: "libfabric",
	header:  regexp.MustCompile(fabtestsHeader),
	columns: []columnFormat{
		plainColumnFormat(`name`, detailColumn), plainColumnFormat(`bytes`, scaledBytesColumn), plainColumnFormat(`#sent|iters`, scaledCountColumn),
		plainColumnFormat(`#ack|time|MB/sec`, detailColumn), plainColumnFormat(`total`, scaledTotalBytesColumn),
		timeColumnFormat(`usec/xfer`, averageColumn, "us"), rateColumnFormat(`Mxfers/sec`, detailColumn, 1e6),
	},
	beginUntitledTest: func(r *tableReader) { r.test = fabtestsTest(r.program, r.columnNamed("#ack") >= 0) },
	resolution:        10 * unit.Nanosecond,
	statistics:        "means over the repetitions",
}

// fabtestsTest returns the test of a program. Without its name it is that of the first row.
func fabtestsTest(program string, acknowledged bool) benchmarkTest {
	t := benchmarkTest{name: "fi_pingpong", kind: roundTripTest, mode: "message"}
	m := fabtestsName.FindStringSubmatch(program)
	switch {
	case m == nil && acknowledged:
	case m == nil:
		t.name, t.kind = "a test of fabtests", unknownTest
	default:
		t.name = program
		if strings.Contains(program, "tagged") {
			t.mode = "tagged"
		}
		if strings.Contains(program, "rma") {
			t.mode = "rma"
		}
		if strings.HasSuffix(program, "bw") {
			t.kind, t.usesPrintedTime = oneWayStreamTest, true
		}
	}
	return t
}

// guessFabtestsTest sets the test by a row of it: how often total has the bytes of all messages
// sent.
func guessFabtestsTest(r *tableReader, v rowValues) (why string) {
	switch ratio := v.total / (float64(v.bytes) * v.count); {
	case ratio > 1.6 && ratio < 2.4:
		r.test.name, r.test.kind = "a ping-pong of fabtests", roundTripTest
	case ratio > 0.8 && ratio < 1.25:
		r.test.name, r.test.kind, r.test.usesPrintedTime = "a stream of fabtests", oneWayStreamTest, true
	default:
		return "neither a command above it nor total says whether it is a ping-pong"
	}
	r.summary.Test = r.test.name
	r.addTestFacts()
	return ""
}

// parseScaled reads a number that fabtests shortens: 10k, 1.2m. thousand is 1000 of counts and 1024
// of bytes.
func parseScaled(text string, thousand float64) (float64, bool) {
	factor := 1.0
	for i, suffix := range []string{"k", "m", "g"} {
		if rest, ok := strings.CutSuffix(strings.ToLower(text), suffix); ok {
			text, factor = rest, math.Pow(thousand, float64(i+1))
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	return x * factor, err == nil && isDecimal(text)
}
