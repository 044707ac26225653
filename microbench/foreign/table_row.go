package foreign

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// rowValues is what a row says, with false where it does not.
type rowValues struct {
	bytes, repetitions                      int
	typical, average, low, high, runTime    unit.Time
	hasTypical, hasAverage, hasLow, hasHigh bool
	hasRun                                  bool
	bandwidth, rate                         textWord
	bandwidthScale, rateScale               float64
	count, total                            float64 // messages and bytes in all
	words                                   []textWord
}

// readRow reads a row of the table, or reports why it cannot be read.
func (r *tableReader) readRow(l *inputLine) {
	if r.test.kind == unsupportedTest {
		r.rowsLeftOut++
		return
	}
	if why := r.parseRow(l); why != "" {
		r.skipped.addRow(l.number, why)
	}
}

// parseRow returns why a row cannot be read, or "".
func (r *tableReader) parseRow(l *inputLine) string {
	probe := &inputText{name: r.input.name} // whose error is a reason, and ends nothing
	row := &inputLine{input: probe, number: l.number, text: l.text}
	row.splitWords(false, 0, 1<<10, "a row")
	n, want := len(row.words), len(r.columns)
	switch {
	case n == 1 && want > 1:
		return row.words[0].text + " has no value: cut off"
	case n < want:
		return fmt.Sprintf("%s where the headings have %d: cut off", columnCount(n), want)
	case n > want:
		return fmt.Sprintf("%s where the headings have %d: something else was printed into it", columnCount(n), want)
	case l.mayBeTruncated && r.isLastNumberTruncated(row.words[n-1].text):
		return quoteShort(row.words[n-1].text) + " has fewer digits than in the rows above, and the file ends: cut off"
	}
	v, why := r.parseValues(row)
	if why == "" && probe.err != nil {
		_, why, _ = strings.Cut(probe.err.Error(), ": ")
	}
	if why != "" {
		return why
	}
	r.noteFewestDigits(row.words[n-1].text)
	return r.addRow(l.number, v)
}

// isLastNumberTruncated reports whether the last number of a file may have lost digits.
func (r *tableReader) isLastNumberTruncated(last string) bool {
	role := r.columns[len(r.columns)-1].role
	return isDecimal(strings.TrimSuffix(last, ".")) && role != otherColumn && digitsBehindPoint(last) < r.lastDigits
}

func (r *tableReader) noteFewestDigits(last string) {
	if n := digitsBehindPoint(last); r.lastDigits < 0 || n < r.lastDigits {
		r.lastDigits = n
	}
}

func digitsBehindPoint(s string) int {
	_, after, _ := strings.Cut(s, ".")
	return len(after)
}

// parseValues reads the words of a row by the roles of their columns.
func (r *tableReader) parseValues(row *inputLine) (v rowValues, why string) {
	v.repetitions = -1
	v.words = row.words
	for i, c := range r.columns {
		text := row.words[i].text
		isTime := c.timeUnit != ""
		if (isTime || c.scale > 0) && isNaNOrInf(text) {
			return v, "the value is " + text
		}
		switch c.role {
		case nameColumn:
			if why := setReproMPIOperation(r, text); why != "" {
				return v, why
			}
		case checkColumn:
			if isFailure(text) {
				return v, fmt.Sprintf("%s is %s: the data that arrived was wrong", c.name, text)
			}
		case bytesColumn:
			if n, err := strconv.Atoi(text); err == nil && n > maxMessageBytes {
				return v, fmt.Sprintf("messages of %s bytes are longer than samples can have (%d)", text, maxMessageBytes)
			}
			v.bytes = row.parseBytes(i)
		case elementsColumn:
			v.bytes = row.parseBytes(i) * r.elementBytes
		case repetitionsColumn:
			v.repetitions = row.parseWhole(i, 1, maxMessageBytes, "a number of repetitions")
		case typicalColumn:
			v.typical, v.hasTypical = row.parseTime(i, c.timeUnit, "a time in "+c.timeUnit), true
		case averageColumn:
			v.average, v.hasAverage = row.parseTime(i, c.timeUnit, "a time in "+c.timeUnit), true
		case minimumColumn:
			v.low, v.hasLow = row.parseTime(i, c.timeUnit, "a time in "+c.timeUnit), true
		case maximumColumn:
			v.high, v.hasHigh = row.parseTime(i, c.timeUnit, "a time in "+c.timeUnit), true
		case runtimeColumn:
			v.runTime, v.hasRun = row.parseTime(i, c.timeUnit, "a time in "+c.timeUnit), true
		case bandwidthColumn:
			v.bandwidth, v.bandwidthScale = row.words[i], c.scale
		case scaledBytesColumn, scaledCountColumn, scaledTotalBytesColumn:
			thousand := 1024.0
			if c.role == scaledCountColumn {
				thousand = 1000
			}
			x, ok := parseScaled(strings.TrimPrefix(text, "="), thousand)
			if !ok || x > maxMessageBytes && c.role == scaledBytesColumn {
				return v, quoteShort(text) + " where a number belongs"
			}
			switch c.role {
			case scaledBytesColumn:
				v.bytes = int(math.Round(x))
			case scaledCountColumn:
				v.count = x
			case scaledTotalBytesColumn:
				v.total = x
			}
		case rateColumn:
			v.rate, v.rateScale = row.words[i], c.scale
		}
	}
	return v, ""
}

