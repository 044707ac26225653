package foreign

import (
	"regexp"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// osu reads osu_latency and osu_bw of the OSU Micro-Benchmarks:
//
//	# OSU MPI Latency Test v7.4
//	# Datatype: MPI_CHAR.
//	# Size       Avg Latency(us)
//	8                       0.11
//
// Latency is half of a ping-pong's round trip by MPI_Send and MPI_Recv, in microseconds with two decimals. Bandwidth is of windows of
// MPI_Isend, each answered by a short message, in MB/s of 10⁶ bytes.
var osu = Format{
	Name:        "osu",
	Description: "OSU Micro-Benchmarks, osu_latency (us) and osu_bw (MB/s)",
	Mark:        "a line \"# OSU MPI ... Test v...\"",
	guess:       func(text string) bool { return osuTitle.MatchString(text) },
	read:        readOSU,
}

var (
	osuTitle   = regexp.MustCompile(`(?m)^# (OSU MPI(?:-\S+)? (.{1,100}?)(?: Test)?) v(\S{1,30})`)
	osuLatency = regexp.MustCompile(`Size\s+(?:Avg )?Latency ?\(us\)`)
	osuBW      = regexp.MustCompile(`Size\s+Bandwidth ?\(MB/s\)`)
)

func readOSU(in *input, b *builder) {
	test := ""
	add := func(*line) {}
	in.each(func(l *line, text string) {
		if m := osuTitle.FindStringSubmatch(l.text); m != nil {
			test, add = m[2], nil
			b.fact("tool", m[1])
			b.fact("tool_version", m[3])
		} else if rest, ok := strings.CutPrefix(text, "Datatype:"); ok {
			b.fact("datatype", rest)
		} else if strings.HasPrefix(text, "Size") {
			add = osuTable(b, test, text)
		}
	}, func(l *line) {
		switch {
		case !strings.Contains("0123456789", l.text[:1]) && test == "": // what a launcher says first
		case add == nil:
			l.errorf(1, "a row before the line \"# Size ...\" that says what it is")
		case test == "":
			l.errorf(1, "a row before the title \"# OSU MPI ... Test v...\"")
		default:
			add(l)
		}
	})
	if test == "" {
		in.errorf(in.last, "no title \"# OSU MPI ... Test v...\"")
	}
}

// osuTable returns what to do with the rows of a test.
func osuTable(b *builder, test, head string) func(*line) {
	if strings.Contains(head[strings.IndexByte(head, ')')+1:], "(") {
		b.leave("%s: columns after the second, which are other statistics of the same times", test)
	}
	switch {
	case test == "Latency" && osuLatency.MatchString(head):
		b.fact("values", "rtt: means over the repetitions, one a size; twice the latency")
		b.resolution(2 * 10 * unit.Nanosecond)
		return func(l *line) {
			if l.split(false, 2, 16, "a size and a value") {
				b.summary("send", sample.RTT, l.bytes(0), 2*l.time(1, "us", "a latency in us"))
			}
		}
	case test == "Bandwidth" && osuBW.MatchString(head):
		b.fact("values", "stream: means over the repetitions, one a size; bytes by bandwidth")
		b.leave("g and o_s: osu_bw has windows of sends with an answer each; the time a message is imported as stream, which bounds g and has G")
		return func(l *line) {
			if l.split(false, 2, 16, "a size and a value") {
				k := l.bytes(0)
				b.summary("isend", sample.Stream, k, l.per(1, float64(k), 1e6, "a bandwidth in MB/s"))
			}
		}
	}
	b.leave("%s: no timer of ours means what it measures; osu_latency and osu_bw can be imported", test)
	return func(*line) {}
}
