package foreign

import (
	"strconv"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// prttFormat reads single round-trip trains, PRTT(n, d, s) of Hoefler et al. 2007, in nanoseconds:
//
//	mode,size,n,d_ns,sample,client_ns,server_or_ns
//	pn,8,10,0,0,791,0.0
//
// The modes are p1 (one message), pn (n, without waits), pnd (n, the client waits d between sends),
// and por (n, the server waits before each receive, and server_or_ns is the mean time of one). They
// become rtt, prtt10, prtt10-d, and timer12.
var prttFormat = Format{
	Name:        "prtt",
	Description: "samples of round-trip trains PRTT(n,d,s) (ns)",
	Signature:   "a first line " + prttHead,
	matchesText: func(text string) bool { return strings.HasPrefix(text, prttHead) },
	readFile:    readPRTT,
}

const prttHead = "mode,size,n,d_ns,sample,client_ns,server_or_ns"

// prttModes are how each mode's rows become samples.
var prttModes = map[string]func(*setBuilder, prttTrain) bool{
	"p1": func(b *setBuilder, x prttTrain) bool {
		b.addSample("send", sample.TimerRTT, x.bytes, x.client)
		return x.messageCount == 1 && x.wait == 0
	},
	"pn": func(b *setBuilder, x prttTrain) bool {
		b.addSample("send", sample.TrainTimer(x.messageCount), x.bytes, x.client)
		return x.messageCount > 1 && x.wait == 0
	},
	"pnd": addSpacedTrain,
	"por": func(b *setBuilder, x prttTrain) bool {
		b.addSample("send", sample.Timer12, x.bytes, x.server)
		return x.messageCount > 1
	},
}

func addSpacedTrain(b *setBuilder, x prttTrain) bool {
	t := x.client - unit.Time(x.messageCount-1)*x.wait
	b.addSample("send", sample.SpacedTrainTimer(x.messageCount), x.bytes, t)
	return x.messageCount > 1 && t >= 0
}

// prttTrain is a row: the times of a round-trip train.
type prttTrain struct {
	bytes, messageCount  int
	wait, client, server unit.Time
}

func readPRTT(in *inputText, b *setBuilder) {
	b.addFact("tool", "round-trip trains")
	b.addFact("values", "all samples")
	l, _ := in.nextLine()
	if strings.TrimSpace(l.text) != prttHead {
		in.errorf(1, "%s where the header %s belongs", quoteShort(l.text), prttHead)
	}
	row := func(l *inputLine) {
		if l.splitWords(true, 7, 7, "a row of "+prttHead) {
			readPRTTRow(l, b)
		}
	}
	in.forEachLine(func(l *inputLine, _ string) { row(l) }, row) // there are no comments
	if b.hasTimer(sample.Timer12) {
		b.noteLeftOut("client_ns of mode por: o_r is in server_or_ns")
	}
}

func readPRTTRow(l *inputLine, b *setBuilder) {
	add, ok := prttModes[l.words[0].text]
	if !ok {
		l.wordError(0, "p1, pn, pnd or por")
		return
	}
	var x prttTrain
	x.bytes = l.parseBytes(1)
	x.messageCount = l.parseWhole(2, 1, sample.MaxTrainLength, "a number of messages")
	l.parseWhole(4, 0, maxMessageBytes, "the number of the sample")
	for i, t := range []*unit.Time{3: &x.wait, 5: &x.client, 6: &x.server} {
		if t == nil {
			continue
		}
		*t = l.parseTime(i, "ns", "a time in ns")
	}
	if !add(b, x) {
		l.errorf(l.words[2].column, "%s messages with waits of %s ns that took %s ns are no train of mode %s",
			l.words[2].text, l.words[3].text, l.words[5].text, l.words[0].text)
	}
}

func formatNumber(n int) string { return strconv.Itoa(n) }

// parseMatchedNumber returns the value of digits that a pattern has matched.
func parseMatchedNumber(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