// isFailure says whether a check found wrong data: a word, or a number of defects.
func isFailure(text string) bool {
	switch strings.ToLower(text) {
	case "pass", "passed", "ok", "n/a", "-", "yes":
		return false
	}
	return !isDecimal(text) || strings.Trim(text, "0.") != ""
}

// addRow adds the samples of a row, or says why it cannot.
func (r *tableReader) addRow(number int, v rowValues) string {
	if r.input.err != nil {
		return ""
	}
	if r.test.kind == unknownTest {
		if why := guessFabtestsTest(r, v); why != "" {
			return why
		}
	}
	if r.test.kind == collectiveTest && r.test.mode == "" {
		if len(r.rows) < maxSeries {
			r.rows = append(r.rows, tableRow{number, v})
		}
		return ""
	}
	mode, timer, why := r.test.mode, "", ""
	switch r.test.kind {
	case roundTripTest, remoteReadTest:
		timer, why = r.addRoundTrip(v)
	case oneWayStreamTest, bidirectionalStreamTest, multiPairStreamTest:
		timer, why = r.addStream(v)
	case collectiveTest:
		timer, why = r.addCollective(v)
	}
	if why != "" {
		return why
	}
	if v.repetitions >= 0 {
		r.addDetail("repetitions", mode, timer, v.bytes, formatNumber(v.repetitions))
	}
	if r.summary.RowCount++; r.summary.RowCount == 1 {
		r.summary.FirstLine, r.summary.Timers = number, timer+" of "+mode
	}
	r.summary.LastLine = number
	return ""
}

// addRoundTrip adds a round trip, or a remote read.
func (r *tableReader) addRoundTrip(v rowValues) (timer, why string) {
	t, factor := v.average, unit.Time(2)
	if v.hasTypical {
		t = v.typical
	}
	if timer = sample.TimerRTT; r.test.kind == remoteReadTest {
		timer, factor = sample.TimerGet, 1
	}
	if r.test.usesMessageRate && v.rate.text != "" {
		exact, why := rateAsTime(v.rate.text, 1, v.rateScale, "messages a second")
		if why != "" {
			return timer, why
		}
		const half = 5 * unit.Nanosecond // of the last digit of t
		if d := exact - t; d > half+exact/100 || d < -half-exact/100 {
			return timer, fmt.Sprintf("%s messages a second take %v each, but the row says %s us", v.rate.text, exact, t.MicrosString())
		}
		t = exact
	}
	r.addSummary(r.test.mode, timer, v.bytes, factor*t)
	return timer, ""
}

// addStream adds the mean time of a message.
func (r *tableReader) addStream(v rowValues) (timer, why string) {
	streams := 1
	switch timer = sample.TimerStream; {
	case r.test.kind == bidirectionalStreamTest:
		timer, streams = sample.TimerStreamBoth, 2
	case r.test.kind == multiPairStreamTest && r.pairs > 1:
		timer, streams = sample.StreamPairsTimer(r.pairs), r.pairs
	}
	t := v.average
	if r.test.usesPrintedTime {
	} else if v.rate.text != "" && (r.test.usesMessageRate || v.bandwidth.text == "") {
		t, why = rateAsTime(v.rate.text, float64(streams), v.rateScale, "messages a second")
	} else {
		t, why = rateAsTime(v.bandwidth.text, float64(v.bytes)*float64(streams), v.bandwidthScale, "a bandwidth")
	}
	if why == "" {
		r.addSummary(r.test.mode, timer, v.bytes, t)
	}
	return timer, why
}

// rateAsTime returns how long an amount takes at a printed rate, or why that is none.
func rateAsTime(text string, amount, scale float64, what string) (unit.Time, string) {
	probe := &inputLine{input: &inputText{name: ""}, words: []textWord{{text, 1}}}
	t := probe.parseRateAsTime(0, amount, scale, what)
	if probe.input.err != nil {
		return 0, quoteShort(text) + " where " + what + " belongs"
	}
	return t, ""
}

// addCollective adds the times of a collective operation.
func (r *tableReader) addCollective(v rowValues) (timer, why string) {
	r.rankCount = r.collectiveRanks()
	if r.test.countsAllBlocks {
		if r.printedRanks == 0 {
			return "", "how many ranks share the data is not known: give --ranks"
		}
		if v.bytes%r.printedRanks != 0 {
			return "", fmt.Sprintf("%d bytes are not the same for each of %d ranks", v.bytes, r.printedRanks)
		}
		v.bytes /= r.printedRanks
	}
	timer = sample.TimerCollMax
	switch {
	case v.hasRun:
		if r.hasCommonStart {
			timer = sample.TimerCollLast
		}
		r.addSample(r.test.mode, timer, v.bytes, v.runTime)
		return timer, ""
	case !v.hasHigh:
		timer = sample.TimerCollMean
	}
	if v.hasTypical && !v.hasAverage {
		timer = sample.TimerCollMax
		v.high, v.hasHigh = v.typical, true
	}
	if bus := r.columnNamed("busbw"); bus >= 0 {
		r.addDetail("bus_bandwidth_GB/s", r.test.mode, timer, v.bytes, v.words[bus].text)
	}
	for _, x := range []struct {
		timer string
		time  unit.Time
		has   bool
	}{{sample.TimerCollMean, v.average, v.hasAverage}, {sample.TimerCollMin, v.low, v.hasLow}, {sample.TimerCollMax, v.high, v.hasHigh}} {
		if x.has {
			r.addSummary(r.test.mode, x.timer, v.bytes, x.time)
		}
	}
	return timer, ""
}
