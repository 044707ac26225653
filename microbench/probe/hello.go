package probe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// hello is what the ranks of a launch say first, as lines of text:
//
//	library Open MPI v4.1.4, package: Debian OpenMPI; ...
//	standard 3.1                         that the library implements
//	threads single                       the level that MPI_Init gave
//	stages timer11 idle rtt train - -    the first timer of each stage, by its number in commands
//	modes send ssend rsend               likewise
//	operations barrier bcast             likewise; none if no collectives are measured
//	hosts 1                              1: the ranks share memory
//	host name                            these five of P1, then of P2, and so on
//	processor Intel(R) Xeon(R) Processor
//	bound 0-3,8                          processors on which the rank may run
//	cost 27053                           picoseconds of reading the clock, taken out of all times
//	resolution 1000                      picoseconds: the clock's steps
type hello struct {
	library, standard, threads string
	hosts                      int
	ranks                      []rank
}

// rank is where a rank ran, and its clock.
type rank struct {
	host, processor, bound string
	cost, resolution       unit.Time
}

// variable is one of the library's that speak of eager messages: a line "variable
// btl_vader_eager_limit 4096".
type variable struct {
	name  string
	value int64
}

// readHello reads what so many ranks say. Errors name the line.
func readHello(text string, ranks int) (*hello, error) {
	p := parser{lines: strings.Split(text, "\n")}
	h := &hello{library: p.text("library"), standard: p.text("standard"), threads: p.text("threads")}
	var first, modes, operations []string
	for _, timers := range microbench.StageTimers() {
		first = append(first, timers[0])
	}
	for _, o := range collective.Operations() {
		operations = append(operations, o.String())
	}
	p.table("stages", first)
	p.table("modes", append(modes, microbench.Modes()...))
	p.table("operations", operations)
	h.hosts = int(p.number("hosts", 1, int64(ranks)))
	for range ranks {
		h.ranks = append(h.ranks, rank{
			host: p.text("host"), processor: p.text("processor"), bound: p.text("bound"),
			cost: unit.Time(p.number("cost", 0, maxTime)), resolution: unit.Time(p.number("resolution", 1, maxTime)),
		})
	}
	return h, p.end()
}

// readVariables reads the library's variables, one a line.
func readVariables(text string) ([]variable, error) {
	p := parser{lines: strings.Split(text, "\n")}
	var all []variable
	for p.err == nil && len(p.lines) > 1 {
		name, value, _ := strings.Cut(p.text("variable"), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
			p.fail("%q is not a variable and its value", cut(name+" "+value))
		}
		all = append(all, variable{name, n})
	}
	return all, p.end()
}

// parser goes through lines until the first error, after which nothing is read.
type parser struct {
	lines []string
	line  int
	err   error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("line %d: %w", p.line, fmt.Errorf(format, args...))
	}
}

// text reads a line that begins with a word.
func (p *parser) text(word string) string {
	if p.line++; p.err != nil {
		return ""
	}
	line := p.lines[0]
	if p.lines = p.lines[1:]; len(p.lines) == 0 {
		p.fail("it ends too early")
		return ""
	}
	first, rest, _ := strings.Cut(line, " ")
	if first != word {
		p.fail("%q where %q belongs", cut(first), word)
	}
	if strings.ContainsFunc(rest, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		p.fail("%q has a character that is not printable", cut(rest))
	}
	return strings.TrimSpace(rest)
}

func (p *parser) number(word string, low, high int64) int64 {
	text := p.text(word)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high || strconv.FormatInt(n, 10) != text {
		p.fail("%q is not a number from %d to %d", cut(text), low, high)
		return low
	}
	return n
}

// table reads names, which are those that numbers in commands stand for here; a dash stands for
// none.
func (p *parser) table(word string, ours []string) {
	names := strings.Fields(p.text(word))
	if len(names) > len(ours) || slices.ContainsFunc(names, func(n string) bool { return n != "-" && slices.Index(ours, n) != slices.Index(names, n) }) {
		p.fail("%s %v are not those of this program, %v", word, names, ours)
	}
}

// end checks that nothing is left.
func (p *parser) end() error {
	if p.err == nil && !(len(p.lines) == 1 && p.lines[0] == "") {
		return errors.New("something stands behind the end")
	}
	return p.err
}

// cut shortens what an error quotes.
func cut(s string) string { return s[:min(len(s), 60)] }
