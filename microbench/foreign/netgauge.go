package foreign

import (
	"regexp"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// netgaugeFormat reads the pattern loggp of netgauge, of either of two outputs. The file ng.out has
// the medians of round-trip trains,
//
//	# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)
//	1 10 0.720998 1.742411 7.440295 0.360499 0.025591 0.085675 -nan -nan -nan
//
// and standard output what was made of them:
//
//	L=0.360499  s=1  o_s=0.025591  o_r=0.085675  g=-nan  G=-nan (-nan GiB/s) lsqu(g,G)=-nan
//
// Where the tool finds a change of protocol, it says so and prints the row of a size twice, with g
// and G of the sizes before the change and after it. All times are in microseconds. (GiB/s are
// Gibit/s: it is not read.) g and G are lines through all sizes before, whatever the protocol, and
// L is half of the first round trip, so that none of them is imported: a fit makes its own of PRTT.
var netgaugeFormat = Format{
	Name:        "netgauge",
	Description: "netgauge, pattern loggp: ng.out or standard output (us)",
	Signature:   "a line \"# size n PRTT(1,0,s) ...\" or \"# Info: (0): Netgauge v...\"",
	matchesText: func(text string) bool {
		return strings.HasPrefix(text, netgaugeHead) || hasLine(text, "(0): Netgauge v", netgaugeVersion.MatchString) || hasLine(text, "lsqu(g,G)=", netgaugeRow.MatchString)
	},
	readFile: readNetgauge,
}

const netgaugeHead = "# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)"

var (
	netgaugeVersion = regexp.MustCompile(`(?m)^# Info:\s+\(0\): (Netgauge) v(\S{1,30}) [^\n]*\([^\n]*netgauge ([^\n)]*)\)`)
	netgaugeRow     = regexp.MustCompile(`(?m)^\s*L=(\S{1,40})\s+s=(\S{1,40})\s+o_s=(\S{1,40})\s+o_r=(\S{1,40})\s+g=\S+\s+G=\S+ \(\S+ GiB/s\) lsqu\(g,G\)=\S+\s*$`)
	netgaugeModule  = regexp.MustCompile(`-m (\S{1,40})`)
	netgaugeChange  = regexp.MustCompile(`^we detected a protocol change at (\d{1,10}) bytes:`)
	netgaugeTesting = regexp.MustCompile(`^Testing (\d{1,10}) bytes (\d{1,9}) times:`)
)

func readNetgauge(in *inputText, b *setBuilder) {
	if strings.HasPrefix(in.unreadText, netgaugeHead) {
		readNetgaugeTrains(in, b)
	} else {
		readLogGP(in, b)
	}
}

// readNetgaugeTrains reads ng.out.
func readNetgaugeTrains(in *inputText, b *setBuilder) {
	b.addFact("tool", "Netgauge")
	b.addFact("values", "medians, one a size")
	b.noteResolution(unit.Picosecond)
	b.noteLeftOut("L, g and G: lines through all sizes before, whatever the protocol; a fit makes its own of the round trips. o_s is in prtt")
	in.forEachLine(in.ignoreComment, func(l *inputLine) {
		if l.splitWords(false, 11, 11, "a row of "+netgaugeHead[2:]) {
			readTrainRow(l, b)
		}
	})
}

func readTrainRow(l *inputLine, b *setBuilder) {
	k := l.parseBytes(0)
	n := l.parseWhole(1, 2, sample.MaxTrainLength, "the messages of a train, at least 2")
	var prtt [3]unit.Time
	for i := range prtt {
		prtt[i] = l.parseTime(2+i, "us", "a round trip in us")
	}
	b.addSummary("send", sample.TimerRTT, k, prtt[0])
	b.addSummary("send", sample.TrainTimer(n), k, prtt[1])
	b.addSummary("send", sample.SpacedTrainTimer(n), k, prtt[2]-unit.Time(n-1)*prtt[0])
	addOverhead(l, b, 7, sample.Timer12, "o_r", k)
}

// addOverhead adds an overhead. The tool may print nan, or a negative one.
func addOverhead(l *inputLine, b *setBuilder, i int, timer, what string, k int) {
	switch s := l.words[i].text; {
	case isNaNOrInf(s):
		b.noteLeftOut("%s: not a number at some sizes", what)
	case strings.HasPrefix(s, "-") && isDecimal(s[1:]):
		b.noteLeftOut("%s: less than zero at some sizes", what)
	default:
		b.addSummary("send", timer, k, l.parseTime(i, "us", what+" in us"))
	}
}

// readLogGP reads standard output.
func readLogGP(in *inputText, b *setBuilder) {
	b.addFact("values", "medians, one a size; timer11 is the tool's o_s, from trains with waits, timer12 its o_r, and rtt at the first size twice its L")
	b.noteLeftOut("g and G: lines through all sizes before, whatever the protocol; the file ng.out (option -o) has the round trips that they are from")
	first := true
	again := false // the next row is one that was printed before, with lines made anew from a change of protocol on
	in.forEachLine(func(l *inputLine, _ string) {
		m := netgaugeVersion.FindStringSubmatch(l.text)
		if m == nil {
			return
		}
		b.addFact("tool", m[1])
		b.addFact("tool_version", m[2])
		b.addFact("tool_options", m[3])
		if m := netgaugeModule.FindStringSubmatch(m[3]); m != nil && b.key.Library == "" {
			b.key.Library = cleanFact(m[1])
		}
	}, func(l *inputLine) {
		if m := netgaugeTesting.FindStringSubmatch(l.text); m != nil {
			b.addDetail("repetitions", "send", sample.Timer11, parseMatchedNumber(m[1]), m[2])
			again = false
		} else if m := netgaugeChange.FindStringSubmatch(l.text); m != nil {
			b.addFact("protocol_change_at_bytes", m[1])
			again = false
		} else if strings.HasPrefix(strings.TrimSpace(l.text), "L=") {
			if !again {
				readLogGPRow(l, b, first)
			}
			first, again = false, true
		} else {
			l.errorf(1, "%s where \"Testing ... bytes\" or \"L=... s=... o_s=...\" belongs", quoteShort(l.text))
		}
	})
}

func readLogGPRow(l *inputLine, b *setBuilder, first bool) {
	if !l.checkLength() {
		return
	}
	at := netgaugeRow.FindStringSubmatchIndex(l.text)
	if at == nil {
		l.errorf(1, "%s where \"L=... s=... o_s=... o_r=... g=... G=... (... GiB/s) lsqu(g,G)=...\" belongs", quoteShort(l.text))
		return
	}
	for i := 2; i < len(at); i += 2 {
		l.words = append(l.words, textWord{l.text[at[i]:at[i+1]], at[i] + 1})
	}
	latency := l.parseTime(0, "us", "L in us")
	k := l.parseBytes(1)
	if first {
		b.addSummary("send", sample.TimerRTT, k, 2*latency)
	}
	addOverhead(l, b, 2, sample.Timer11, "o_s", k)
	addOverhead(l, b, 3, sample.Timer12, "o_r", k)
}
