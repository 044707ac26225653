package foreign

import (
	"math"
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

func readOSU(in *input, b *builder) error {
	test := ""
	add := func(*line) error { return nil }
	for l, ok := in.next(); ok; l, ok = in.next() {
		text, comment := l.comment()
		switch {
		case comment:
			if m := osuTitle.FindStringSubmatch(l.text); m != nil {
				test = m[2]
				b.fact("tool", m[1])
				b.fact("tool_version", m[3])
				add = nil
			} else if rest, ok := strings.CutPrefix(text, "Datatype:"); ok {
				b.fact("datatype", rest)
			} else if strings.HasPrefix(text, "Size") {
				add = osuTable(b, test, text)
			}
		case l.blank() || !strings.Contains("0123456789", l.text[:1]) && test == "": // what a launcher says first
		case add == nil:
			return l.errorf(1, "a row before the line \"# Size ...\" that says what it is")
		case test == "":
			return l.errorf(1, "a row before the title \"# OSU MPI ... Test v...\"")
		default:
			if err := add(&l); err != nil {
				return err
			}
		}
	}
	if test == "" {
		return (&line{in: in, number: max(in.last, 1)}).errorf(1, "no title \"# OSU MPI ... Test v...\"")
	}
	return nil
}

// osuTable returns what to do with the rows of a test.
func osuTable(b *builder, test, head string) func(*line) error {
	if strings.Contains(head[strings.IndexByte(head, ')')+1:], "(") {
		b.leave("%s: columns after the second, which are other statistics of the same times", test)
	}
	switch {
	case test == "Latency" && osuLatency.MatchString(head):
		b.fact("values", "rtt: means over the repetitions, one a size; twice the latency")
		b.resolution(2 * 10 * unit.Nanosecond)
		return func(l *line) error { return osuRow(l, b, latencyOf) }
	case test == "Bandwidth" && osuBW.MatchString(head):
		b.fact("values", "stream: means over the repetitions, one a size; bytes by bandwidth")
		b.leave("g and o_s: osu_bw has windows of sends with an answer each; the time a message is imported as stream, which bounds g and has G")
		return func(l *line) error { return osuRow(l, b, streamOf) }
	}
	b.leave("%s: no timer of ours means what it measures; osu_latency and osu_bw can be imported", test)
	return func(*line) error { return nil }
}

func osuRow(l *line, b *builder, add func(*line, *builder, int) error) error {
	if err := l.split(false, 2, 16, "a size and a value"); err != nil {
		return err
	}
	k, err := l.bytes(0)
	if err != nil {
		return err
	}
	return add(l, b, k)
}

func latencyOf(l *line, b *builder, k int) error {
	t, err := l.time(1, "us", "a latency in us")
	if err != nil {
		return err
	}
	b.summary("send", sample.RTT, k, 2*t)
	return nil
}

func streamOf(l *line, b *builder, k int) error {
	const megabyte = 1e6
	r, err := l.rate(1, "a bandwidth in MB/s")
	if err != nil {
		return err
	}
	t, err := per(float64(k), r*megabyte)
	if err != nil {
		return l.wrong(1, "a bandwidth in MB/s")
	}
	b.summary("isend", sample.Stream, k, t)
	return nil
}

// per returns how long an amount takes at a rate a second, to the picosecond.
func per(amount, rate float64) (unit.Time, error) {
	t := math.Round(amount / rate * float64(unit.Second))
	if !(t >= 0 && t <= float64(maxTime)) {
		return 0, errTooLong
	}
	return unit.Time(t), nil
}
