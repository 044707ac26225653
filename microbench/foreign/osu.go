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
	guess:       func(text string) bool { return osuTitle.MatchString(text) },
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
	auto   = "auto"
	vendor = "vendor"
)

// osuReader is what is known of a file while its lines are read.
type osuReader struct {
	*builder
	library string      // of all tests of the file
	test    string      // the title of the one that is read
	where   string      // its buffers are, if not in the memory of the hosts
	pairs   int         // of ranks that send at once
	row     func(*line) // what to do with its rows; nil before its header
}

func readOSU(in *input, b *builder) {
	r := &osuReader{builder: b, library: b.key.Library, row: func(*line) {}}
	in.each(r.comment, func(l *line) {
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

// comment takes what a line that begins with # says of the rows below it.
func (r *osuReader) comment(l *line, text string) {
	if m := osuTitle.FindStringSubmatch(l.text); m != nil {
		r.test, r.pairs, r.row = m[3], 1, nil
		r.key.Protocol = auto
		r.fact("tool", m[1])
		r.fact("tool_version", m[4])
		r.buffers("", "")
		if m[2] != "" { // -CUDA and others, whose buffers are the device's unless the next lines say otherwise
			r.buffers("device", "device")
		}
	} else if m := osuBuffers.FindStringSubmatch(text); m != nil {
		r.buffers(strings.ToLower(m[1]), strings.ToLower(m[2]))
	} else if m := osuPairs.FindStringSubmatch(text); m != nil {
		r.pairs = max(atoi(m[1]), 1)
	} else if rest, ok := strings.CutPrefix(text, "Datatype:"); ok {
		r.fact("datatype", rest)
	} else if osuHead.MatchString(text) {
		r.fact("buffers", r.where)
		r.row = r.table(text)
	}
}

// buffers notes where the buffers of the next rows are. Measurements with buffers outside host
// memory count as another library, so that they are not mixed with times of host memory.
func (r *osuReader) buffers(send, receive string) {
	r.key.Library, r.where = r.library, ""
	if cmp.Or(send, "host") == "host" && cmp.Or(receive, "host") == "host" {
		return
	}
	where := send + " buffers"
	if send != receive {
		where = send + " to " + receive + " buffers"
	}
	r.where = "send on " + send + ", receive on " + receive
	r.key.Library = strings.TrimSpace(r.library + " (" + where + ")")
}

// table returns what to do with the rows of a test below a header.
func (r *osuReader) table(head string) func(*line) {
	switch operation := osuCollectives[r.test]; {
	case r.test == "Latency" && osuLatency.MatchString(head):
		r.otherColumns(head)
		r.fact("values", "rtt: means over the repetitions, one a size; twice the latency")
		r.resolution(2 * 10 * unit.Nanosecond)
		return func(l *line) {
			if l.split(false, 2, 16, "a size and a value") {
				r.summary("send", sample.TimerRTT, l.bytes(0), 2*l.time(1, "us", "a latency in us"))
			}
		}
	case r.test == "Bandwidth" && osuBW.MatchString(head):
		r.otherColumns(head)
		return r.bandwidths("osu_bw", sample.TimerStream, 1)
	case r.test == "Bi-Directional Bandwidth" && osuBW.MatchString(head):
		r.otherColumns(head)
		return r.bandwidths("osu_bibw", sample.TimerStreamBoth, 2)
	case r.test == "Multiple Bandwidth / Message Rate" && osuRate.MatchString(head):
		if r.pairs > 1 {
			return r.bandwidths("osu_mbw_mr", sample.StreamPairsTimer(r.pairs), r.pairs)
		}
		return r.bandwidths("osu_mbw_mr", sample.TimerStream, 1)
	case operation != "":
		if m := osuRanks.FindStringSubmatch(head); m != nil {
			return r.collective(operation, m[1] != "", m[2] != "")
		}
	}
	r.leave("%s: there is no timer for it; osu_latency, osu_bw, osu_bibw, osu_mbw_mr and blocking collectives can be imported", r.test)
	return func(*line) {}
}

// otherColumns says that columns are left out.
func (r *osuReader) otherColumns(head string) {
	if strings.Contains(head[strings.IndexByte(head, ')')+1:], "(") {
		r.leave("%s: columns after the second, which are other statistics of the same times", r.test)
	}
}

// bandwidths reads rows of sizes and the bandwidth of so many streams of messages together.
func (r *osuReader) bandwidths(program, timer string, streams int) func(*line) {
	r.fact("values", timer+": means over the repetitions, one a size; bytes by bandwidth")
	if streams > 1 {
		r.fact("streams_at_once", itoa(streams))
	}
	r.leave("g and o_s: %s has windows of sends with an answer each; the time a message is imported as %s%s", program, timer,
		map[bool]string{true: ", which bounds g and has G"}[timer == sample.TimerStream])
	return func(l *line) {
		if l.split(false, 2, 16, "a size and a value") {
			k := l.bytes(0)
			r.summary("isend", timer, k, l.per(1, float64(k)*float64(streams), 1e6, "a bandwidth in MB/s"))
		}
	}
}

// collective reads rows of times of an operation: with a size unless it has no data, and with the
// fastest and slowest rank's if there are these.
func (r *osuReader) collective(operation string, sized, full bool) func(*line) {
	r.fact("values", "coll_min, coll_mean and coll_max: means over the repetitions of each rank's time, over the ranks")
	r.fact(sample.StartFact, sample.NoCommonStartPrefix+"osu_"+operation+" has no common clock")
	r.resolution(10 * unit.Nanosecond)
	columns := 1
	if full {
		columns += 3
	} else {
		r.leave("%s: without the slowest rank's time, which option -f prints, the mean of the ranks counts", r.test)
	}
	first := 0
	if sized {
		first = 1
	}
	r.key.Protocol = vendor
	return func(l *line) {
		if !l.split(false, first+columns, first+columns, "a row of the header above") {
			return
		}
		k := 0
		if sized {
			k = l.bytes(0)
		}
		for i, timer := range []string{sample.TimerCollMean, sample.TimerCollMin, sample.TimerCollMax}[:min(columns, 3)] {
			r.summary(operation, timer, k, l.time(first+i, "us", "a latency in us"))
		}
		if full {
			r.detail("repetitions", operation, sample.TimerCollMax, k, l.words[first+3].text)
		}
	}
}
