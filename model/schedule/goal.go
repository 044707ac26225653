package schedule

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
)

// parser reads the text of a chunk: the grammar of GOAL,
//
//	file  = "num_ranks" n { "rank" n "{" { statement } "}" }
//	statement = [label ":"] op | label ("requires" | "irequires") label
//	op    = "send" n "b" "to" n option*
//	      | "recv" n "b" "from" (n | "-1") option*
//	      | "calc" n option*
//	option = "tag" (n | "-1") | "cpu" n | "nic" n
//
// A statement ends with its line. Blanks may stand between words, and comments (// and /* */) at
// the ends of lines.
type parser struct {
	file     *goalText
	input    []byte // a newline and eight zeros follow
	position int
	line     int // newlines before i, in the file
	err      *Error

	*schedulePart
	rank   int
	labels labelTable
}

// Words of the grammar as word returns them.
var (
	wordSend, wordRecv, wordCalc = encodeWord("send"), encodeWord("recv"), encodeWord("calc")
	wordTo, wordFrom             = encodeWord("to"), encodeWord("from")
	wordTag, wordCPU, wordNIC    = encodeWord("tag"), encodeWord("cpu"), encodeWord("nic")
	wordRank, wordB              = encodeWord("rank"), encodeWord("b")
	wordRequires                 = encodeWord("requires")
)

// encodeWord returns a word of at most eight letters as a number.
func encodeWord(w string) uint64 {
	var b [8]byte
	copy(b[:], w)
	return binary.LittleEndian.Uint64(b[:])
}

// letterClasses marks the bytes of words: 1 for letters, 2 for what may stand behind the first one.
var letterClasses = func() (t [256]uint8) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			t[c] = 3
		case '0' <= c && c <= '9', c == '_':
			t[c] = 2
		}
	}
	return t
}()

// parseHeader reads the number of ranks.
func (p *parser) parseHeader(c *textChunk) *Error {
	p.input, p.line = c.text, c.line
	p.skipSpace(true)
	at := p.position
	if w := p.parseWord(); string(w) != "num_ranks" {
		p.fail(at, "a schedule begins with num_ranks and a number, not with %s", p.quoteTextAt(at))
		return p.err
	}
	at = p.skipBlanks()
	n := p.parseNumber("number of ranks", MaxRanks)
	if n == 0 && p.err == nil {
		p.fail(at, "a schedule has at least one rank")
	}
	p.expectEndOfStatement()
	p.file.ranks, c.headerBytes = uint32(n), p.position
	return p.err
}

// parseChunk reads all ranks of a chunk.
func (p *parser) parseChunk(c *textChunk) {
	p.input, p.position, p.err = c.text, c.headerBytes, nil
	p.line = c.line + bytes.Count(c.text[:c.headerBytes], []byte{'\n'})
	p.schedulePart = newPart(p.schedulePart)
	c.part = p.schedulePart
	for n := 0; ; n++ {
		p.skipSpace(true)
		if p.position >= len(p.input) {
			break
		}
		at := p.position
		if p.encodeAnyWord(p.parseWord()) != wordRank {
			p.fail(at, "a rank must begin here: rank, its number and {, not %s", p.quoteTextAt(at))
			break
		}
		at = p.skipBlanks()
		rank := int(p.parseNumber("rank", math.MaxUint32))
		switch {
		case p.err != nil:
		case rank >= int(p.file.ranks):
			p.fail(at, "rank %d: num_ranks says %d", rank, p.file.ranks)
		case n == 0:
			c.firstRank, c.lineAndColumn = rank, [2]int{p.line + 1, p.columnOf(at)}
		case rank != p.rank+1:
			p.fail(at, "%s", orderError(p.rank+1, rank))
		}
		if p.skipBlanks(); p.err == nil && p.input[:cap(p.input)][p.position] != '{' {
			p.fail(p.position, "{ must follow the number of the rank, not %s", p.quoteTextAt(p.position))
		}
		if p.err != nil {
			break
		}
		p.position++
		p.rank = rank
		p.beginRank()
		p.labels.clear()
		p.parseStatements()
		if p.err != nil {
			p.schedulePart.firstOpOfRank = p.schedulePart.firstOpOfRank[:len(p.schedulePart.firstOpOfRank)-1] // its dependencies are not in order
			p.schedulePart.ops, p.schedulePart.lines = p.schedulePart.ops[:len(p.schedulePart.firstDependant)], p.schedulePart.lines[:len(p.schedulePart.firstDependant)]
			break
		}
		if d := p.schedulePart.endRank(); d != nil {
			p.err = &Error{p.file.name, int(d.line), int(d.column), fmt.Sprintf("rank %d waits for itself: the dependencies of the operations in lines %s form a cycle", rank, p.cycleLines(d))}
			p.schedulePart.firstOpOfRank = p.schedulePart.firstOpOfRank[:len(p.schedulePart.firstOpOfRank)-1]
			break
		}
	}
	p.file.usedMemory.Add(int64(len(p.schedulePart.ops))*BytesPerOp + int64(len(p.schedulePart.dependants))*bytesPerDependency)
	c.err = p.err
}

