package expr

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Error says where an expression cannot be understood. Offset counts bytes from the start of the text.
type Error struct {
	Offset int
	Text   string
}

func (e *Error) Error() string { return e.Text }

// Expr is an expression that has been parsed. It is a number or a condition.
type Expr struct {
	text string
	root *node
	free map[string]bool
}

// Condition says whether the expression is a condition, not a number.
func (e *Expr) Condition() bool { return e.root.condition }

// String returns the expression as it was written.
func (e *Expr) String() string { return e.text }

// Uses says whether the expression depends on a variable that no loop of its own binds.
func (e *Expr) Uses(variable string) bool { return e.free[variable] }

// node is a node of the syntax tree.
type node struct {
	op        string // the operator, or one of number, word, call, for
	text      string // of a number, word or call: its text or name; of others: the source
	kids      []*node
	loops     []loop // of for, and of a call over a loop
	where     *node  // its filter, or nil
	condition bool
	offset    int
}

// loop binds a variable to each element of a set.
type loop struct {
	variable  string
	elements  []string // of a set that is written out
	list      string   // or the name of a list
	low, high float64  // the bounds of a part of the list
	offset    int
}

// Names are the words that an expression may use: its variables, the lists that loops go through,
// and the number of arguments of each quantity; -1 if it varies.
type Names struct {
	Variables  []string
	Lists      map[string][]string
	Quantities map[string]int
}

// builtin are the functions of the language. Those of one argument may not loop; the others take
// several arguments or one with a loop.
var builtin = map[string]struct{ loops, condition bool }{
	"abs": {}, "min": {loops: true}, "max": {loops: true},
	"falls": {loops: true, condition: true}, "rises": {loops: true, condition: true},
}

// parser reads the tokens of an expression.
type parser struct {
	text   string
	tokens []string
	starts []int // of the tokens, then the end of the text
	i      int
	bound  []string // variables
	names  *Names
	free   map[string]bool
}

var token = regexp.MustCompile(`^(?:[0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?|[A-Za-z_][A-Za-z_0-9]*|'[^']*'|\.\.|[<>=]=|[-+*/<>(){},\[\]])`)

// Parse reads an expression. An error is an *Error.
func Parse(text string, names *Names) (e *Expr, err error) {
	p := &parser{text: text, names: names, bound: names.Variables, free: map[string]bool{}}
	defer func() {
		if r := recover(); r != nil {
			syntax, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			e, err = nil, syntax
		}
	}()
	for i := 0; i < len(text); {
		if strings.IndexByte(" \n\t", text[i]) >= 0 {
			i++
			continue
		}
		t := token.FindString(text[i:])
		if t == "" {
			panic(&Error{i, fmt.Sprintf("unexpected %q", text[i:i+1])})
		}
		p.tokens, p.starts = append(p.tokens, t), append(p.starts, i)
		i += len(t)
	}
	p.tokens, p.starts = append(p.tokens, ""), append(p.starts, len(text))
	n := p.claim()
	if p.peek() != "" {
		p.fail("unexpected %q", p.peek())
	}
	return &Expr{text, n, p.free}, nil
}

func (p *parser) fail(format string, args ...any) {
	panic(&Error{p.starts[p.i], fmt.Sprintf(format, args...)})
}

func (p *parser) peek() string { return p.tokens[p.i] }

func (p *parser) next() string {
	t := p.tokens[p.i]
	if t == "" {
		p.fail("unexpected end")
	}
	p.i++
	return t
}

// accept takes the next token if it is one of those.
func (p *parser) accept(tokens ...string) (string, bool) {
	for _, t := range tokens {
		if p.peek() == t {
			p.i++
			return t, true
		}
	}
	return "", false
}

func (p *parser) expect(t string) {
	if _, ok := p.accept(t); !ok {
		p.fail("expected %q, found %q", t, p.peek())
	}
}

// want fails at a node that is a condition where a number is needed, or the other way round.
func want(n *node, condition bool) *node {
	switch {
	case condition && !n.condition:
		panic(&Error{n.offset, "expected a condition, found a number"})
	case !condition && n.condition:
		panic(&Error{n.offset, "expected a number, found a condition"})
	}
	return n
}

