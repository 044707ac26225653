package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// mpiRecordBegin begins the files of liballprof, the tracer of LogGOPSim (Hoefler, Schneider and
// Lumsdaine, LogGOPSim, HPDC 2010, section 4): a comment.
const mpiRecordBegin = "# "

// mpiCall is a call of MPI in a record: function:start:arguments:end, times in microseconds.
type mpiCall struct {
	line       int
	name       string
	start, end int64
	arguments  []string
}

// maxLine is the longest line of a record.
const maxLine = 1 << 20

// readCalls reads the calls of a rank. Lines that begin with # are comments.
func readCalls(in *bufio.Reader, name string) ([]mpiCall, error) {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLine)
	var calls []mpiCall
	line := 0
	for scanner.Scan() {
		line++
		text := strings.TrimSpace(scanner.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		c, err := parseCall(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		c.line = line
		if n := len(calls); n > 0 && c.start < calls[n-1].end {
			return nil, fmt.Errorf("%s:%d: %s begins at %d us, before the call before it ended, at %d us: calls of several threads cannot be simulated", name, line, c.name, c.start, calls[n-1].end)
		}
		calls = append(calls, c)
	}
	if err := scanner.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a line of more than %d bytes", maxLine)
		}
		return nil, fmt.Errorf("%s:%d: %w", name, line+1, err)
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("%s: %w", name, io.ErrUnexpectedEOF)
	}
	if calls[len(calls)-1].name != "MPI_Finalize" {
		return nil, fmt.Errorf("%s:%d: the record ends with %s and not with MPI_Finalize: it is cut short", name, line, calls[len(calls)-1].name)
	}
	return calls, nil
}

// parseCall reads a line. MPI_Init has no start, and MPI_Finalize no end.
func parseCall(text string) (mpiCall, error) {
	words := strings.Split(text, ":")
	c := mpiCall{name: words[0]}
	if len(words) < 3 || !strings.HasPrefix(c.name, "MPI_") {
		return c, fmt.Errorf("%.60q is no call: it is written function:start:arguments:end", text)
	}
	c.arguments = words[2 : len(words)-1]
	first, last := words[1], words[len(words)-1]
	if first == "-" {
		first = last
	}
	if last == "-" {
		last = first
	}
	var wrong error
	if c.start, wrong = strconv.ParseInt(first, 10, 64); wrong == nil {
		c.end, wrong = strconv.ParseInt(last, 10, 64)
	}
	if wrong != nil || c.start < 0 || c.end < c.start {
		return c, fmt.Errorf("%s: from %.30q to %.30q is no time in microseconds", c.name, first, last)
	}
	return c, nil
}

// callArguments reads arguments of a call. The first error stays.
type callArguments struct {
	*mpiCall
	err error
}

func (a *callArguments) text(i int) string {
	if i < len(a.arguments) {
		return a.arguments[i]
	}
	if a.err == nil {
		a.err = fmt.Errorf("%s: it has %d arguments, and no argument %d", a.name, len(a.arguments), i+1)
	}
	return "0"
}

func (a *callArguments) number(i int) int64 {
	text := a.text(i)
	x, err := strconv.ParseInt(text, 10, 64)
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("%s: argument %d: %.40q is no number", a.name, i+1, text)
	}
	return x
}

// bytes returns the bytes of so many elements of a datatype, which is written number,size,extent.
func (a *callArguments) bytes(count, datatype int) uint64 {
	n := a.number(count)
	words := strings.Split(a.text(datatype), ",")
	if len(words) < 2 {
		words = append(words, "")
	}
	size, err := strconv.ParseInt(words[1], 10, 64)
	switch {
	case a.err != nil:
	case err != nil || size < 0:
		a.err = fmt.Errorf("%s: argument %d: %.40q is no datatype: it is written number,size,extent", a.name, datatype+1, a.text(datatype))
	case n < 0 || size > 0 && n > (1<<42)/size:
		a.err = fmt.Errorf("%s: %d elements of %d bytes", a.name, n, size)
	default:
		return uint64(n * size)
	}
	return 0
}

// communicatorHandle is a communicator as a call names it: number,rank,size.
type communicatorHandle struct {
	number     int64
	rank, size int
}

func (a *callArguments) communicator(i int) communicatorHandle {
	words := strings.Split(a.text(i), ",")
	var numbers [3]int64
	wrong := len(words) != 3
	for k := 0; k < 3 && !wrong; k++ {
		x, err := strconv.ParseInt(words[k], 10, 64)
		numbers[k], wrong = x, err != nil
	}
	if h := (communicatorHandle{numbers[0], int(numbers[1]), int(numbers[2])}); !wrong && h.rank >= 0 && h.rank < h.size && h.size <= 1<<20 {
		return h
	}
	if a.err == nil {
		a.err = fmt.Errorf("%s: argument %d: %.40q is no communicator: it is written number,rank,size", a.name, i+1, a.text(i))
	}
	return communicatorHandle{}
}