// newPart returns an empty part with room for as much as another one has, and some more.
func newPart(like *schedulePart) *schedulePart {
	if like == nil {
		return &schedulePart{}
	}
	room := func(n int) int { return n + n/16 + 64 }
	return &schedulePart{
		firstOpOfRank: make([]uint32, 0, room(len(like.firstOpOfRank))), ops: make([]Op, 0, room(len(like.ops))), lines: make([]uint32, 0, room(len(like.lines))),
		firstDependant: make([]uint32, 0, room(len(like.firstDependant))), dependants: make([]uint32, 0, room(len(like.dependants))),
		dependencies: like.dependencies[:0], count: like.count[:0],
	}
}

// cycleLines names the two operations of a dependency.
func (p *parser) cycleLines(d *dependencyPair) string {
	return fmt.Sprintf("%d and %d", p.schedulePart.lines[d.before], p.schedulePart.lines[d.after>>1])
}

// parseStatements reads what a rank does, and the bracket that closes it.
func (p *parser) parseStatements() {
	for p.err == nil {
		p.skipSpace(true)
		at := p.position
		if p.input[:cap(p.input)][at] == '}' {
			p.position++
			return
		}
		w := p.parseWord()
		if w == nil {
			if at >= len(p.input) {
				p.fail(len(p.input), "} of rank %d is missing", p.rank)
			} else {
				p.fail(at, "an operation, a label or } must stand here, not %s", p.quoteTextAt(at))
			}
			return
		}
		k := p.encodeAnyWord(w)
		c := p.input[:cap(p.input)][p.skipBlanks()]
		switch {
		case k == wordRank:
			p.fail(at, "} of rank %d is missing before the next rank", p.rank)
		case c == ':':
			if k == wordSend || k == wordRecv || k == wordCalc {
				p.fail(at, "%s is the name of an operation and cannot be a label", w)
				return
			}
			p.position++
			from := p.skipBlanks()
			p.parseOp(from, p.encodeAnyWord(p.parseWord()))
			if old, ok := p.labels.addLabel(p.input, at, len(w), k, uint32(len(p.schedulePart.ops)-1)); p.err == nil && !ok {
				p.fail(at, "label %s is already that of line %d", w, p.schedulePart.lines[old])
			}
		case k == wordSend || k == wordRecv || k == wordCalc:
			p.parseOp(at, k)
		default:
			p.parseDependency(at, w, k)
		}
		p.expectEndOfStatement()
	}
}

