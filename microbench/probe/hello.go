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

// launchGreeting is what the ranks of a launch say first, as lines of text:
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
type launchGreeting struct {
	library, standard, threads string
	hosts                      int
	ranks                      []rank
}

// rank is where a rank ran, and its clock.
type rank struct {
	host, processor, bound string
	cost, resolution       unit.Time
}

// eagerVariable is one of the library's that speak of eager messages: a line "variable
// btl_vader_eager_limit 4096".
type eagerVariable struct {
	name  string
	value int64
}

// readGreeting reads what so many ranks say. Errors name the line.
func readGreeting(text string, ranks int) (*launchGreeting, error) {
	p := lineParser{lines: strings.Split(text, "\n")}
	h := &launchGreeting{library: p.readText("library"), standard: p.readText("standard"), threads: p.readText("threads")}
	var first, modes, operations []string
	for _, timers := range microbench.StageTimers() {
		first = append(first, timers[0])
	}
	for _, o := range collective.Operations() {
		operations = append(operations, o.String())
	}
	p.checkNames("stages", first)
	p.checkNames("modes", append(modes, microbench.SendModeNames()...))
	p.checkNames("operations", operations)
	h.hosts = int(p.readNumber("hosts", 1, int64(ranks)))
	for range ranks {
		h.ranks = append(h.ranks, rank{
			host: p.readText("host"), processor: p.readText("processor"), bound: p.readText("bound"),
			cost: unit.Time(p.readNumber("cost", 0, maxAnswerTime)), resolution: unit.Time(p.readNumber("resolution", 1, maxAnswerTime)),
		})
	}
	return h, p.checkEnd()
}

// readVariables reads the library's variables, one a line.
func readVariables(text string) ([]eagerVariable, error) {
	p := lineParser{lines: strings.Split(text, "\n")}
	var all []eagerVariable
	for p.err == nil && len(p.lines) > 1 {
		name, value, _ := strings.Cut(p.readText("variable"), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
			p.fail("%q is not a variable and its value", shortenQuote(name+" "+value))
		}
		all = append(all, eagerVariable{name, n})
	}
	return all, p.checkEnd()
}

// lineParser goes through lines until the first error, after which nothing is read.
type lineParser struct {
	lines []string
	line  int
	err   error
}

func (p *lineParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("line %d: %w", p.line, fmt.Errorf(format, args...))
	}
}

// readText reads a line that begins with a word.
func (p *lineParser) readText(word string) string {
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
		p.fail("%q where %q belongs", shortenQuote(first), word)
	}
	if strings.ContainsFunc(rest, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		p.fail("%q has a character that is not printable", shortenQuote(rest))
	}
	return strings.TrimSpace(rest)
}

func (p *lineParser) readNumber(word string, low, high int64) int64 {
	text := p.readText(word)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high || strconv.FormatInt(n, 10) != text {
		p.fail("%q is not a number from %d to %d", shortenQuote(text), low, high)
		return low
	}
	return n
}

// checkNames reads names, which are those that numbers in commands stand for here; a dash stands
// for none.
func (p *lineParser) checkNames(word string, ours []string) {
	names := strings.Fields(p.readText(word))
	if len(names) > len(ours) || slices.ContainsFunc(names, func(n string) bool { return n != "-" && slices.Index(ours, n) != slices.Index(names, n) }) {
		p.fail("%s %v are not those of this program, %v", word, names, ours)
	}
}

// checkEnd checks that nothing is left.
func (p *lineParser) checkEnd() error {
	if p.err == nil && !(len(p.lines) == 1 && p.lines[0] == "") {
		return errors.New("something stands behind the end")
	}
	return p.err
}

// shortenQuote shortens what an error quotes.
func shortenQuote(s string) string { return s[:min(len(s), 60)] }
