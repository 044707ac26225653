package foreign

import (
	"regexp"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// ucxFormat reads the results of ucx_perftest and ucxx_perftest:
//
//	| Test:         tag match latency                                                          |
//	| Message size: 8                                                                          |
//	|       |              |    latency (usec)     | bandwidth (MB/s)  | message rate (msg/s) |
//	| Stage | # iterations | 50.0%ile|avg.|overall |  average| overall |   average |  overall |
//	Final:         1000000   0.812 0.823 0.823          9.27      9.27     1215067    1215067
//
// Latency is half of a round trip. MB are 2²⁰ bytes. Where the box above the table is not printed,
// the command line names the test and the size.
var ucxFormat = Format{
	Name:        "ucx",
	Description: "ucx_perftest: latency of a ping-pong (us), bandwidth",
	Signature:   "a line \"| Stage | # iterations | ...\" and \"Final: ...\"",
	matchesText: func(text string) bool { return hasLine(text, " (usec)", ucxAnywhere.MatchString) },
}

var (
	ucxAnywhere = regexp.MustCompile(`(?m)^\s*\|[| ]*(?:latency|overhead) \(usec\)`)
	ucxUnits    = regexp.MustCompile(`^\|[| ]*(?:latency|overhead) \(usec\)`)
	ucxStages   = regexp.MustCompile(`^\|\s+(?:Stage|Test)\s+\|\s+# iterations`)
	ucxProgress = regexp.MustCompile(`^\[thread \d+\]\s+\d+\s`)
	ucxFinal    = regexp.MustCompile(`^Final:\s+\d`)
	ucxSetting  = regexp.MustCompile(`^\|\s*([A-Z][\w ]{0,30}):\s+(.*?)\s*\|$`)
	ucxBatch    = regexp.MustCompile(`^=+ (\w{1,40}_(?:lat|bw|mr)) =+$`)
	ucxTest     = regexp.MustCompile(`\s-t\s*(\w{1,40})`)
	ucxSize     = regexp.MustCompile(`\s-s\s*(\d{1,10})(?:\s|$)`)
)

var ucxTables = tableFormat{
	Format:  &ucxFormat,
	library: "ucx",
	columns: []columnFormat{
		plainColumnFormat(`Final:`, detailColumn), plainColumnFormat(`iterations`, repetitionsColumn),
		plainColumnFormat(`typical|moment`, detailColumn), timeColumnFormat(`latency`, averageColumn, "us"), rateColumnFormat(`bandwidth`, bandwidthColumn, mebibytes),
	},
	readDetail: readUCX,
	resolution: unit.Nanosecond,
	statistics: "means over the repetitions",
}

// readUCX reads a line of ucx_perftest.
func readUCX(r *tableReader, l *inputLine) bool {
	text := strings.TrimSpace(l.text)
	if m := ucxBatch.FindStringSubmatch(text); m != nil {
		r.ucx.test = m[1]
		return true
	}
	if m := ucxSetting.FindStringSubmatch(text); m != nil {
		r.readUCXSetting(m[1], m[2])
		return true
	}
	switch {
	case ucxUnits.MatchString(text):
		r.beginTest(r.tablesOf(&ucxFormat), benchmarkTest{})
		return true
	case !r.isOfFormat(&ucxFormat):
		return false
	case ucxStages.MatchString(text), ucxProgress.MatchString(text):
		return true
	case ucxFinal.MatchString(text):
		r.readUCXFinal(l)
		return true
	}
	return false
}

// ucxSettings are what the box above the table says.
type ucxSettings struct{ test, size, memory string }

func (r *tableReader) readUCXSetting(key, value string) {
	switch key {
	case "API":
		r.ucx = ucxSettings{}
	case "Test":
		r.ucx.test, r.ucx.size = value, ""
	case "Message size":
		r.ucx.size = value
	case "Send memory", "Recv memory", "Memory type":
		r.ucx.memory = strings.ToLower(value)
	}
}

// ucxNames are the tests that the box names, and those of option -t.
var ucxNames = map[string]string{
	"tag match latency": "tag_lat", "tag match bandwidth": "tag_bw", "tag sync match latency": "tag_sync_lat", "tag sync match bandwidth": "tag_sync_bw",
	"active message latency": "am_lat", "am latency": "am_lat", "active message bandwidth": "am_bw", "am bandwidth": "am_bw", "active message bandwidth / message rate": "am_bw", "am bandwidth / message rate": "am_bw",
	"put latency": "put_lat", "put bandwidth": "put_bw", "stream latency": "stream_lat", "stream bandwidth": "stream_bw",
}

// readUCXFinal reads the one row of a test.
func (r *tableReader) readUCXFinal(l *inputLine) {
	name, size := r.ucx.test, r.ucx.size
	if known, ok := ucxNames[name]; ok {
		name = known
	}
	if strings.HasSuffix(r.program, "x_perftest") {
		if m := ucxTest.FindStringSubmatch(r.programArgs); m != nil && name == "" {
			name = m[1]
		}
		if m := ucxSize.FindStringSubmatch(r.programArgs); m != nil && size == "" {
			size = m[1]
		} else if size == "" {
			size = "8" // the tool's own
		}
	}
	name = strings.TrimPrefix(name, "ucp_")
	t := benchmarkTest{name: "ucx_perftest " + name}
	switch operation, what, _ := cutAtLast(name, "_"); {
	case name == "" || !isWhole(size):
		t.omissionReason = "neither the box above the table nor a command says test and message size"
	case operation == "get" || what != "lat" && what != "bw":
		t.omissionReason = "there is no timer of ours for it"
	case what == "lat":
		t.kind, t.mode = roundTripTest, operation
	default:
		t.kind, t.mode = oneWayStreamTest, operation
	}
	r.test = t
	if r.bufferMemory = ""; r.ucx.memory != "" && r.ucx.memory != "host" {
		r.bufferMemory, r.buffersFact = "device buffers", r.ucx.memory
	}
	r.columns = r.format.parseHeadings("Final: iterations typical moment latency moment bandwidth moment moment")
	r.columns = append(r.columns, tableColumn{columnFormat{role: bytesColumn}, "Message size"})
	r.beginTable()
	l.text += " " + size
	l.mayBeTruncated = false
	r.readRow(l)
	r.endTable()
	r.columns = nil
}

// cutAtLast cuts a text around the last separator.
func cutAtLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}