// parseOp reads an operation, whose name has been read and stands at a place.
func (p *parser) parseOp(at int, name uint64) {
	o := Op{}
	line := p.line
	switch name {
	case wordCalc:
		o.Kind = Calc
		p.skipBlanks()
		o.Size = p.parseNumber("time of calc in ns", maxCalc)
	case wordSend, wordRecv:
		way := wordTo
		if name == wordRecv {
			o.Kind, way = Recv, wordFrom
		}
		p.skipBlanks()
		o.Size = p.parseNumber("size", maxSize)
		from := p.skipBlanks()
		if p.encodeAnyWord(p.parseWord()) != wordB {
			p.fail(from, "b must follow the size, as in %d"+"b, not %s", o.Size, p.quoteTextAt(from))
			return
		}
		from = p.skipBlanks()
		if p.encodeAnyWord(p.parseWord()) != way {
			p.fail(from, "%s must follow the size of a %v, not %s", decodeWord(way), o.Kind, p.quoteTextAt(from))
			return
		}
		from = p.skipBlanks()
		if o.Kind == Recv && p.parseMinusOne() {
			o.Peer = Any
		} else if n := p.parseNumber("rank", math.MaxUint32); o.Kind == Recv && n == Any {
			o.Peer = Any
		} else if n >= uint64(p.file.ranks) && p.err == nil {
			p.fail(from, "rank %d: there are %d ranks, from 0 to %d", n, p.file.ranks, p.file.ranks-1)
		} else {
			o.Peer = uint32(n)
		}
	default:
		if !p.failPortals(at) {
			p.fail(at, "send, recv or calc must stand here, not %s", p.quoteTextAt(at))
		}
		return
	}
	p.parseOptions(&o)
	if p.err == nil {
		if len(p.schedulePart.ops) == MaxOps {
			p.fail(at, "more than %d operations", MaxOps)
			return
		}
		if int64(len(p.schedulePart.ops))*BytesPerOp > p.file.memory {
			p.fail(at, "%s", describeTooLarge(int(p.rank), p.file.memory))
			return
		}
		p.addOp(o)
		p.schedulePart.lines = append(p.schedulePart.lines, uint32(line+1))
	}
}

// parseOptions reads tag, cpu and nic.
func (p *parser) parseOptions(o *Op) {
	given := 0
	for p.err == nil {
		at := p.skipBlanks()
		w := p.parseWord()
		if w == nil {
			return
		}
		p.skipBlanks()
		bit := 0
		switch k := p.encodeAnyWord(w); {
		case k == wordTag && o.Kind != Calc:
			if bit = 1; p.parseMinusOne() {
				o.Tag = Any
			} else {
				o.Tag = uint32(p.parseNumber("tag", math.MaxUint32)) // the largest is Any
			}
		case k == wordCPU:
			bit = 2
			o.CPU = uint8(p.parseNumber("cpu", math.MaxUint8))
		case k == wordNIC && o.Kind != Calc:
			bit = 4
			o.NIC = uint8(p.parseNumber("nic", math.MaxUint8))
		default:
			p.fail(at, "unknown option %s of %v: it has %s", p.quoteTextAt(at), o.Kind, map[bool]string{true: "cpu", false: "tag, cpu and nic"}[o.Kind == Calc])
		}
		if given&bit != 0 {
			p.fail(at, "%s stands twice", w)
		}
		given |= bit
	}
}

// portalsStatements are the operations of schedules for Portals 4, which share the rest of GOAL.
var portalsStatements = []string{"append", "put", "get", "atomic", "tput", "tget", "tatomic", "ctinc", "tctinc"}

// failPortals fails if a statement of Portals is at a place, and reports whether it is.
func (p *parser) failPortals(at int) bool {
	for _, s := range portalsStatements {
		if p.quoteTextAt(at) == strconv.Quote(s) {
			p.fail(at, "%s is a Portals statement: schedules for Portals (append, put, get, tput and others) cannot be read, only those of send, recv and calc", s)
			return true
		}
	}
	return false
}

// parseMinusOne reads −1. Generators that keep ranks and tags as unsigned numbers write 4294967295.
func (p *parser) parseMinusOne() bool {
	if b := p.input[:cap(p.input)]; b[p.position] == '-' && b[p.position+1] == '1' && letterClasses[b[p.position+2]] == 0 {
		p.position += 2
		return true
	}
	return false
}

