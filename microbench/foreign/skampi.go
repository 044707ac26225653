package foreign

import (
	"regexp"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// skampiFormat reads the blocks of SKaMPI 5 and 6 that are ping-pongs of blocking calls:
//
//	# begin result "Pingpong_Send_Recv"
//	count= 2        8       0.3       0.0       16       0.3       0.3
//	# end result "Pingpong_Send_Recv"
//
// elements, bytes, the time of the round trip in microseconds with one decimal, its standard error,
// the measurements, and the times of each process.
var skampiFormat = Format{
	Name:        "skampi",
	Description: "SKaMPI, blocks Pingpong_Send_Recv and Pingpong_Ssend_Recv (us)",
	Signature:   "a line \"# SKaMPI Version ...\" or \"# begin result ...\"",
	matchesText: func(text string) bool {
		return hasLine(text, "# SKaMPI Version ", skampiTitle.MatchString) || hasLine(text, "# begin result ", skampiBegin.MatchString)
	},
	readFile: readSKaMPI,
}

var (
	skampiTitle = regexp.MustCompile(`(?m)^# (SKaMPI) Version (\S{1,30})`)
	skampiBegin = regexp.MustCompile(`(?m)^# begin result "([^"\n]{1,100})"`)
	skampiEnd   = regexp.MustCompile(`^# end result "([^"\n]{1,100})"`)
)

// skampiModes are the blocks that are round trips as ours.
var skampiModes = map[string]string{"Pingpong_Send_Recv": "send", "Pingpong_Ssend_Recv": "ssend"}

func readSKaMPI(in *inputText, b *setBuilder) {
	b.addFact("values", "rtt: means over the measurements, one a size")
	b.noteResolution(100 * unit.Nanosecond)
	block, begin := "", 0
	in.forEachLine(func(l *inputLine, text string) {
		if m := skampiBegin.FindStringSubmatch(l.text); m != nil {
			if block != "" {
				l.errorf(1, "block %s begins before the end of %s, which began in line %d", m[1], block, begin)
			}
			if block, begin = m[1], l.number; skampiModes[block] == "" {
				b.noteLeftOut("%s: no timer of ours is a round trip of these calls", cleanFact(block))
			}
		} else if m := skampiEnd.FindStringSubmatch(l.text); m != nil {
			if m[1] != block {
				l.errorf(1, "the end of block %s, but %s began in line %d", m[1], quoteShort(block), begin)
			}
			block = ""
		} else {
			readSKaMPIFact(b, l.text, text)
		}
	}, func(l *inputLine) {
		if mode := skampiModes[block]; mode != "" {
			readSKaMPIRow(l, b, mode)
		} else if block == "" {
			l.errorf(1, "%s outside of a block that begins with \"# begin result\"", quoteShort(l.text))
		}
	})
	if block != "" {
		in.errorf(begin, "block %s has no end: the file is cut off", block)
	}
}

func readSKaMPIFact(b *setBuilder, whole, text string) {
	if m := skampiTitle.FindStringSubmatch(whole); m != nil {
		b.addFact("tool", m[1])
		b.addFact("tool_version", m[2])
	} else if rest, ok := strings.CutPrefix(text, "Started at "); ok {
		b.addFact("date", rest)
	}
}

func readSKaMPIRow(l *inputLine, b *setBuilder, mode string) {
	if !l.splitWords(false, 6, 200, "a row \"count= ELEMENTS BYTES TIME ERROR MEASUREMENTS\"") {
		return
	}
	if l.words[0].text != "count=" {
		l.wordError(0, "\"count=\"")
		return
	}
	l.parseWhole(1, 0, maxMessageBytes, "a number of elements")
	k := l.parseBytes(2)
	t := l.parseTime(3, "us", "a time in us")
	l.parseTime(4, "us", "a standard error in us")
	n := l.parseWhole(5, 1, maxMessageBytes, "a number of measurements")
	b.addSummary(mode, sample.TimerRTT, k, t)
	b.addDetail("standard_error_us", mode, sample.TimerRTT, k, l.words[4].text)
	b.addDetail("repetitions", mode, sample.TimerRTT, k, formatNumber(n))
}
