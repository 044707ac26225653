package schedule

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/unit"
)

// Error is an error in a file and its place. In a binary file Line is 0, and Column is the number
// of the byte, from 0.
type Error struct {
	File         string
	Line, Column int
	Text         string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: byte %d: %s", e.File, e.Column, e.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text)
}

// Read reads a schedule in GOAL text or in the binary format of LogGOPSim's txt2bin, either of
// which may be compressed by gzip. name is the name of the file, for errors. Its operations take
// at most the given number of bytes of memory, and at most input.MaxBytes; 0: that. An error in the
// file is an *Error.
func Read(r io.Reader, name string, memory int64) (*Schedule, error) {
	if most := input.MaxBytes(); memory <= 0 || memory > most {
		memory = most
	}
	in, err := input.Unpack(r, name)
	if err != nil {
		return nil, err
	}
	b := bufio.NewReaderSize(in, 64<<10)
	if head, _ := b.Peek(binaryCookieBytes); isBinary(head) {
		return readBinary(b, name, memory)
	}
	t := &goalText{name: name, memory: memory, in: b}
	return t.readSchedule()
}

// readError is an error of reading a file, with its name.
func readError(name string, err error) error {
	if long := (*input.TooLongError)(nil); errors.As(err, &long) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// BytesPerOp is the memory of an operation of a schedule, in bytes.
const BytesPerOp = 24 + 4 + 4

// Memory of a dependency, and of one of the rank that is being read, in bytes.
const (
	bytesPerDependency = 4
	bytesPerPair       = 16
)

// describeTooLarge describes the error of a schedule whose operations exceed the limit of memory.
func describeTooLarge(rank int, memory int64) string {
	text := fmt.Sprintf("rank %d: the operations up to here take more than %s of memory", rank, unit.Bytes(int(memory)))
	if memory < input.MaxBytes() {
		return text + ", which is what this machine can spare for a schedule; use fewer ranks or operations, or a machine with more memory"
	}
	return text + "; " + input.RaiseHint
}

// chunkSize is how much text one worker reads at a time, about.
const chunkSize = 1 << 20

// goalText reads GOAL text. Ranks do not refer to each other, so chunks of whole ranks are read in
// parallel.
type goalText struct {
	name       string
	memory     int64
	in         io.Reader
	ranks      uint32
	usedMemory atomic.Int64 // memory of the chunks that have been read
	failed     atomic.Bool
}

// textChunk is text of whole ranks.
type textChunk struct {
	text          []byte        // a newline and eight zeros follow it
	headerBytes   int           // bytes of the header
	line          int           // newlines before it
	firstRank     int           // the first rank that it has
	lineAndColumn [2]int        // its line and column
	part          *schedulePart // nil: it was not read
	err           *Error
}

func (t *goalText) readSchedule() (*Schedule, error) {
	work := make(chan *textChunk)
	var workers sync.WaitGroup
	free := make(chan []byte, runtime.GOMAXPROCS(0)+1)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			p := parser{file: t}
			for c := range work {
				p.parseChunk(c)
				if c.err != nil || t.usedMemory.Load() > t.memory {
					t.failed.Store(true)
				}
				select {
				case free <- c.text[:0]:
				default:
				}
				c.text = nil
			}
		})
	}
	chunks, lines, err := t.cutIntoChunks(work, free)
	close(work)
	workers.Wait()
	next, failed := t.firstErrorOf(chunks)
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, err
	case next < int(t.ranks):
		return nil, &Error{t.name, lines + 1, 1, fmt.Sprintf("rank %d is missing: num_ranks says %d", next, t.ranks)}
	}
	parts := make([]*schedulePart, len(chunks))
	for i, c := range chunks {
		parts[i] = c.part
	}
	return joinParts(t.name, parts), nil
}

