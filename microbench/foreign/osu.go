package foreign

import (
	"regexp"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// osuFormat reads the point-to-point and collective tests of the OSU Micro-Benchmarks, in C, Python
// and Java, over MPI, NCCL and RCCL:
//
//	# OSU MPI Latency Test v7.4
//	# Datatype: MPI_CHAR.
//	# Size       Avg Latency(us)
//	8                       0.11
//
// Latency is half of a ping-pong's round trip by MPI_Send and MPI_Recv, in microseconds with two
// decimals. Bandwidth is of windows of MPI_Isend, each answered by a short message, in MB/s of 10⁶
// bytes: that of both directions in osu_bibw, and of all pairs in osu_mbw_mr. Collective operations
// begin behind a barrier, and print the mean over repetitions of each rank's time: its mean over
// the ranks, and with option -f the fastest and the slowest rank's.
var osuFormat = Format{
	Name:        "osu",
	Description: "OSU Micro-Benchmarks, also with NCCL, in Python and Java: latency and collectives (us), bandwidth (MB/s)",
	Signature:   "a line \"# OSU MPI ... Test v...\"",
	matchesText: func(text string) bool {
		return hasLine(text, "OSU ", osuAnywhere.MatchString) || hasLine(text, "OMB", osuAnywhere.MatchString)
	},
}

var osuTables = tableFormat{
	Format:    &osuFormat,
	title:     osuTitle,
	beginTest: beginOSUTest,
	header:    regexp.MustCompile(`^(?:Size\b.*(?:[(\[]\w+(?:/s)?[)\]]|MB/s)|(?:Avg |Min |Max )?Latency ?[(\[]us[)\]]|Overall ?\(us\))`),
	columns: []columnFormat{
		plainColumnFormat(`Size(?: ?[(\[](?:B|[Bb]ytes)[)\]])?`, bytesColumn),
		timeColumnFormat(`(?:Avg )?Latency ?[(\[]us[)\]]`, averageColumn, "us"),
		timeColumnFormat(`Min Latency ?[(\[]us[)\]]`, minimumColumn, "us"),
		timeColumnFormat(`Max Latency ?[(\[]us[)\]]`, maximumColumn, "us"),
		rateColumnFormat(`(?:Avg )?(?:Bandwidth ?[(\[]MB/s[)\]]|MB/s)`, bandwidthColumn, megabytes),
		rateColumnFormat(`(?:Avg )?Bandwidth ?[(\[]GB/s[)\]]`, bandwidthColumn, gigabytes),
		rateColumnFormat(`Messages/s`, rateColumn, 1),
		plainColumnFormat(`Iterations`, repetitionsColumn),
		plainColumnFormat(`Validation`, checkColumn),
		plainColumnFormat(`P\d+(?:\.\d+)? Tail [^()]*\([^()]*\)`, otherColumn),
		plainColumnFormat(`(?:Overall|Compute|Pure Comm\.|Coll\. Init|MPI_Test|MPI_Wait|Overlap) ?\([^()]*\)`, otherColumn),
	},
	readDetail: readOSUDetail,
	resolution: 10 * unit.Nanosecond,
	statistics: "means over the repetitions",
}

const osuTitlePattern = `(?:OSU|OMB-Py|OMB-Java|OMB) (MPI|NCCL|RCCL|OpenSHMEM|UPC\+\+|UPC)((?:_\w+)?)((?:-\w+)?) (.{1,100}?)(?: [Tt]est)?(?: v(\d\S{0,30}))?(?: \((?:Java|Python)\))?`

var (
	osuTitle    = regexp.MustCompile(`^#*\s*` + osuTitlePattern + `$`)
	osuAnywhere = regexp.MustCompile(`(?m)^[#\s]*` + osuTitlePattern + `\s*$`)
	osuBuffers  = regexp.MustCompile(`^Send Buffer on (\w{1,20}) \(\w{1,3}\) and Receive Buffer on (\w{1,20}) \(\w{1,3}\)`)
	osuPairs    = regexp.MustCompile(`^\[ pairs: (\d{1,7}) \]`)
	osuVersion  = regexp.MustCompile(` v\d\S*(?: \(\w+\))?$`)
)

// osuCollectives are the operations: titles, and names of package collective or, for operations
// that it does not have, those of MPI.
var osuCollectives = map[string]string{
	"barrier": "barrier", "broadcast": "bcast", "bcast": "bcast", "scatter": "scatter", "gather": "gather", "allgather": "allgather",
	"all-to-all personalized exchange": "alltoall", "all-to-all": "alltoall", "alltoall": "alltoall", "reduce": "reduce", "allreduce": "allreduce",
	"scatterv": "scatterv", "gatherv": "gatherv", "allgatherv": "allgatherv", "all-to-allv personalized exchange": "alltoallv", "all-to-allv": "alltoallv", "alltoallv": "alltoallv",
	"all-to-allw personalized exchange": "alltoallw", "all-to-allw": "alltoallw", "alltoallw": "alltoallw",
	"reduce_scatter": "reduce_scatter", "reduce-scatter": "reduce_scatter", "reduce scatter": "reduce_scatter", "reduce_scatter_block": "reduce_scatter_block",
}

// osuUnsupported has parts of the names of tests, and why such tests are left out.
var osuUnsupported = []struct{ part, why string }{
	{"non-blocking", "its times contain computing, which it overlaps with"},
	{"neighborhood", "a neighbourhood collective, for which there is no timer"},
	{"multi-threaded", "several threads send"}, {"multi-process", "several processes send"}, {"multi process", "several processes send"},
	{"multi latency", "several pairs at once"}, {"multi-pair", "several pairs at once"}, {"multi pair", "several pairs at once"},
}

// The protocols of samples: the library chose how single messages go, and a vendor's library which
// algorithm it takes, without saying which.
const (
	autoProtocol    = "auto"
	vendorAlgorithm = "vendor"
)

// beginOSUTest takes a test from its title.
func beginOSUTest(r *tableReader, text string, m []string) {
	if m == nil {
		return
	}
	transport, call, device, name := m[1], m[2], m[3], m[4]
	r.addFact("tool", osuVersion.ReplaceAllString(strings.TrimLeft(text, "# \t"), ""))
	r.addFact("tool_version", m[5])
	switch {
	case transport == "NCCL" || transport == "RCCL":
		r.formatLibrary = strings.ToLower(transport)
		r.setBuffers("device", "device")
	case device != "": // -CUDA and others, whose buffers are the device's unless the next lines say otherwise
		r.setBuffers("device", "device")
	}
	r.test = osuTest(transport+call, name)
}

// osuTest returns the test of a title.
func osuTest(api, name string) benchmarkTest {
	t := benchmarkTest{name: name, omissionReason: "there is no timer for it; osu_latency, osu_bw, osu_bibw, osu_mbw_mr and blocking collectives can be imported"}
	key := strings.ToLower(name)
	for _, x := range osuUnsupported {
		if strings.Contains(key, x.part) {
			t.omissionReason = x.why
			return t
		}
	}
	if strings.ContainsAny(api, "_") || api == "OpenSHMEM" || strings.HasPrefix(api, "UPC") {
		t.name, t.omissionReason = api+" "+name, "a one-sided test"
		return t
	}
	send, isend, suffix := "send", "isend", ""
	if rest := strings.TrimSpace(strings.ReplaceAll(" "+key+" ", " persistent ", " ")); rest != key {
		key, send, isend, suffix = rest, "send_init", "send_init", "_init"
	}
	windows := func(program, bounds string) string {
		return "g and o_s: " + program + " has windows of sends with an answer each; the time a message is imported as %s" + bounds
	}
	switch key {
	case "latency", "":
		t.kind, t.mode = roundTripTest, send
	case "bandwidth":
		t.kind, t.mode, t.note = oneWayStreamTest, isend, windows("osu_bw", ", which bounds g and has G")
	case "bi-directional bandwidth", "bidirectional bandwidth":
		t.kind, t.mode, t.note = bidirectionalStreamTest, isend, windows("osu_bibw", "")
	case "multiple bandwidth / message rate":
		t.kind, t.mode, t.note = multiPairStreamTest, isend, windows("osu_mbw_mr", "")
	default:
		if operation := osuCollectives[strings.TrimSuffix(key, " latency")]; operation != "" {
			t.kind, t.mode = collectiveTest, operation+suffix
			t.isReduction = strings.Contains(operation, "reduce")
		}
	}
	return t
}

// readOSUDetail takes what a line between title and headings says of the rows below.
func readOSUDetail(r *tableReader, l *inputLine) bool {
	if !r.isOfFormat(&osuFormat) {
		return false
	}
	text := strings.TrimLeft(l.text, "# \t")
	if m := osuBuffers.FindStringSubmatch(text); m != nil {
		r.setBuffers(strings.ToLower(m[1]), strings.ToLower(m[2]))
	} else if m := osuPairs.FindStringSubmatch(text); m != nil {
		r.pairs = max(parseMatchedNumber(m[1]), 1)
	} else if rest, ok := strings.CutPrefix(text, "Datatype:"); ok {
		r.setDatatype(strings.TrimSpace(rest))
	} else {
		return false
	}
	r.setLibrary()
	return true
}

// setBuffers notes where the buffers of the next rows are. Measurements with buffers outside host
// memory count as another library, so that they are not mixed with times of host memory.
func (r *tableReader) setBuffers(send, receive string) {
	switch r.bufferMemory = send + " buffers"; {
	case send == "host" && receive == "host":
		r.bufferMemory = ""
		return
	case send != receive:
		r.bufferMemory = send + " to " + receive + " buffers"
	}
	r.buffersFact = "send on " + send + ", receive on " + receive
}

// setDatatype notes the datatype of the next rows. Of a test that is run with several (osu_latency
// -T all) the first is the test's; rows of another are not repetitions of it.
func (r *tableReader) setDatatype(name string) {
	r.addFact("datatype", name)
	name = strings.TrimSuffix(name, ".")
	first, known := r.datatypes[r.test.name]
	if !known {
		r.datatypes[r.test.name], first = name, name
	}
	if r.testSetting = ""; name != first {
		r.testSetting = name
		r.endTable()
	}
}

// addTestFacts says what the values of a test are, and what it does not show.
func (r *tableReader) addTestFacts() {
	t, f := &r.test, r.format
	if t.kind == unsupportedTest {
		return
	}
	if r.bufferMemory != "" {
		r.addFact("buffers", r.buffersFact)
	}
	timer := sample.TimerStream
	switch t.kind {
	case roundTripTest:
		r.addFact("values", "rtt: "+f.statistics+", one a size; twice the latency")
		if t.usesMessageRate && r.columnOf(rateColumn) >= 0 {
			r.noteResolution(unit.Picosecond)
		} else {
			r.noteResolution(2 * f.resolution)
		}
	case remoteReadTest:
		r.addFact("values", "get: "+f.statistics+", one a size")
		r.noteResolution(f.resolution)
	case collectiveTest:
		r.addFact("values", "coll_min, coll_mean and coll_max: "+f.statistics+" of each rank's time, over the ranks")
		if !r.hasCommonStart {
			r.addFact(sample.StartFact, sample.NoCommonStartPrefix+f.reasonForNoCommonStart(t))
		}
		r.noteResolution(f.resolution)
		if r.columnOf(maximumColumn) < 0 && r.columnOf(averageColumn) >= 0 {
			r.noteLeftOut("%s: without the slowest rank's time%s, the mean of the ranks counts", t.name, map[bool]string{true: ", which option -f prints"}[f.Format == &osuFormat])
		}
	case bidirectionalStreamTest:
		timer = sample.TimerStreamBoth
		r.addFact("streams_at_once", "2")
	case multiPairStreamTest:
		if r.pairs > 1 {
			timer = sample.StreamPairsTimer(r.pairs)
			r.addFact("streams_at_once", formatNumber(r.pairs))
		}
	}
	if t.kind == oneWayStreamTest || t.kind == bidirectionalStreamTest || t.kind == multiPairStreamTest {
		r.addFact("values", timer+": "+f.statistics+", one a size; bytes by bandwidth, or the inverse of messages a second")
	}
	if t.note != "" {
		r.noteLeftOut("%s", strings.ReplaceAll(t.note, "%s", timer))
	}
	var others []string
	for _, c := range r.columns {
		if c.role == otherColumn {
			others = append(others, c.name)
		}
	}
	if others != nil {
		r.noteLeftOut("%s: columns that are other statistics of the same times: %s", t.name, cleanFact(strings.Join(others, ", ")))
	}
}

// reasonForNoCommonStart says why ranks had no common start.
func (f *tableFormat) reasonForNoCommonStart(t *benchmarkTest) string {
	if f.Format == &osuFormat {
		return "osu_" + t.mode + " has no common clock"
	}
	return f.Name + " has no common clock"
}
