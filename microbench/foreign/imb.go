package foreign

import (
	"regexp"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// imb reads the blocks of the Intel MPI Benchmarks, part MPI-1:
//
//	# Benchmarking PingPong
//	# #processes = 2
//	       #bytes #repetitions      t[usec]   Mbytes/sec
//	            8         1000         0.09        85.46
//
// t is half of the round trip, in microseconds with two decimals. Uniband sends windows by MPI_Isend, each answered by a short message, and
// prints messages a second.
var imb = Format{
	Name:        "imb",
	Description: "Intel MPI Benchmarks, PingPong and Uniband (us)",
	Mark:        "a line \"# Intel(R) MPI Benchmarks ...\" in the head, or \"# Benchmarking ...\"",
	guess:       func(text string) bool { return imbTitle.MatchString(text) || imbBlock.MatchString(text) },
	read:        readIMB,
}

var (
	imbTitle = regexp.MustCompile(`(?m)^#\s*(Intel ?\(R\) MPI Benchmarks?) (\S{1,40}),? MPI-1 part`)
	imbBlock = regexp.MustCompile(`(?m)^# Benchmarking (\S{1,60})`)
	imbPairs = regexp.MustCompile(`^#processes = (\d{1,9})`)
)

// imbOther says why benchmarks of two processes cannot be imported.
var imbOther = map[string]string{
	"PingPing": "both send at once", "Sendrecv": "both send at once", "Exchange": "both send at once", "Biband": "both send at once",
}

// imbTables are the blocks that can be imported: their header, and the row's reader.
var imbTables = map[string]struct {
	head string
	row  func(*line, *builder)
}{
	"PingPong": {"#bytes #repetitions t[usec] Mbytes/sec", pingPongRow},
	"Uniband":  {"#bytes #repetitions Mbytes/sec Msg/sec", unibandRow},
}

func readIMB(in *input, b *builder) {
	var row func(*line, *builder) // of the block; nil outside of those that are imported
	block, head := "", false      // head: the header of the block has been seen
	in.each(func(l *line, text string) {
		words := strings.Fields(l.text)
		switch m := imbBlock.FindStringSubmatch(l.text); {
		case m != nil:
			block, head, row = m[1], false, imbTables[m[1]].row
			imbBegin(b, block)
		case words[0] == "#bytes" && row != nil:
			if got := strings.Join(words, " "); got != imbTables[block].head {
				l.errorf(1, "the header %s of %s where %q belongs", cited(got), block, imbTables[block].head)
			}
			head = true
		default:
			imbHead(b, text, block, &row)
		}
	}, func(l *line) {
		switch {
		case row == nil:
		case !head:
			l.errorf(1, "a row of %s before its header %q", block, imbTables[block].head)
		case l.split(false, 4, 4, "a row of "+imbTables[block].head):
			row(l, b)
		}
	})
	if block == "" {
		in.errorf(in.last, "no block that begins with \"# Benchmarking ...\"")
	}
}

// imbBegin says what is known of a block before its rows.
func imbBegin(b *builder, block string) {
	switch {
	case block == "PingPong":
		b.fact("values", "rtt: means over the repetitions, one a size; twice t")
		b.resolution(2 * 10 * unit.Nanosecond)
	case block == "Uniband":
		b.fact("values", "stream: means over the repetitions, one a size; the inverse of messages a second")
		b.leave("g and o_s of Uniband: it has windows of sends with an answer each; the time a message is imported as stream, which bounds g and has G")
	case imbOther[block] != "":
		b.leave("%s: %s, for which there is no timer of ours", block, imbOther[block])
	default:
		b.leave("%s: there is no timer of ours for it", block)
	}
}

// imbHead takes facts from the head of the file, and the number of processes of a block: of more than two it cannot be used.
func imbHead(b *builder, text, block string, row *func(*line, *builder)) {
	if m := imbTitle.FindStringSubmatch("# " + text); m != nil {
		b.fact("tool", m[1])
		b.fact("tool_version", strings.TrimSuffix(m[2], ","))
	}
	if m := imbPairs.FindStringSubmatch(text); m != nil && m[1] != "2" && *row != nil {
		b.leave("%s of %s processes: several pairs at once", block, m[1])
		*row = nil
	}
	if key, value, ok := strings.Cut(text, ":"); ok && block == "" {
		if name, ok := imbFacts[strings.TrimSpace(key)]; ok {
			b.fact(name, value)
		}
	}
}

var imbFacts = map[string]string{"Date": "date", "Machine": "machine", "System": "system", "Release": "release", "MPI Version": "mpi_version"}

func pingPongRow(l *line, b *builder) {
	k := l.bytes(0)
	n := l.whole(1, 1, maxBytes, "a number of repetitions")
	t := l.time(2, "us", "a time in us")
	b.summary("send", sample.RTT, k, 2*t)
	b.detail("repetitions", "send", sample.RTT, k, itoa(n))
}

func unibandRow(l *line, b *builder) {
	k := l.bytes(0)
	n := l.whole(1, 1, maxBytes, "a number of repetitions")
	b.summary("isend", sample.Stream, k, l.per(3, 1, 1, "messages a second"))
	b.detail("repetitions", "isend", sample.Stream, k, itoa(n))
}
