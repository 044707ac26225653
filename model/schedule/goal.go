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
	file *text
	b    []byte // a newline and eight zeros follow
	i    int
	line int // newlines before i, in the file
	err  *Error

	*part
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

// letters marks the bytes of words: 1 for letters, 2 for what may stand behind the first one.
var letters = func() (t [256]uint8) {
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

// header reads the number of ranks.
func (p *parser) header(c *chunk) *Error {
	p.b, p.line = c.text, c.line
	p.space(true)
	at := p.i
	if w := p.word(); string(w) != "num_ranks" {
		p.fail(at, "a schedule begins with num_ranks and a number, not with %s", p.shown(at))
		return p.err
	}
	at = p.after()
	n := p.number("number of ranks", MaxRanks)
	if n == 0 && p.err == nil {
		p.fail(at, "a schedule has at least one rank")
	}
	p.end()
	p.file.ranks, c.skip = uint32(n), p.i
	return p.err
}

// chunk reads all ranks of a chunk.
func (p *parser) chunk(c *chunk) {
	p.b, p.i, p.err = c.text, c.skip, nil
	p.line = c.line + bytes.Count(c.text[:c.skip], []byte{'\n'})
	p.part = newPart(p.part)
	c.part = p.part
	for n := 0; ; n++ {
		p.space(true)
		if p.i >= len(p.b) {
			break
		}
		at := p.i
		if p.code(p.word()) != wordRank {
			p.fail(at, "a rank must begin here: rank, its number and {, not %s", p.shown(at))
			break
		}
		at = p.after()
		rank := int(p.number("rank", math.MaxUint32))
		switch {
		case p.err != nil:
		case rank >= int(p.file.ranks):
			p.fail(at, "rank %d: num_ranks says %d", rank, p.file.ranks)
		case n == 0:
			c.from, c.at = rank, [2]int{p.line + 1, p.column(at)}
		case rank != p.rank+1:
			p.fail(at, "%s", orderError(p.rank+1, rank))
		}
		if p.after(); p.err == nil && p.b[:cap(p.b)][p.i] != '{' {
			p.fail(p.i, "{ must follow the number of the rank, not %s", p.shown(p.i))
		}
		if p.err != nil {
			break
		}
		p.i++
		p.rank = rank
		p.begin()
		p.labels.clear()
		p.statements()
		if p.err != nil {
			p.part.first = p.part.first[:len(p.part.first)-1] // its dependencies are not in order
			p.part.ops, p.part.lines = p.part.ops[:len(p.part.after)], p.part.lines[:len(p.part.after)]
			break
		}
		if d := p.part.end(); d != nil {
			p.err = &Error{p.file.name, int(d.line), int(d.column), fmt.Sprintf("rank %d waits for itself: the dependencies of the operations in lines %s form a cycle", rank, p.cycleLines(d))}
			p.part.first = p.part.first[:len(p.part.first)-1]
			break
		}
	}
	p.file.used.Add(int64(len(p.part.ops))*opMemory + int64(len(p.part.deps))*depMemory)
	c.err = p.err
}

// newPart returns an empty part with room for as much as another one has, and some more.
func newPart(like *part) *part {
	if like == nil {
		return &part{}
	}
	room := func(n int) int { return n + n/16 + 64 }
	return &part{
		first: make([]uint32, 0, room(len(like.first))), ops: make([]Op, 0, room(len(like.ops))), lines: make([]uint32, 0, room(len(like.lines))),
		after: make([]uint32, 0, room(len(like.after))), deps: make([]uint32, 0, room(len(like.deps))),
		pairs: like.pairs[:0], count: like.count[:0],
	}
}

// cycleLines names the two operations of a dependency.
func (p *parser) cycleLines(d *pair) string {
	return fmt.Sprintf("%d and %d", p.part.lines[d.before], p.part.lines[d.after>>1])
}

// statements reads what a rank does, and the bracket that closes it.
func (p *parser) statements() {
	for p.err == nil {
		p.space(true)
		at := p.i
		if p.b[:cap(p.b)][at] == '}' {
			p.i++
			return
		}
		w := p.word()
		if w == nil {
			if at >= len(p.b) {
				p.fail(len(p.b), "} of rank %d is missing", p.rank)
			} else {
				p.fail(at, "an operation, a label or } must stand here, not %s", p.shown(at))
			}
			return
		}
		k := p.code(w)
		c := p.b[:cap(p.b)][p.after()]
		switch {
		case k == wordRank:
			p.fail(at, "} of rank %d is missing before the next rank", p.rank)
		case c == ':':
			if k == wordSend || k == wordRecv || k == wordCalc {
				p.fail(at, "%s is the name of an operation and cannot be a label", w)
				return
			}
			p.i++
			from := p.after()
			p.op(from, p.code(p.word()))
			if old, ok := p.labels.put(p.b, at, len(w), k, uint32(len(p.part.ops)-1)); p.err == nil && !ok {
				p.fail(at, "label %s is already that of line %d", w, p.part.lines[old])
			}
		case k == wordSend || k == wordRecv || k == wordCalc:
			p.op(at, k)
		default:
			p.dependency(at, w, k)
		}
		p.end()
	}
}

// op reads an operation, whose name has been read and stands at a place.
func (p *parser) op(at int, name uint64) {
	o := Op{}
	line := p.line
	switch name {
	case wordCalc:
		o.Kind = Calc
		p.after()
		o.Size = p.number("time of calc in ns", maxCalc)
	case wordSend, wordRecv:
		way := wordTo
		if name == wordRecv {
			o.Kind, way = Recv, wordFrom
		}
		p.after()
		o.Size = p.number("size", maxSize)
		from := p.after()
		if p.code(p.word()) != wordB {
			p.fail(from, "b must follow the size, as in %d"+"b, not %s", o.Size, p.shown(from))
			return
		}
		from = p.after()
		if p.code(p.word()) != way {
			p.fail(from, "%s must follow the size of a %v, not %s", decodeWord(way), o.Kind, p.shown(from))
			return
		}
		from = p.after()
		if o.Kind == Recv && p.any() {
			o.Peer = Any
		} else if n := p.number("rank", math.MaxUint32); o.Kind == Recv && n == Any {
			o.Peer = Any
		} else if n >= uint64(p.file.ranks) && p.err == nil {
			p.fail(from, "rank %d: there are %d ranks, from 0 to %d", n, p.file.ranks, p.file.ranks-1)
		} else {
			o.Peer = uint32(n)
		}
	default:
		if !p.failPortals(at) {
			p.fail(at, "send, recv or calc must stand here, not %s", p.shown(at))
		}
		return
	}
	p.options(&o)
	if p.err == nil {
		if len(p.part.ops) == MaxOps {
			p.fail(at, "more than %d operations", MaxOps)
			return
		}
		if int64(len(p.part.ops))*opMemory > p.file.memory {
			p.fail(at, "%s", tooLarge(int(p.rank), p.file.memory))
			return
		}
		p.add(o)
		p.part.lines = append(p.part.lines, uint32(line+1))
	}
}

// options reads tag, cpu and nic.
func (p *parser) options(o *Op) {
	given := 0
	for p.err == nil {
		at := p.after()
		w := p.word()
		if w == nil {
			return
		}
		p.after()
		bit := 0
		switch k := p.code(w); {
		case k == wordTag && o.Kind != Calc:
			if bit = 1; p.any() {
				o.Tag = Any
			} else {
				o.Tag = uint32(p.number("tag", math.MaxUint32)) // the largest is Any
			}
		case k == wordCPU:
			bit = 2
			o.CPU = uint8(p.number("cpu", math.MaxUint8))
		case k == wordNIC && o.Kind != Calc:
			bit = 4
			o.NIC = uint8(p.number("nic", math.MaxUint8))
		default:
			p.fail(at, "unknown option %s of %v: it has %s", p.shown(at), o.Kind, map[bool]string{true: "cpu", false: "tag, cpu and nic"}[o.Kind == Calc])
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
		if p.shown(at) == strconv.Quote(s) {
			p.fail(at, "%s is a Portals statement: schedules for Portals (append, put, get, tput and others) cannot be read, only those of send, recv and calc", s)
			return true
		}
	}
	return false
}

// any reads −1. Generators that keep ranks and tags as unsigned numbers write 4294967295.
func (p *parser) any() bool {
	if b := p.b[:cap(p.b)]; b[p.i] == '-' && b[p.i+1] == '1' && letters[b[p.i+2]] == 0 {
		p.i += 2
		return true
	}
	return false
}

// dependency reads that one label requires another. The first one has been read.
func (p *parser) dependency(at int, w []byte, k uint64) {
	from := p.i
	verb := p.word()
	start := string(verb) == "irequires"
	if !start && p.code(verb) != wordRequires {
		if p.failPortals(at) {
			return
		}
		p.fail(from, "behind %s stands \":\" and an operation, or requires or irequires and a label, not %s", w, p.shown(from))
		return
	}
	to := p.after()
	other := p.word()
	if other == nil {
		p.fail(to, "the label of an operation must follow, not %s", p.shown(to))
		return
	}
	after, ok := p.labels.get(p.b, at, len(w), k)
	if !ok {
		p.fail(at, "no operation of rank %d above has the label %s", p.rank, w)
		return
	}
	before, ok := p.labels.get(p.b, to, len(other), p.code(other))
	if !ok {
		p.fail(to, "no operation of rank %d above has the label %s", p.rank, other)
		return
	}
	if int64(len(p.part.pairs))*pairMemory > p.file.memory {
		p.fail(at, "%s", tooLarge(int(p.rank), p.file.memory))
		return
	}
	p.depend(after, before, start)
	d := &p.part.pairs[len(p.part.pairs)-1]
	d.line, d.column = uint32(p.line+1), uint32(p.column(at))
}

// after skips blanks and returns where it is then.
func (p *parser) after() int {
	b := p.b[:cap(p.b)]
	for b[p.i] == ' ' || b[p.i] == '\t' {
		p.i++
	}
	return p.i
}

// space skips blanks and comments, and newlines if lines is true.
func (p *parser) space(lines bool) {
	b := p.b[:cap(p.b)]
	for p.i < len(p.b) {
		switch c := b[p.i]; {
		case c == ' ' || c == '\t' || c == '\r' && b[p.i+1] == '\n':
			p.i++
		case c == '\n':
			if !lines {
				return
			}
			p.i++
			p.line++
		case c == '/' && b[p.i+1] == '/':
			n := bytes.IndexByte(b[p.i:len(p.b)+1], '\n')
			if lines {
				p.comment(b[p.i : p.i+n])
			}
			p.i += n
		case c == '/' && b[p.i+1] == '*':
			n := bytes.Index(p.b[p.i+2:], []byte("*/"))
			if n < 0 {
				p.fail(p.i, "the comment that begins here does not end")
				p.i = len(p.b)
				return
			}
			p.line += bytes.Count(p.b[p.i:p.i+2+n], []byte{'\n'})
			p.i += n + 4
		default:
			return
		}
	}
}

// comment takes note of a comment that says to which call the operations below it belong.
func (p *parser) comment(b []byte) {
	rest, ok := bytes.CutPrefix(b, []byte("// "))
	name, rest, found := bytes.Cut(rest, []byte(": "))
	count, whole := bytes.CutSuffix(bytes.TrimSuffix(rest, []byte("\r")), []byte(" operations"))
	n, err := strconv.ParseUint(string(count), 10, 32)
	if !ok || !found || !whole || err != nil || p.part == nil || len(p.part.first) == 0 {
		return
	}
	p.part.calls = append(p.part.calls, call{string(name), uint32(len(p.part.ops)), uint32(n)})
}

// end checks that a statement ends here.
func (p *parser) end() {
	line := p.line
	if p.space(false); p.err == nil && p.line == line && p.i < len(p.b) && p.b[p.i] != '\n' && p.b[p.i] != '}' {
		p.fail(p.i, "the line must end here, before %s", p.shown(p.i))
	}
}

// word reads a word, or returns nil if there is none.
func (p *parser) word() []byte {
	b, i := p.b[:cap(p.b)], p.i
	if letters[b[i]] != 3 {
		return nil
	}
	for i++; letters[b[i]] != 0; i++ {
	}
	w := b[p.i:i]
	p.i = i
	return w
}

// code returns a word as code does, and a hash of a longer one, which is no code of a word.
func (p *parser) code(w []byte) uint64 {
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

// number reads a number of at most the given value.
func (p *parser) number(what string, most uint64) uint64 {
	b, from := p.b[:cap(p.b)], p.i
	n := uint64(0)
	for c := b[p.i] - '0'; c <= 9; c = b[p.i] - '0' {
		if n > math.MaxUint64/10 || n*10 > math.MaxUint64-uint64(c) {
			n = math.MaxUint64
			for ; b[p.i]-'0' <= 9; p.i++ {
			}
			p.fail(from, "%s %s is too large: at most %d", what, b[from:p.i], most)
			return 0
		}
		n = n*10 + uint64(c)
		p.i++
	}
	switch {
	case p.i == from:
		p.fail(from, "a number, the %s, must stand here, not %s", what, p.shown(from))
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
	if back := p.i - at; back > 0 { // the place may be before newlines that have been read
		line -= bytes.Count(p.b[at:min(p.i, len(p.b))], []byte{'\n'})
	}
	p.err = &Error{p.file.name, line, p.column(at), fmt.Sprintf(format, args...)}
}

// column returns the column of a place, from 1.
func (p *parser) column(at int) int {
	at = min(at, len(p.b))
	return at - bytes.LastIndexByte(p.b[:at], '\n')
}

// shown quotes the text at a place, up to the next blank.
func (p *parser) shown(at int) string {
	if at >= len(p.b) {
		return "the end of the file"
	}
	end := at + 1
	for end < len(p.b) && end < at+20 && p.b[end] > ' ' {
		end++
	}
	if p.b[at] == '\n' || p.b[at] == '\r' {
		return "the end of the line"
	}
	return fmt.Sprintf("%q", p.b[at:end])
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

// find returns the slot of a label, or the empty one where it belongs.
func (l *labelTable) find(b []byte, at, length int, key uint64) *labelEntry {
	mask := uint64(len(l.entries) - 1)
	for i := key * 0x9e3779b97f4a7c15 >> 32; ; i++ {
		s := &l.entries[i&mask]
		if s.generation != l.generation || s.key == key && (length <= 8 || bytes.Equal(b[s.start:s.start+s.length], b[at:at+length])) {
			return s
		}
	}
}

func (l *labelTable) get(b []byte, at, length int, key uint64) (op uint32, ok bool) {
	s := l.find(b, at, length, key)
	return s.op, s.generation == l.generation
}

// put enters a label. It returns the operation that has it already, and false.
func (l *labelTable) put(b []byte, at, length int, key uint64, op uint32) (old uint32, ok bool) {
	s := l.find(b, at, length, key)
	if s.generation == l.generation {
		return s.op, false
	}
	*s = labelEntry{key, uint32(at), uint32(length), op, l.generation}
	if l.count++; l.count*2 > len(l.entries) {
		full := l.entries
		l.entries = make([]labelEntry, 4*len(full))
		for _, s := range full {
			if s.generation == l.generation {
				*l.find(b, int(s.start), int(s.length), s.key) = s
			}
		}
	}
	return 0, true
}

// append appends the operation as in a GOAL file.
func (o Op) append(b []byte) []byte {
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
	line := append(strconv.AppendInt([]byte("num_ranks "), int64(s.Ranks()), 10), '\n')
	out.Write(line)
	var waits []bool
	for r := range s.Ranks() {
		from, to := s.first[r], s.first[r+1]
		line = append(strconv.AppendInt(append(line[:0], "\nrank "...), int64(r), 10), " {\n"...)
		out.Write(line)
		line = line[:0]
		waits = append(waits[:0], make([]bool, to-from)...)
		for _, d := range s.deps[s.after[from]:s.after[to]] {
			waits[d>>1-from] = true
		}
		label := func(op uint32) { line = strconv.AppendUint(append(line, 'l'), uint64(op-from), 10) }
		calls := s.Calls(r)
		for op := from; op < to; op++ {
			for ; len(calls) > 0 && calls[0].First == int(op-from); calls = calls[1:] {
				fmt.Fprintf(out, "// %s: %d operations\n", calls[0].Name, calls[0].Ops)
			}
			if waits[op-from] || s.after[op] < s.after[op+1] {
				label(op)
				line = append(line, ": "...)
			}
			line = append(s.ops[op].append(line), '\n')
			out.Write(line)
			line = line[:0]
		}
		for op := from; op < to; op++ {
			for _, d := range s.deps[s.after[op]:s.after[op+1]] {
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
