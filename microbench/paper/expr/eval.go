package expr

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Truth is the value of a condition.
type Truth int

// The values of a condition, in the order in which "and" takes the lowest and "or" the highest.
const (
	Missing   Truth = iota // a quantity was not measured
	False                  //
	Undecided              // the interval of a difference contains zero
	True                   //
)

// Definition is a quantity that is computed from others.
type Definition struct {
	Parameters []string
	Is         *Expr
}

// Env says what the names of an expression are worth, and collects what was found while it was
// evaluated.
type Env struct {
	// Value returns a measured quantity by its key: o_s(t3d,isend,16).
	Value func(key string) (Value, bool)

	// Define holds the quantities that are computed. Value goes first.
	Define map[string]Definition

	Asked  map[string]bool // the keys of all quantities, measured or not
	Absent []string        // those that are neither measured nor defined

	vars    map[string]string
	at      string // the values of loop variables, for evidence
	quiet   bool   // comparisons are no evidence
	compare []*comparison
}

// comparison is what was found where one comparison of the text was evaluated.
type comparison struct {
	of   *node
	seen []instance
}

// instance is one evaluation of a comparison.
type instance struct {
	at     string
	values [2]Value
	margin float64 // distance of the two sides, relative to the larger
}

// Key returns the key of a quantity.
func Key(name string, arguments ...string) string {
	return name + "(" + strings.Join(arguments, ",") + ")"
}

// Number evaluates an expression that is a number. The words are the values of its variables.
func (e *Env) Number(x *Expr, words map[string]string) Value {
	e.vars = words
	return e.number(x.root)
}

// Truth evaluates an expression that is a condition, as Number does.
func (e *Env) Truth(x *Expr, words map[string]string) Truth {
	e.vars = words
	return e.truth(x.root)
}

func (e *Env) truth(n *node) Truth {
	switch n.op {
	case "for":
		all := True
		e.loop(n.loops, n.where, func() { all = min(all, e.truth(n.kids[0])) })
		return all
	case "and":
		a, b := e.truth(n.kids[0]), e.truth(n.kids[1]) // both, for the evidence
		return min(a, b)
	case "or":
		a, b := e.truth(n.kids[0]), e.truth(n.kids[1])
		return max(a, b)
	case "not":
		return [...]Truth{Missing: Missing, False: True, Undecided: Undecided, True: False}[e.truth(n.kids[0])]
	case "falls", "rises":
		return e.monotonic(n)
	}
	a, b := e.number(n.kids[0]), e.number(n.kids[1])
	t := compare(n.op, a, b)
	e.note(n, a, b)
	return t
}

// compare decides a comparison by the interval of the difference.
func compare(op string, a, b Value) Truth {
	if op == ">" || op == ">=" {
		a, b = b, a
	}
	d := b.minus(a)
	switch {
	case !a.Known() || !b.Known():
		return Missing
	case a.High < b.Low || d.Low > 0 || d.Low == 0 && len(op) == 2:
		return True
	case b.High < a.Low || d.High < 0 || d.High == 0 && d.Low == 0:
		return False
	}
	return Undecided
}

// monotonic decides whether each value of a loop is below, or above, the one before.
func (e *Env) monotonic(n *node) Truth {
	var values []Value
	var at []string
	e.loop(n.loops, n.where, func() {
		values, at = append(values, e.number(n.kids[0])), append(at, e.at)
	})
	op := map[string]string{"falls": "<", "rises": ">"}[n.op]
	all, outer := True, e.at
	for i, v := range values {
		e.at = at[i]
		e.note(&node{op: n.op, kids: n.kids, offset: n.offset}, v, Unknown())
		if i > 0 {
			all = min(all, compare(op, v, values[i-1]))
		}
	}
	e.at = outer
	return all
}

func (e *Env) number(n *node) Value {
	switch n.op {
	case "number":
		return literal(n.text)
	case "variable":
		return literal(e.vars[n.text])
	case "call":
		return e.call(n)
	case "+":
		return e.number(n.kids[0]).plus(e.number(n.kids[1]))
	case "-":
		return e.number(n.kids[0]).minus(e.number(n.kids[1]))
	case "*":
		return e.number(n.kids[0]).times(e.number(n.kids[1]))
	case "/":
		return e.number(n.kids[0]).over(e.number(n.kids[1]))
	case "abs":
		return e.number(n.kids[0]).abs()
	}
	return e.extreme(n)
}

// literal is a number, or what a variable stands for.
func literal(text string) Value {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return Unknown()
	}
	return Exactly(x)
}

// extreme is the smallest or the largest of some values. The smallest of those for which a condition
// holds, if that is undecided for some, is somewhere between the first for which it may hold and the
// first for which it does. Of none it is infinite.
func (e *Env) extreme(n *node) Value {
	of, none := math.Min, math.Inf(1)
	if n.op == "max" {
		of, none = math.Max, math.Inf(-1)
	}
	all, known := Exactly(none), true
	add := func(v Value) { all, known = pick(of, all, v), known && v.Known() }
	if n.loops == nil {
		for _, k := range n.kids {
			add(e.number(k))
		}
		return all
	}
	quiet := e.quiet
	e.quiet = true
	defer func() { e.quiet = quiet }()
	possible := Exactly(none)
	e.loop(n.loops, nil, func() {
		holds := True
		if n.where != nil {
			holds = e.truth(n.where)
		}
		switch holds {
		case Missing:
			known = false
		case True:
			add(e.number(n.kids[0]))
		case Undecided:
			possible = pick(of, possible, e.number(n.kids[0]))
		}
	})
	if !known {
		return Unknown()
	}
	all.Low, all.High = math.Min(all.Low, of(all.V, possible.Low)), math.Max(all.High, of(all.V, possible.High))
	return all
}

