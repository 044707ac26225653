package probe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// result is what a plan brought. On disk it is lines of text:
//
//	loggp-probe 4
//	library Open MPI v4.1.4, package: Debian OpenMPI; ...
//	standard 3.1                         that the library implements
//	threads single                       the level that MPI_Init gave
//	hosts 1                              places begin here. 1: the ranks share memory
//	ranks 2
//	processors 2                         on which any of them may run, if they share memory; 0: not known
//	host name                            these five of P1, then of P2, and so on
//	processor Intel(R) Xeon(R) Processor
//	bound 0-3,8                          processors on which the rank may run
//	cost 27053                           picoseconds of reading the clock, taken out of all times
//	resolution 1000                      picoseconds: the clock's steps
//	looks 1893 1901                      of pairs alone: nanoseconds that looks at the pace of P1's and of P2's processor took at the best moments; 0: nobody could look
//	late 0                               of collective operations alone: repetitions in which a rank came too late to the start that was agreed on,
//	of 0                                 of so many that had one
//	series send 16 timer11 full 1200     mode, bytes, timer, pace, and how many lines follow, each a time in picoseconds: half of them with the root P1
//	87947
//	end 1200 104935829                   the number and the sum, modulo 2^64, of all times
//
// The places alone are in a file of their own, when both ranks are there; and so are the library's variables, if they are wanted:
//
//	variable btl_vader_eager_limit 4096  any number of them: those about eager messages
//	end
type result struct {
	library, standard, threads string
	places
	looks       looks
	late, tried int
	series      []sample.Series // keys have mode, bytes, timer and pace
}

// places is where the ranks are.
type places struct {
	hosts  int
	usable int // processors on which any of the ranks may run; 0: not known
	ranks  []rank
}

// rank is where a rank ran, and its clock.
type rank struct {
	host, processor, bound string
	cost, resolution       unit.Time
}

type variable struct {
	name  string
	value int64
}

// Bounds on what read accepts.
const (
	maxLine       = 1 << 14 // bytes
	maxVariables  = 1000
	maxSeries     = 1 << 19
	maxRounds     = 1 << 40
	maxProcessors = 1 << 20
	maxTime       = int64(24 * 3600 * unit.Second) // a day
	maxLook       = maxTime / int64(unit.Nanosecond)
)

// read reads the result of a plan. Errors name the line, as those of its siblings do.
func read(r io.Reader, of *plan) (*result, error) {
	p := newParser(r)
	p.head()
	p.places(of.ranks)
	if of.collective {
		p.result.late = int(p.number("late", 0, maxRounds))
		p.result.tried = int(p.number("of", int64(p.result.late), maxRounds))
	} else {
		p.looks()
	}
	for p.next(); p.word == "series"; p.next() {
		p.times()
	}
	p.end(fmt.Sprintf("%d %d", p.samples, p.sum))
	return &p.result, p.failure()
}

func readPlaces(r io.Reader, ranks int) (*places, error) {
	p := newParser(r)
	p.places(ranks)
	p.nothing()
	return &p.result.places, p.failure()
}

func readVariables(r io.Reader) ([]variable, error) {
	p := newParser(r)
	for p.next(); p.word == "variable"; p.next() {
		p.variable()
	}
	p.end("")
	return p.variables, p.failure()
}

// parser goes through a result until its end, or until the first error, after which nothing is read.
type parser struct {
	in         *bufio.Reader
	line       int
	word, rest string // of the line: its first word, and what follows the blank; "" after an error
	err        error
	result     result
	variables  []variable
	samples    int
	sum        uint64
}

func newParser(r io.Reader) *parser { return &parser{in: bufio.NewReaderSize(r, maxLine)} }

func (p *parser) failure() error {
	if p.err == nil {
		return nil
	}
	return fmt.Errorf("line %d: %w", p.line, p.err)
}

// next reads a line.
func (p *parser) next() {
	p.word, p.rest = "", ""
	if p.err != nil {
		return
	}
	p.line++
	line, err := p.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		p.fail("it is longer than %d bytes", maxLine)
	case err == io.EOF:
		p.fail("it ends too early")
	case err != nil:
		p.fail("%w", err)
	default:
		p.word, p.rest, _ = strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
	}
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.word, p.rest = "", ""
}

// head reads what is said of the library.
func (p *parser) head() {
	r := &p.result
	if version := p.text("loggp-probe"); version != "4" {
		p.fail("version %q", cut(version))
	}
	r.library, r.standard, r.threads = p.text("library"), p.text("standard"), p.text("threads")
}

// places reads where so many ranks are.
func (p *parser) places(ranks int) {
	r := &p.result.places
	r.hosts = int(p.number("hosts", 1, int64(ranks)))
	p.number("ranks", int64(ranks), int64(ranks))
	r.usable = int(p.number("processors", 0, maxProcessors))
	for range ranks {
		r.ranks = append(r.ranks, rank{
			host: p.text("host"), processor: p.text("processor"), bound: p.text("bound"),
			cost: unit.Time(p.number("cost", 0, maxTime)), resolution: unit.Time(p.number("resolution", 1, maxTime)),
		})
	}
}

// looks reads how long looks took. Either both ranks could look or none.
func (p *parser) looks() {
	one, other, _ := strings.Cut(p.text("looks"), " ")
	l := looks{p.whole(one, 0, maxLook), p.whole(other, 0, maxLook)}
	if (l[0] == 0) != (l[1] == 0) {
		p.fail("%q are looks of one rank alone", cut(p.rest))
	}
	p.result.looks = l
}

