package foreign

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// osu reads the OSU Micro-Benchmarks osu_latency, osu_bw, osu_bibw, osu_mbw_mr and the blocking
// collective operations:
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
var osu = Format{
	Name:        "osu",
	Description: "OSU Micro-Benchmarks: osu_latency (us), osu_bw, osu_bibw and osu_mbw_mr (MB/s), collectives (us)",
	Mark:        "a line \"# OSU MPI ... Test v...\"",
	matches:     func(text string) bool { return osuTitle.MatchString(text) },
	read:        readOSU,
}

var (
	osuTitle   = regexp.MustCompile(`(?m)^# (OSU MPI(-\S+)? (.{1,100}?)(?: Test)?) v(\S{1,30})`)
	osuBuffers = regexp.MustCompile(`^Send Buffer on (\w{1,20}) \(\w\) and Receive Buffer on (\w{1,20}) \(\w\)`)
	osuPairs   = regexp.MustCompile(`^\[ pairs: (\d{1,7}) \]`)
	osuHead    = regexp.MustCompile(`^(Size\s+)?(?:Avg |Min |Max )?(?:Latency ?\(us\)|Bandwidth ?\(MB/s\)|MB/s)`)
	osuLatency = regexp.MustCompile(`^Size\s+(?:Avg )?Latency ?\(us\)`)
	osuBW      = regexp.MustCompile(`^Size\s+Bandwidth ?\(MB/s\)`)
	osuRate    = regexp.MustCompile(`^Size\s+MB/s\s+Messages/s`)
	osuRanks   = regexp.MustCompile(`^(Size\s+)?Avg Latency ?\(us\)(\s+Min Latency ?\(us\)\s+Max Latency ?\(us\)\s+Iterations)?$`)
)

// osuCollectives are the operations whose data is counted as ours: titles, and names of package
// collective.
var osuCollectives = map[string]string{
	"Barrier Latency": "barrier", "Broadcast Latency": "bcast", "Scatter Latency": "scatter", "Gather Latency": "gather", "Allgather Latency": "allgather",
	"All-to-All Personalized Exchange Latency": "alltoall", "Reduce Latency": "reduce", "Allreduce Latency": "allreduce",
}

// The protocols of samples: the library chose how single messages go, and a vendor's library which
// algorithm it takes, without saying which.
const (
	autoProtocol    = "auto"
	vendorAlgorithm = "vendor"
)

// osuReader is what is known of a file while its lines are read.
type osuReader struct {
	*builder
	library     string      // of all tests of the file
	test        string      // the title of the one that is read
	bufferPlace string      // its buffers are, if not in the memory of the hosts
	pairs       int         // of ranks that send at once
	row         func(*line) // what to do with its rows; nil before its header
}

func readOSU(in *input, b *builder) {
	r := &osuReader{builder: b, library: b.key.Library, row: func(*line) {}}
	in.forEachLine(r.readComment, func(l *line) {
		switch {
		case !strings.Contains("0123456789", l.text[:1]) && r.test == "": // what a launcher says first
		case r.row == nil:
			l.errorf(1, "a row before the line \"# Size ...\" that says what it is")
		case r.test == "":
			l.errorf(1, "a row before the title \"# OSU MPI ... Test v...\"")
		default:
			r.row(l)
		}
	})
	if r.test == "" {
		in.errorf(in.last, "no title \"# OSU MPI ... Test v...\"")
	}
}

// readComment takes what a line that begins with # says of the rows below it.
func (r *osuReader) readComment(l *line, text string) {
	if m := osuTitle.FindStringSubmatch(l.text); m != nil {
		r.test, r.pairs, r.row = m[3], 1, nil
		r.key.Protocol = autoProtocol
		r.addFact("tool", m[1])
		r.addFact("tool_version", m[4])
		r.setBuffers("", "")
		if m[2] != "" { // -CUDA and others, whose buffers are the device's unless the next lines say otherwise
			r.setBuffers("device", "device")
		}
	} else if m := osuBuffers.FindStringSubmatch(text); m != nil {
		r.setBuffers(strings.ToLower(m[1]), strings.ToLower(m[2]))
	} else if m := osuPairs.FindStringSubmatch(text); m != nil {
		r.pairs = max(atoi(m[1]), 1)
	} else if rest, ok := strings.CutPrefix(text, "Datatype:"); ok {
		r.addFact("datatype", rest)
	} else if osuHead.MatchString(text) {
		r.addFact("buffers", r.bufferPlace)
		r.row = r.rowReader(text)
	}
}