// call is a quantity: as it was measured, or else by its definition.
func (e *Env) call(n *node) Value {
	name := n.kids[0].text
	var arguments []string
	for _, k := range n.kids[1:] {
		if k.op == "variable" {
			arguments = append(arguments, e.vars[k.text])
		} else {
			arguments = append(arguments, k.text)
		}
	}
	key := Key(name, arguments...)
	if e.Asked == nil {
		e.Asked = map[string]bool{}
	}
	e.Asked[key] = true
	if v, ok := e.Value(key); ok {
		return v
	}
	d, ok := e.Define[name]
	if !ok {
		e.Absent = append(e.Absent, key)
		return Unknown()
	}
	outer := e.vars
	defer func() { e.vars = outer }()
	e.vars = map[string]string{}
	for i, p := range d.Parameters {
		e.vars[p] = arguments[i]
	}
	return e.number(d.Is.root)
}

// loop runs a function for each combination of the elements of the loops, the last fastest, for which
// a condition holds.
func (e *Env) loop(loops []loop, where *node, do func()) {
	vars, at, quiet := e.vars, e.at, e.quiet
	defer func() { e.vars, e.at = vars, at }()
	if len(loops) == 0 {
		e.quiet = true
		holds := where == nil || e.truth(where) == True
		if e.quiet = quiet; holds {
			do()
		}
		return
	}
	for _, x := range loops[0].elements {
		e.vars = maps.Clone(vars)
		if e.vars == nil {
			e.vars = map[string]string{}
		}
		e.vars[loops[0].variable] = x
		e.at = strings.TrimPrefix(at+", "+loops[0].variable+" = "+x, ", ")
		e.loop(loops[1:], where, do)
	}
}

// note keeps what a comparison was decided by.
func (e *Env) note(n *node, a, b Value) {
	if e.quiet {
		return
	}
	i := slices.IndexFunc(e.compare, func(c *comparison) bool { return c.of == n || n.kids[0] == c.of.kids[0] && len(n.kids) == 1 })
	if i < 0 {
		i = len(e.compare)
		e.compare = append(e.compare, &comparison{of: n})
	}
	margin := math.Abs(a.V-b.V) / max(math.Abs(a.V), math.Abs(b.V))
	e.compare[i].seen = append(e.compare[i].seen, instance{e.at, [2]Value{a, b}, margin})
}

// fewest is up to how many values of a loop the evidence lists.
const fewest = 6

// Evidence returns the values that decided, side by side as in the text. Of many it returns those
// that came nearest to the opposite answer.
func (e *Env) Evidence() string {
	var all []string
	for _, c := range e.compare {
		seen, nearest := c.seen, ""
		if len(seen) > fewest && len(c.of.kids) == 2 {
			seen = []instance{slices.MinFunc(seen, func(a, b instance) int { return cmp.Compare(a.margin, b.margin) })}
			nearest = fmt.Sprintf(", the nearest of %d", len(c.seen))
		}
		for i, side := range c.of.kids {
			if constant(side) {
				continue
			}
			var values []string
			for _, x := range seen {
				value := x.values[i].String()
				if x.at != "" {
					value += " at " + x.at
				}
				values = append(values, value)
			}
			text := side.text + " is " + strings.Join(values, "; ") + nearest
			if !slices.Contains(all, text) { // both ends of a range have it
				all = append(all, text)
			}
		}
	}
	return strings.Join(all, ". ")
}

// constant says whether no quantity is in an expression.
func constant(n *node) bool {
	return n.op != "call" && n.op != "variable" && n.loops == nil && !slices.ContainsFunc(n.kids, func(k *node) bool { return !constant(k) })
}

// Nearest returns the value that came nearest to a constant with which it was compared, and how near
// that is relative to the constant. It returns "" if it compared no value with a constant.
func (e *Env) Nearest() (text string, off float64) {
	off = math.Inf(1)
	for _, c := range e.compare {
		if len(c.of.kids) < 2 || constant(c.of.kids[0]) == constant(c.of.kids[1]) {
			continue
		}
		edge, side := 1, c.of.kids[0]
		if constant(side) {
			edge, side = 0, c.of.kids[1]
		}
		for _, x := range c.seen {
			bound := x.values[edge].V
			if d := math.Abs(x.values[1-edge].V-bound) / math.Abs(bound); d < off {
				off = d
				text = fmt.Sprintf("%s is %v", side.text, x.values[1-edge])
				if x.at != "" {
					text += " at " + x.at
				}
				text += fmt.Sprintf(", %.1f %% from the threshold %s", 100*d, Digits(bound))
			}
		}
	}
	return text, off
}