// parseDependency reads that one label requires another. The first one has been read.
func (p *parser) parseDependency(at int, w []byte, k uint64) {
	from := p.position
	verb := p.parseWord()
	start := string(verb) == "irequires"
	if !start && p.encodeAnyWord(verb) != wordRequires {
		if p.failPortals(at) {
			return
		}
		p.fail(from, "behind %s stands \":\" and an operation, or requires or irequires and a label, not %s", w, p.quoteTextAt(from))
		return
	}
	to := p.skipBlanks()
	other := p.parseWord()
	if other == nil {
		p.fail(to, "the label of an operation must follow, not %s", p.quoteTextAt(to))
		return
	}
	after, ok := p.labels.opOf(p.input, at, len(w), k)
	if !ok {
		p.fail(at, "no operation of rank %d above has the label %s", p.rank, w)
		return
	}
	before, ok := p.labels.opOf(p.input, to, len(other), p.encodeAnyWord(other))
	if !ok {
		p.fail(to, "no operation of rank %d above has the label %s", p.rank, other)
		return
	}
	if int64(len(p.schedulePart.dependencies))*bytesPerPair > p.file.memory {
		p.fail(at, "%s", describeTooLarge(int(p.rank), p.file.memory))
		return
	}
	p.addDependency(after, before, start)
	d := &p.schedulePart.dependencies[len(p.schedulePart.dependencies)-1]
	d.line, d.column = uint32(p.line+1), uint32(p.columnOf(at))
}

// skipBlanks skips blanks and returns where it is then.
func (p *parser) skipBlanks() int {
	b := p.input[:cap(p.input)]
	for b[p.position] == ' ' || b[p.position] == '\t' {
		p.position++
	}
	return p.position
}

// skipSpace skips blanks and comments, and newlines if lines is true.
func (p *parser) skipSpace(lines bool) {
	b := p.input[:cap(p.input)]
	for p.position < len(p.input) {
		switch c := b[p.position]; {
		case c == ' ' || c == '\t' || c == '\r' && b[p.position+1] == '\n':
			p.position++
		case c == '\n':
			if !lines {
				return
			}
			p.position++
			p.line++
		case c == '/' && b[p.position+1] == '/':
			n := bytes.IndexByte(b[p.position:len(p.input)+1], '\n')
			if lines {
				p.parseComment(b[p.position : p.position+n])
			}
			p.position += n
		case c == '/' && b[p.position+1] == '*':
			n := bytes.Index(p.input[p.position+2:], []byte("*/"))
			if n < 0 {
				p.fail(p.position, "the comment that begins here does not end")
				p.position = len(p.input)
				return
			}
			p.line += bytes.Count(p.input[p.position:p.position+2+n], []byte{'\n'})
			p.position += n + 4
		default:
			return
		}
	}
}

// parseComment takes note of a comment that says to which call the operations below it belong.
func (p *parser) parseComment(b []byte) {
	rest, ok := bytes.CutPrefix(b, []byte("// "))
	name, rest, found := bytes.Cut(rest, []byte(": "))
	count, whole := bytes.CutSuffix(bytes.TrimSuffix(rest, []byte("\r")), []byte(" operations"))
	n, err := strconv.ParseUint(string(count), 10, 32)
	if !ok || !found || !whole || err != nil || p.schedulePart == nil || len(p.schedulePart.firstOpOfRank) == 0 {
		return
	}
	p.schedulePart.calls = append(p.schedulePart.calls, call{string(name), uint32(len(p.schedulePart.ops)), uint32(n)})
}

// expectEndOfStatement checks that a statement ends here.
func (p *parser) expectEndOfStatement() {
	line := p.line
	if p.skipSpace(false); p.err == nil && p.line == line && p.position < len(p.input) && p.input[p.position] != '\n' && p.input[p.position] != '}' {
		p.fail(p.position, "the line must end here, before %s", p.quoteTextAt(p.position))
	}
}