// firstErrorOf returns the first error of a file, in its order, or nil, and how many ranks come
// before it.
func (t *goalText) firstErrorOf(chunks []*textChunk) (next int, err *Error) {
	used := int64(0)
	for _, c := range chunks {
		if c.part == nil {
			return next, c.err
		}
		if len(c.part.firstOpOfRank) > 0 && c.firstRank != next {
			return next, &Error{t.name, c.lineAndColumn[0], c.lineAndColumn[1], orderError(next, c.firstRank)}
		}
		next += len(c.part.firstOpOfRank)
		for i, f := range c.part.firstOpOfRank {
			ops, deps := len(c.part.ops), len(c.part.dependants)
			if i+1 < len(c.part.firstOpOfRank) {
				ops = int(c.part.firstOpOfRank[i+1])
				if ops < len(c.part.firstDependant) {
					deps = int(c.part.firstDependant[ops])
				}
			}
			if used+int64(ops)*BytesPerOp+int64(deps)*bytesPerDependency > t.memory {
				return next, &Error{t.name, c.rankLine(f), 1, describeTooLarge(c.firstRank+i, t.memory)}
			}
		}
		used += int64(len(c.part.ops))*BytesPerOp + int64(len(c.part.dependants))*bytesPerDependency
		if c.err != nil {
			return next, c.err
		}
	}
	return next, nil
}

// rankLine returns the line of the operation from which a rank of a chunk begins.
func (c *textChunk) rankLine(op uint32) int {
	if int(op) < len(c.part.lines) {
		return int(c.part.lines[op])
	}
	return c.line + 1
}

func orderError(want, got int) string {
	if got < want {
		return fmt.Sprintf("rank %d: it stands twice, or too late; ranks come in the order 0, 1, 2 …", got)
	}
	return fmt.Sprintf("rank %d: rank %d is missing before it; ranks come in the order 0, 1, 2 …", got, want)
}

// cutIntoChunks reads the text and passes it on in chunks that begin with a rank. It returns all of
// them, and how many newlines there were.
func (t *goalText) cutIntoChunks(work chan<- *textChunk, free <-chan []byte) (chunks []*textChunk, line int, err error) {
	var rest []byte // read and not yet passed on
	ended := false
	whole := false // there are comments of several lines, which a cut might fall into
	for !ended && !t.failed.Load() {
		var b []byte
		select {
		case b = <-free:
		default:
		}
		b = append(b[:0], rest...)
		end, checked := 0, 0
		for want := len(b) + chunkSize; end == 0; want = 2 * len(b) {
			want = min(want, max(len(b), int(input.MaxBytes()))+1)
			if cap(b) < want+9 {
				b = append(make([]byte, 0, want+want/8+9), b...)
			}
			for len(b) < want && !ended {
				n, err := t.in.Read(b[len(b):want])
				b = b[:len(b)+n]
				if ended = err == io.EOF; err != nil && !ended {
					return chunks, line, readError(t.name, err)
				}
			}
			if i := bytes.IndexByte(b[checked:], 0); i >= 0 {
				i += checked
				return chunks, line, &Error{t.name, line + 1 + bytes.Count(b[:i], []byte{'\n'}), i - bytes.LastIndexByte(b[:i], '\n'), "a byte of 0: this is not text"}
			}
			checked = len(b)
			whole = whole || bytes.Contains(b, []byte("/*"))
			if ended {
				end = len(b)
				break
			}
			if !whole {
				end = findLastRank(b)
			}
		}
		rest = append(rest[:0], b[end:]...)
		c := &textChunk{text: b[:end], line: line}
		line += bytes.Count(c.text, []byte{'\n'})
		c.text = append(c.text, '\n', 0, 0, 0, 0, 0, 0, 0, 0)[:end]
		if len(chunks) == 0 {
			p := parser{file: t}
			if e := p.parseHeader(c); e != nil {
				return nil, line, e
			}
		}
		chunks = append(chunks, c)
		work <- c
	}
	return chunks, line, nil
}

// findLastRank returns where the last line of a text begins that begins a rank, or 0.
func findLastRank(b []byte) int {
	for end := len(b); ; {
		i := bytes.LastIndex(b[:end], []byte("rank"))
		if i <= 0 {
			return 0
		}
		start := i
		for start > 0 && (b[start-1] == ' ' || b[start-1] == '\t') {
			start--
		}
		if start > 0 && b[start-1] == '\n' && i+4 < len(b) && (b[i+4] == ' ' || b[i+4] == '\t') {
			return start
		}
		end = i
	}
}