// text reads a line that begins with a word.
func (p *parser) text(word string) string {
	p.next()
	if p.word != word {
		p.fail("%q where %q belongs", cut(p.word), word)
	}
	if strings.ContainsFunc(p.rest, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		p.fail("%q has a character that is none", cut(p.rest))
	}
	return strings.TrimSpace(strings.ToValidUTF8(p.rest, "?"))
}

func (p *parser) number(word string, low, high int64) int64 { return p.whole(p.text(word), low, high) }

func (p *parser) variable() {
	name, value, _ := strings.Cut(p.rest, " ")
	n, err := strconv.ParseInt(value, 10, 64)
	if u, e := strconv.ParseUint(value, 10, 64); err != nil && e == nil {
		n, err = int64(u), nil // the largest of all may stand for none
	}
	switch {
	case err != nil || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }):
		p.fail("%q is not a variable and its value", cut(p.rest))
	case len(p.variables) == maxVariables:
		p.fail("more than %d variables", maxVariables)
	}
	p.variables = append(p.variables, variable{name, n})
}

// times reads a series.
func (p *parser) times() {
	f := strings.Split(p.rest, " ")
	if len(f) != 5 || len(p.result.series) == maxSeries {
		p.fail("%q is not a mode, a size, a timer, a pace and a number, or one too many", cut(p.rest))
		return
	}
	disturbed, known := paces[f[3]]
	if !known {
		p.fail("%q is no pace", cut(f[3]))
		return
	}
	s := sample.Series{Key: sample.Key{Mode: f[0], Bytes: int(p.whole(f[1], 0, 1<<31-1)), Timer: f[2], Disturbed: disturbed}}
	for range p.whole(f[4], 1, int64(sample.MaxRows-p.samples)) {
		p.next()
		if p.rest != "" {
			p.fail("%q is not a time", cut(p.word+" "+p.rest))
		}
		t := p.whole(p.word, 0, maxTime)
		if p.err != nil {
			return
		}
		s.Times = append(s.Times, unit.Time(t))
		p.sum += uint64(t)
	}
	p.samples += len(s.Times)
	p.result.series = append(p.result.series, s)
}

// end checks that nothing is missing.
func (p *parser) end(want string) {
	if p.word != "end" {
		p.fail("%q where a series, a variable or the end belongs", cut(p.word))
	} else if p.rest != want {
		p.fail("it ends with %q, and what stands above comes to %q: something is missing", cut(p.rest), want)
	}
	p.nothing()
}

// nothing checks that nothing follows.
func (p *parser) nothing() {
	if p.err != nil {
		return
	}
	if _, err := p.in.ReadByte(); err != io.EOF {
		p.fail("something stands behind the end")
	}
}

// whole reads a number without plus sign or leading zeros.
func (p *parser) whole(s string, low, high int64) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < low || n > high || strconv.FormatInt(n, 10) != s {
		p.fail("%q is not a number from %d to %d", cut(s), low, high)
		return 0
	}
	return n
}

// cut shortens what an error quotes.
func cut(s string) string { return s[:min(len(s), 60)] }

// of checks that the result has what the plan asks for, and puts its series in the order of cells, timers and paces.
func (r *result) of(p *plan) error {
	r.series = sample.Joined(r.series)
	there := make(map[sample.Key]sample.Series, len(r.series))
	for _, s := range r.series {
		if _, twice := there[s.Key]; twice {
			return fmt.Errorf("%s of %s at %d bytes is there twice", s.Timer, s.Mode, s.Bytes)
		}
		there[s.Key] = s
	}
	found := len(r.series)
	r.series = r.series[:0]
	for _, c := range p.cells {
		for _, timer := range p.timers(c) {
			n := 0
			for _, disturbed := range []bool{false, true} {
				s, ok := there[sample.Key{Mode: c.Mode, Bytes: c.Bytes, Timer: timer, Disturbed: disturbed}]
				if !ok {
					continue
				}
				if err := p.halves(&s); err != nil {
					return err
				}
				n += len(s.Times)
				r.series = append(r.series, s)
			}
			if n == 0 && timer == sample.CollLast && r.late > 0 {
				continue // each time a rank was too late
			}
			if err := p.counts(c, timer, n); err != nil {
				return err
			}
		}
	}
	if found != len(r.series) {
		return fmt.Errorf("it has %d series, not %d", found, len(r.series))
	}
	return nil
}

// halves says whether there are not as many samples with each root.
func (p *plan) halves(s *sample.Series) error {
	if p.collective || len(s.Times)%2 == 0 {
		return nil
	}
	return fmt.Errorf("it has %d samples of %s of %s at %d bytes, which are not as many with each root", len(s.Times), s.Timer, s.Mode, s.Bytes)
}

// counts says what is wrong with so many samples of a timer of a cell.
func (p *plan) counts(c microbench.Cell, timer string, n int) error {
	exact := p.reps > 0 && p.time == 0
	switch {
	case n == 0:
		return fmt.Errorf("it has no samples of %s of %s at %d bytes", timer, c.Mode, c.Bytes)
	case p.collective:
		if exact && n != p.reps && timer != sample.CollLast {
			return fmt.Errorf("it has %d samples of %s of %s at %d bytes, not %d", n, timer, c.Mode, c.Bytes, p.reps)
		}
	case exact && n != repeated(timer, p.reps):
		return fmt.Errorf("it has %d samples of %s of %s at %d bytes, not %d", n, timer, c.Mode, c.Bytes, repeated(timer, p.reps))
	}
	return nil
}