// parseWord reads a word, or returns nil if there is none.
func (p *parser) parseWord() []byte {
	b, i := p.input[:cap(p.input)], p.position
	if letterClasses[b[i]] != 3 {
		return nil
	}
	for i++; letterClasses[b[i]] != 0; i++ {
	}
	w := b[p.position:i]
	p.position = i
	return w
}

// encodeAnyWord returns a word as code does, and a hash of a longer one, which is no code of a
// word.
func (p *parser) encodeAnyWord(w []byte) uint64 {
	if len(w) <= 8 {
		if len(w) == 0 {
			return 0
		}
		return binary.LittleEndian.Uint64(w[:8:cap(w)]) & (math.MaxUint64 >> (64 - 8*len(w)))
	}
	h := uint64(14695981039346656037)
	for _, c := range w {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h | 0x80 // the first letter of a word has no such bit
}

// decodeWord is the inverse of code.
func decodeWord(k uint64) string {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], k)
	return string(bytes.TrimRight(b[:], "\x00"))
}

// parseNumber reads a number of at most the given value.
func (p *parser) parseNumber(what string, most uint64) uint64 {
	b, from := p.input[:cap(p.input)], p.position
	n := uint64(0)
	for c := b[p.position] - '0'; c <= 9; c = b[p.position] - '0' {
		if n > math.MaxUint64/10 || n*10 > math.MaxUint64-uint64(c) {
			n = math.MaxUint64
			for ; b[p.position]-'0' <= 9; p.position++ {
			}
			p.fail(from, "%s %s is too large: at most %d", what, b[from:p.position], most)
			return 0
		}
		n = n*10 + uint64(c)
		p.position++
	}
	switch {
	case p.position == from:
		p.fail(from, "a number, the %s, must stand here, not %s", what, p.quoteTextAt(from))
		return 0
	case n > most:
		p.fail(from, "%s %d is too large: at most %d", what, n, most)
		return 0
	}
	return n
}

// fail records the first error, at a place in the text.
func (p *parser) fail(at int, format string, args ...any) {
	if p.err != nil {
		return
	}
	line := p.line + 1
	if back := p.position - at; back > 0 { // the place may be before newlines that have been read
		line -= bytes.Count(p.input[at:min(p.position, len(p.input))], []byte{'\n'})
	}
	p.err = &Error{p.file.name, line, p.columnOf(at), fmt.Sprintf(format, args...)}
}

// columnOf returns the column of a place, from 1.
func (p *parser) columnOf(at int) int {
	at = min(at, len(p.input))
	return at - bytes.LastIndexByte(p.input[:at], '\n')
}

// quoteTextAt quotes the text at a place, up to the next blank.
func (p *parser) quoteTextAt(at int) string {
	if at >= len(p.input) {
		return "the end of the file"
	}
	end := at + 1
	for end < len(p.input) && end < at+20 && p.input[end] > ' ' {
		end++
	}
	if p.input[at] == '\n' || p.input[at] == '\r' {
		return "the end of the line"
	}
	return fmt.Sprintf("%q", p.input[at:end])
}

// labelTable finds the operations of a rank by their labels. It is a hash table that is emptied by
// counting its uses.
//
// Note: on Go's map a label takes twice as long (BenchmarkLabels: 107 instead of 57 ns).
type labelTable struct {
	entries    []labelEntry
	count      int
	generation uint32
}

// labelEntry is an entry. Its key is the code of the word; at and length say where a word of more
// than eight letters stands.
type labelEntry struct {
	key           uint64
	start, length uint32
	op            uint32
	generation    uint32
}

func (l *labelTable) clear() {
	l.count = 0
	if l.generation++; l.generation == 0 || len(l.entries) == 0 {
		l.entries, l.generation = make([]labelEntry, 64), 1
	}
}

// slotOf returns the slot of a label, or the empty one where it belongs.
func (l *labelTable) slotOf(b []byte, at, length int, key uint64) *labelEntry {
	mask := uint64(len(l.entries) - 1)
	for i := key * 0x9e3779b97f4a7c15 >> 32; ; i++ {
		s := &l.entries[i&mask]
		if s.generation != l.generation || s.key == key && (length <= 8 || bytes.Equal(b[s.start:s.start+s.length], b[at:at+length])) {
			return s
		}
	}
}