// setBuffers notes where the buffers of the next rows are. Measurements with buffers outside host
// memory count as another library, so that they are not mixed with times of host memory.
func (r *osuReader) setBuffers(send, receive string) {
	r.key.Library, r.bufferPlace = r.library, ""
	if cmp.Or(send, "host") == "host" && cmp.Or(receive, "host") == "host" {
		return
	}
	where := send + " buffers"
	if send != receive {
		where = send + " to " + receive + " buffers"
	}
	r.bufferPlace = "send on " + send + ", receive on " + receive
	r.key.Library = strings.TrimSpace(r.library + " (" + where + ")")
}

// rowReader returns what to do with the rows of a test below a header.
func (r *osuReader) rowReader(head string) func(*line) {
	switch operation := osuCollectives[r.test]; {
	case r.test == "Latency" && osuLatency.MatchString(head):
		r.noteOtherColumns(head)
		r.addFact("values", "rtt: means over the repetitions, one a size; twice the latency")
		r.setResolution(2 * 10 * unit.Nanosecond)
		return func(l *line) {
			if l.splitWords(false, 2, 16, "a size and a value") {
				r.addSummary("send", sample.TimerRTT, l.parseBytes(0), 2*l.parseTime(1, "us", "a latency in us"))
			}
		}
	case r.test == "Bandwidth" && osuBW.MatchString(head):
		r.noteOtherColumns(head)
		return r.bandwidthReader("osu_bw", sample.TimerStream, 1)
	case r.test == "Bi-Directional Bandwidth" && osuBW.MatchString(head):
		r.noteOtherColumns(head)
		return r.bandwidthReader("osu_bibw", sample.TimerStreamBoth, 2)
	case r.test == "Multiple Bandwidth / Message Rate" && osuRate.MatchString(head):
		if r.pairs > 1 {
			return r.bandwidthReader("osu_mbw_mr", sample.StreamPairsTimer(r.pairs), r.pairs)
		}
		return r.bandwidthReader("osu_mbw_mr", sample.TimerStream, 1)
	case operation != "":
		if m := osuRanks.FindStringSubmatch(head); m != nil {
			return r.collectiveReader(operation, m[1] != "", m[2] != "")
		}
	}
	r.noteLeftOut("%s: there is no timer for it; osu_latency, osu_bw, osu_bibw, osu_mbw_mr and blocking collectives can be imported", r.test)
	return func(*line) {}
}

// noteOtherColumns says that columns are left out.
func (r *osuReader) noteOtherColumns(head string) {
	if strings.Contains(head[strings.IndexByte(head, ')')+1:], "(") {
		r.noteLeftOut("%s: columns after the second, which are other statistics of the same times", r.test)
	}
}

// bandwidthReader reads rows of sizes and the bandwidth of so many streams of messages together.
func (r *osuReader) bandwidthReader(program, timer string, streams int) func(*line) {
	r.addFact("values", timer+": means over the repetitions, one a size; bytes by bandwidth")
	if streams > 1 {
		r.addFact("streams_at_once", itoa(streams))
	}
	r.noteLeftOut("g and o_s: %s has windows of sends with an answer each; the time a message is imported as %s%s", program, timer,
		map[bool]string{true: ", which bounds g and has G"}[timer == sample.TimerStream])
	return func(l *line) {
		if l.splitWords(false, 2, 16, "a size and a value") {
			k := l.parseBytes(0)
			r.addSummary("isend", timer, k, l.parseRateAsTime(1, float64(k)*float64(streams), 1e6, "a bandwidth in MB/s"))
		}
	}
}

// collectiveReader reads rows of times of an operation: with a size unless it has no data, and with
// the fastest and slowest rank's if there are these.
func (r *osuReader) collectiveReader(operation string, sized, full bool) func(*line) {
	r.addFact("values", "coll_min, coll_mean and coll_max: means over the repetitions of each rank's time, over the ranks")
	r.addFact(sample.StartFact, sample.NoCommonStartPrefix+"osu_"+operation+" has no common clock")
	r.setResolution(10 * unit.Nanosecond)
	columns := 1
	if full {
		columns += 3
	} else {
		r.noteLeftOut("%s: without the slowest rank's time, which option -f prints, the mean of the ranks counts", r.test)
	}
	first := 0
	if sized {
		first = 1
	}
	r.key.Protocol = vendorAlgorithm
	return func(l *line) {
		if !l.splitWords(false, first+columns, first+columns, "a row of the header above") {
			return
		}
		k := 0
		if sized {
			k = l.parseBytes(0)
		}
		for i, timer := range []string{sample.TimerCollMean, sample.TimerCollMin, sample.TimerCollMax}[:min(columns, 3)] {
			r.addSummary(operation, timer, k, l.parseTime(first+i, "us", "a latency in us"))
		}
		if full {
			r.addDetail("repetitions", operation, sample.TimerCollMax, k, l.words[first+3].text)
		}
	}
}
