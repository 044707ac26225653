package foreign

import (
	"math"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// netpipeFormat reads np.out of NetPIPE 3: bytes, rate, and seconds one way,
//
//	8192 21776.334368   0.00000287
//
// without a word of what they are. Seconds are the best mean of several trials, half of a round
// trip, in steps of 10 ns. The rate is the same with more digits, bits over 2²⁰ a second; the time
// is computed from it, and must be what is printed.
var netpipeFormat = Format{
	Name:        "netpipe",
	Description: "NetPIPE 3, np.out (bytes, Mibit/s, seconds one way)",
	Signature:   "rows of three numbers alone: bytes, Mbit/s, seconds",
	matchesText: guessNetPIPE,
	readFile:    readNetPIPE,
}

func guessNetPIPE(text string) bool {
	for l := range strings.Lines(text) {
		words := strings.Fields(l)
		if len(words) == 0 {
			continue
		}
		return len(words) == 3 && isWhole(words[0]) && isDecimal(words[1]) && isDecimal(words[2])
	}
	return false
}

// isWhole says whether a text is digits alone.
func isWhole(s string) bool { return isDecimal(s) && !strings.Contains(s, ".") }

func readNetPIPE(in *inputText, b *setBuilder) {
	b.addFact("tool", "NetPIPE")
	b.addFact("values", "rtt: the best of several trials, each a mean over repetitions, one a size; twice the time one way")
	row := func(l *inputLine) {
		if l.splitWords(false, 3, 3, "a row of bytes, Mbit/s and seconds") {
			readNetPIPERow(l, b)
		}
	}
	in.forEachLine(func(l *inputLine, _ string) { row(l) }, row) // there are no comments
}

func readNetPIPERow(l *inputLine, b *setBuilder) {
	const mebibit = 1 << 20
	k := l.parseWhole(0, 1, maxMessageBytes, "a number of bytes, at least 1")
	t := l.parseRateAsTime(1, 8*float64(k), mebibit, "a rate in Mbit/s")
	printed := l.parseTime(2, "s", "seconds one way")
	const step = 10 * unit.Nanosecond
	if math.Abs(float64(t-printed)) > float64(step)/2+0.001*float64(t) {
		l.errorf(l.words[1].column, "%s Mbit/s of 2^20 bits are %v for %d bytes, but the row says %s s: not of NetPIPE 3, or broken",
			l.words[1].text, t, k, l.words[2].text)
	}
	b.addSummary("send", sample.TimerRTT, k, 2*t)
}
