package foreign

import (
	"regexp"
	"slices"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// imb reads the blocks of the Intel MPI Benchmarks, parts MPI-1 and P2P:
//
//	# Benchmarking PingPong
//	# #processes = 2
//	       #bytes #repetitions      t[usec]   Mbytes/sec
//	            8         1000         0.09        85.46
//
// t is half of the round trip, in microseconds with two decimals. Uniband sends windows by
// MPI_Isend, each answered by a short message, and prints messages a second. In Biband both
// processes do so at once, and the rate is of both. Part P2P prints messages a second of PingPong
// too, which have more digits than the time.
var imb = Format{
	Name:        "imb",
	Description: "Intel MPI Benchmarks MPI-1 and P2P, PingPong, Uniband and Biband (us)",
	Mark:        "a line \"# Intel(R) MPI Benchmarks ...\" in the head, or \"# Benchmarking ...\"",
	matches:     func(text string) bool { return imbTitle.MatchString(text) || imbBlock.MatchString(text) },
	read:        readIMB,
}

var (
	imbTitle = regexp.MustCompile(`(?m)^#\s*(Intel ?\(R\) MPI Benchmarks?) (\S{1,40}),? (?:MPI-1|IMB-P2P) part`)
	imbBlock = regexp.MustCompile(`(?m)^# Benchmarking (\S{1,60})`)
	imbPairs = regexp.MustCompile(`^#processes = (\d{1,9})`)
)

// imbSkippedBlocks says why benchmarks of two processes cannot be imported.
var imbSkippedBlocks = map[string]string{
	"PingPing": "both send at once", "Sendrecv": "both send at once", "Exchange": "both send at once",
}

// imbTables are the blocks that can be imported: their headers, and the readers of their rows.
var imbTables = map[string][]imbTable{
	"PingPong": {{"#bytes #repetitions t[usec] Mbytes/sec", 4, pingPongRow}, {"#bytes #repetitions t[usec] Mbytes/sec Msg/sec", 5, p2pRow}},
	"Uniband":  {{"#bytes #repetitions Mbytes/sec Msg/sec", 4, unibandRow}},
	"Biband":   {{"#bytes #repetitions Mbytes/sec Msg/sec", 4, bibandRow}},
}

type imbTable struct {
	head    string
	columns int
	row     func(*line, *builder)
}

func readIMB(in *input, b *builder) {
	var tables []imbTable // of the block; nil outside of those that are imported
	var table *imbTable   // the one whose header has been seen
	block := ""
	in.forEachLine(func(l *line, text string) {
		words := strings.Fields(l.text)
		switch m := imbBlock.FindStringSubmatch(l.text); {
		case m != nil:
			block, table, tables = m[1], nil, imbTables[m[1]]
			beginIMBBlock(b, block)
		case words[0] == "#bytes" && tables != nil:
			got := strings.Join(words, " ")
			i := slices.IndexFunc(tables, func(t imbTable) bool { return t.head == got })
			if i < 0 {
				l.errorf(1, "the header %s of %s where %q belongs", quoteShort(got), block, tables[0].head)
				return
			}
			if table = &tables[i]; table.columns == 5 {
				b.setResolution(unit.Picosecond)
			} else if block == "PingPong" {
				b.setResolution(2 * 10 * unit.Nanosecond)
			}
		default:
			readIMBComment(b, text, block, &tables)
		}
	}, func(l *line) {
		switch {
		case tables == nil:
		case table == nil:
			l.errorf(1, "a row of %s before its header %q", block, tables[0].head)
		case l.splitWords(false, table.columns, table.columns, "a row of "+table.head):
			table.row(l, b)
		}
	})
	if block == "" {
		in.errorf(in.last, "no block that begins with \"# Benchmarking ...\"")
	}
}

// beginIMBBlock says what is known of a block before its rows.
func beginIMBBlock(b *builder, block string) {
	switch {
	case block == "PingPong":
		b.addFact("values", "rtt: means over the repetitions, one a size; twice t")
	case block == "Biband":
		b.addFact("values", "stream-both: means over the repetitions, one a size; twice the inverse of messages a second")
	case block == "Uniband":
		b.addFact("values", "stream: means over the repetitions, one a size; the inverse of messages a second")
		b.noteLeftOut("g and o_s of Uniband: it has windows of sends with an answer each; the time a message is imported as stream, which bounds g and has G")
	case imbSkippedBlocks[block] != "":
		b.noteLeftOut("%s: %s, for which there is no timer of ours", block, imbSkippedBlocks[block])
	default:
		b.noteLeftOut("%s: there is no timer of ours for it", block)
	}
}

// readIMBComment takes facts from the head of the file, and the number of processes of a block: of
// more than two it cannot be used.
func readIMBComment(b *builder, text, block string, tables *[]imbTable) {
	if m := imbTitle.FindStringSubmatch("# " + text); m != nil {
		b.addFact("tool", m[1])
		b.addFact("tool_version", strings.TrimSuffix(m[2], ","))
	}
	if m := imbPairs.FindStringSubmatch(text); m != nil && m[1] != "2" && *tables != nil {
		b.noteLeftOut("%s of %s processes: several pairs at once", block, m[1])
		*tables = nil
	}
	if key, value, ok := strings.Cut(text, ":"); ok && block == "" {
		if name, ok := imbFacts[strings.TrimSpace(key)]; ok {
			b.addFact(name, value)
		}
	}
}

var imbFacts = map[string]string{"Date": "date", "Machine": "machine", "System": "system", "Release": "release", "MPI Version": "mpi_version"}

func pingPongRow(l *line, b *builder) {
	k := l.parseBytes(0)
	n := l.parseWhole(1, 1, maxBytes, "a number of repetitions")
	t := l.parseTime(2, "us", "a time in us")
	b.addSummary("send", sample.TimerRTT, k, 2*t)
	b.addDetail("repetitions", "send", sample.TimerRTT, k, itoa(n))
}

// p2pRow takes the time from messages a second, which have more digits than t, and must agree with
// it.
func p2pRow(l *line, b *builder) {
	const half = 5 * unit.Nanosecond // of the last digit of t
	k := l.parseBytes(0)
	n := l.parseWhole(1, 1, maxBytes, "a number of repetitions")
	printed := l.parseTime(2, "us", "a time in us")
	t := l.parseRateAsTime(4, 1, 1, "messages a second")
	if d := t - printed; (d > half+t/100 || d < -half-t/100) && l.in.err == nil {
		l.errorf(l.words[4].col, "%s messages a second take %v each, but the row says %s us", l.words[4].text, t, l.words[2].text)
	}
	b.addSummary("send", sample.TimerRTT, k, 2*t)
	b.addDetail("repetitions", "send", sample.TimerRTT, k, itoa(n))
}

func bibandRow(l *line, b *builder) {
	k := l.parseBytes(0)
	n := l.parseWhole(1, 1, maxBytes, "a number of repetitions")
	b.addSummary("isend", sample.TimerStreamBoth, k, l.parseRateAsTime(3, 2, 1, "messages a second"))
	b.addDetail("repetitions", "isend", sample.TimerStreamBoth, k, itoa(n))
}

func unibandRow(l *line, b *builder) {
	k := l.parseBytes(0)
	n := l.parseWhole(1, 1, maxBytes, "a number of repetitions")
	b.addSummary("isend", sample.TimerStream, k, l.parseRateAsTime(3, 1, 1, "messages a second"))
	b.addDetail("repetitions", "isend", sample.TimerStream, k, itoa(n))
}