// claim = or [ "for" loops ].
//
// The variables of a loop are known only behind its body, so the loop is read first.
func (p *parser) claim() *node {
	start, bound := p.i, p.bound
	defer func() { p.bound = bound }()
	at := p.loopAhead()
	if at < 0 {
		return p.or()
	}
	p.i = at + 1
	loops, where := p.loops()
	end := p.i
	p.i = start
	body := want(p.or(), true)
	if p.i != at {
		p.fail("unexpected %q", p.peek())
	}
	p.i = end
	return &node{op: "for", kids: []*node{body}, loops: loops, where: where, condition: true, offset: body.offset}
}

// loopAhead returns the index of the "for" that belongs to what begins here, or -1.
func (p *parser) loopAhead() int {
	depth := 0
	for i := p.i; i < len(p.tokens); i++ {
		switch p.tokens[i] {
		case "(":
			depth++
		case ")":
			if depth--; depth < 0 {
				return -1
			}
		case "for":
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// loops = variable "in" set { "," variable "in" set } [ "where" or ].
func (p *parser) loops() (all []loop, where *node) {
	for {
		l := loop{offset: p.starts[p.i]}
		l.variable = p.next()
		p.expect("in")
		p.set(&l)
		p.bound = append(p.bound[:len(p.bound):len(p.bound)], l.variable)
		all = append(all, l)
		if _, ok := p.accept(","); !ok {
			break
		}
	}
	if _, ok := p.accept("where"); ok {
		where = want(p.or(), true)
	}
	return all, where
}

// set = "{" word { "," word } "}" | list [ "[" low ".." high "]" ].
func (p *parser) set(l *loop) {
	if _, ok := p.accept("{"); ok {
		for {
			l.elements = append(l.elements, strings.Trim(p.next(), "'"))
			if _, ok := p.accept(","); !ok {
				p.expect("}")
				return
			}
		}
	}
	l.list = p.peek()
	if p.names.Lists[l.list] == nil {
		p.fail("there is no list %q", l.list)
	}
	p.i++
	elements := p.names.Lists[l.list]
	if _, ok := p.accept("["); !ok {
		l.elements = elements
		return
	}
	l.low = p.number()
	p.expect("..")
	l.high = p.number()
	p.expect("]")
	for _, e := range elements {
		if x, err := strconv.ParseFloat(e, 64); err == nil && l.low <= x && x <= l.high {
			l.elements = append(l.elements, e)
		}
	}
	if len(l.elements) == 0 {
		panic(&Error{l.offset, fmt.Sprintf("list %q has no element from %v to %v", l.list, l.low, l.high)})
	}
}

func (p *parser) number() float64 {
	x, err := strconv.ParseFloat(p.peek(), 64)
	if err != nil {
		p.fail("expected a number, found %q", p.peek())
	}
	p.i++
	return x
}

func (p *parser) or() *node { return p.logic("or", func() *node { return p.logic("and", p.not) }) }
func (p *parser) not() *node {
	if _, ok := p.accept("not"); ok {
		n := want(p.not(), true)
		return &node{op: "not", kids: []*node{n}, condition: true, offset: n.offset}
	}
	return p.comparison()
}

// logic = operand { op operand }.
func (p *parser) logic(op string, operand func() *node) *node {
	n := operand()
	for {
		if _, ok := p.accept(op); !ok {
			return n
		}
		n = &node{op: op, kids: []*node{want(n, true), want(operand(), true)}, condition: true, offset: n.offset}
	}
}

// comparison = sum { ("<" | "<=" | ">" | ">=") sum }.
func (p *parser) comparison() *node {
	n := p.sum()
	var all *node
	for {
		op, ok := p.accept("<", "<=", ">", ">=")
		if !ok {
			break
		}
		right := want(p.sum(), false)
		c := &node{op: op, kids: []*node{want(n, false), right}, condition: true, offset: n.offset}
		if all == nil {
			all = c
		} else {
			all = &node{op: "and", kids: []*node{all, c}, condition: true, offset: n.offset}
		}
		n = right
	}
	if all != nil {
		return all
	}
	return n
}

func (p *parser) sum() *node {
	return p.arithmetic(func() *node { return p.arithmetic(p.factor, "*", "/") }, "+", "-")
}

// arithmetic = operand { op operand }.
func (p *parser) arithmetic(operand func() *node, ops ...string) *node {
	start := p.starts[p.i]
	n := operand()
	for {
		op, ok := p.accept(ops...)
		if !ok {
			return n
		}
		n = &node{op: op, kids: []*node{want(n, false), want(operand(), false)}, offset: start}
		n.text = strings.TrimSpace(p.text[start:p.starts[p.i]])
	}
}

// factor = number | "(" claim ")" | "-" factor | word | string | name "(" arguments ")".
func (p *parser) factor() *node {
	start := p.starts[p.i]
	t := p.next()
	switch {
	case t == "(":
		n := p.claim()
		p.expect(")")
		return n
	case t == "-":
		n := want(p.factor(), false)
		return &node{op: "-", kids: []*node{{op: "number", text: "0"}, n}, text: "-" + n.text, offset: start}
	case '0' <= t[0] && t[0] <= '9':
		return &node{op: "number", text: t, offset: start}
	case t[0] == '\'' || p.peek() != "(":
		p.i--
		n := p.word()
		if n.op != "variable" {
			panic(&Error{start, fmt.Sprintf("there is no variable %q", n.text)})
		}
		return n
	}
	p.i++
	n := &node{op: "call", offset: start}
	if f, ok := builtin[t]; ok {
		n.op, n.condition = t, f.condition
		p.values(n, f.loops)
	} else {
		p.arguments(n, t)
	}
	n.text = strings.TrimSpace(p.text[start:p.starts[p.i]])
	return n
}

// values are the arguments of a builtin function: numbers, or one number with a loop.
func (p *parser) values(n *node, loops bool) {
	body, bound := p.i, p.bound
	if at := p.loopAhead(); loops && at >= 0 {
		p.i = at + 1
		n.loops, n.where = p.loops()
		end := p.i
		p.i = body
		n.kids = []*node{want(p.sum(), false)}
		if p.i != at {
			p.fail("unexpected %q", p.peek())
		}
		p.i, p.bound = end, bound
		p.expect(")")
		return
	}
	for {
		n.kids = append(n.kids, want(p.sum(), false))
		if _, ok := p.accept(","); !ok {
			break
		}
	}
	p.expect(")")
	if !loops && len(n.kids) != 1 {
		panic(&Error{n.offset, n.op + " has one argument"})
	}
	if n.condition {
		panic(&Error{n.offset, n.op + " needs a loop: " + n.op + "(value for k in list)"})
	}
}

// arguments are those of a quantity: words, variables and numbers.
func (p *parser) arguments(n *node, name string) {
	count, ok := p.names.Quantities[name]
	if !ok {
		panic(&Error{n.offset, fmt.Sprintf("there is no quantity %q", name)})
	}
	n.kids = []*node{{op: "word", text: name}}
	for p.peek() != ")" {
		n.kids = append(n.kids, p.word())
		if _, ok := p.accept(","); !ok {
			break
		}
	}
	p.expect(")")
	if got := len(n.kids) - 1; count >= 0 && got != count {
		panic(&Error{n.offset, fmt.Sprintf("%s has %d arguments, not %d", name, count, got)})
	}
}

// word is a variable, or a name as it stands.
func (p *parser) word() *node {
	start := p.starts[p.i]
	t := p.next()
	if strings.ContainsAny(t[:1], "<>=()+-*/{},[].") {
		p.i--
		p.fail("unexpected %q", t)
	}
	n := &node{op: "word", text: strings.Trim(t, "'"), offset: start}
	if i := slices.Index(p.bound, t); i >= 0 {
		n.op = "variable"
		p.free[t] = p.free[t] || slices.Index(p.bound[len(p.names.Variables):], t) < 0
	}
	return n
}