func (l *labelTable) opOf(b []byte, at, length int, key uint64) (op uint32, ok bool) {
	s := l.slotOf(b, at, length, key)
	return s.op, s.generation == l.generation
}

// addLabel enters a label. It returns the operation that has it already, and false.
func (l *labelTable) addLabel(b []byte, at, length int, key uint64, op uint32) (old uint32, ok bool) {
	s := l.slotOf(b, at, length, key)
	if s.generation == l.generation {
		return s.op, false
	}
	*s = labelEntry{key, uint32(at), uint32(length), op, l.generation}
	if l.count++; l.count*2 > len(l.entries) {
		full := l.entries
		l.entries = make([]labelEntry, 4*len(full))
		for _, s := range full {
			if s.generation == l.generation {
				*l.slotOf(b, int(s.start), int(s.length), s.key) = s
			}
		}
	}
	return 0, true
}

// appendText appends the operation as in a GOAL file.
func (o Op) appendText(b []byte) []byte {
	b = append(b, kindNames[o.Kind]...)
	b = strconv.AppendUint(append(b, ' '), o.Size, 10)
	if o.Kind != Calc {
		b = append(b, "b to "...)
		if o.Kind == Recv {
			b = append(b[:len(b)-3], "from "...)
		}
		b = appendNumber(b, o.Peer)
		if o.Tag != 0 {
			b = appendNumber(append(b, " tag "...), o.Tag)
		}
	}
	if o.CPU != 0 {
		b = strconv.AppendUint(append(b, " cpu "...), uint64(o.CPU), 10)
	}
	if o.Kind != Calc && o.NIC != 0 {
		b = strconv.AppendUint(append(b, " nic "...), uint64(o.NIC), 10)
	}
	return b
}

// appendNumber appends a rank or a tag; Any is −1.
func appendNumber(b []byte, n uint32) []byte {
	if n == Any {
		return append(b, "-1"...)
	}
	return strconv.AppendUint(b, uint64(n), 10)
}

// Write writes the schedule as a GOAL file that the reference tools read, too. Operations that
// others depend on, or that depend on others, have the labels l0, l1 …
func (s *Schedule) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 256<<10)
	line := append(strconv.AppendInt([]byte("num_ranks "), int64(s.CountRanks()), 10), '\n')
	out.Write(line)
	var waits []bool
	for r := range s.CountRanks() {
		from, to := s.firstOpOfRank[r], s.firstOpOfRank[r+1]
		line = append(strconv.AppendInt(append(line[:0], "\nrank "...), int64(r), 10), " {\n"...)
		out.Write(line)
		line = line[:0]
		waits = append(waits[:0], make([]bool, to-from)...)
		for _, d := range s.dependants[s.firstDependant[from]:s.firstDependant[to]] {
			waits[d>>1-from] = true
		}
		label := func(op uint32) { line = strconv.AppendUint(append(line, 'l'), uint64(op-from), 10) }
		calls := s.Calls(r)
		for op := from; op < to; op++ {
			for ; len(calls) > 0 && calls[0].First == int(op-from); calls = calls[1:] {
				fmt.Fprintf(out, "// %s: %d operations\n", calls[0].Name, calls[0].Ops)
			}
			if waits[op-from] || s.firstDependant[op] < s.firstDependant[op+1] {
				label(op)
				line = append(line, ": "...)
			}
			line = append(s.ops[op].appendText(line), '\n')
			out.Write(line)
			line = line[:0]
		}
		for op := from; op < to; op++ {
			for _, d := range s.dependants[s.firstDependant[op]:s.firstDependant[op+1]] {
				label(d >> 1)
				verb := " requires "
				if d&1 != 0 {
					verb = " irequires "
				}
				line = append(line, verb...)
				label(op)
				line = append(line, '\n')
			}
			out.Write(line)
			line = line[:0]
		}
		out.WriteString("}\n")
	}
	return out.Flush()
}
