package expr

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
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
	Undecided              // the interval of a difference contains zero, or there is none
	True                   //
)

// Definition is a quantity that is computed from others.
type Definition struct {
	Parameters []string
	Expression *Expr
}

// Env says what the names of an expression are worth, and collects what was found while it was
// evaluated.
type Env struct {
	// Lookup returns a measured quantity by its key: o_s(t3d,isend,16).
	Lookup func(key string) (Value, bool)

	// Definitions holds the quantities that are computed. Value goes first.
	Definitions map[string]Definition

	Requested   map[string]bool // the keys of all quantities, measured or not
	MissingKeys []string        // those that are neither measured nor defined

	expression      *Expr // that is evaluated
	variables       map[string]string
	loopPosition    string // the values of loop variables, for evidence
	ignoresEvidence bool   // comparisons are no evidence
	comparisons     []*comparison
}

// comparison is what was found where one comparison of the text was evaluated. A sequence has one
// side.
type comparison struct {
	sides     []ast.Expr
	instances []comparisonInstance
}

// comparisonInstance is one evaluation of a comparison.
type comparisonInstance struct {
	loopPosition string
	values       [2]Value
	margin       float64 // distance of the two sides, relative to the larger
}

// QuantityKey returns the key of a quantity.
func QuantityKey(name string, arguments ...string) string {
	return name + "(" + strings.Join(arguments, ",") + ")"
}

// Number evaluates an expression that is a number. The words are the values of its variables.
func (e *Env) Number(x *Expr, words map[string]string) Value {
	e.expression, e.variables = x, words
	return e.evaluateNumber(x.root)
}

// Truth evaluates an expression that is a condition, as Number does.
func (e *Env) Truth(x *Expr, words map[string]string) Truth {
	e.expression, e.variables = x, words
	return e.evaluateCondition(x.root)
}

func (e *Env) evaluateCondition(n ast.Expr) Truth {
	switch n := n.(type) {
	case *ast.ParenExpr:
		return e.evaluateCondition(n.X)
	case *ast.UnaryExpr:
		return [...]Truth{Missing: Missing, False: True, Undecided: Undecided, True: False}[e.evaluateCondition(n.X)]
	case *ast.CallExpr:
		if name := e.expression.sourceText(n.Fun); name != "all" {
			return e.evaluateMonotonic(n, name)
		}
		all := True
		e.forEachElement(n, func(string) { all = min(all, e.evaluateCondition(n.Args[2])) })
		return all
	}
	b := n.(*ast.BinaryExpr)
	left, chain := comparisonNode(b.X)
	switch {
	case b.Op == token.LAND:
		x, y := e.evaluateCondition(b.X), e.evaluateCondition(b.Y) // both, for the evidence
		return min(x, y)
	case b.Op == token.LOR:
		x, y := e.evaluateCondition(b.X), e.evaluateCondition(b.Y)
		return max(x, y)
	case chain:
		x, y := e.evaluateCondition(left), e.evaluateComparison(b.Op, left.Y, b.Y)
		return min(x, y)
	}
	return e.evaluateComparison(b.Op, b.X, b.Y)
}

// evaluateComparison evaluates both sides of a comparison, and keeps them as evidence.
func (e *Env) evaluateComparison(op token.Token, x, y ast.Expr) Truth {
	a, b := e.evaluateNumber(x), e.evaluateNumber(y)
	e.recordEvidence([]ast.Expr{x, y}, a, b)
	return decideComparison(op, a, b)
}

// decideComparison decides a comparison by the interval of the difference.
func decideComparison(op token.Token, a, b Value) Truth {
	if op == token.GTR || op == token.GEQ {
		a, b = b, a
	}
	d := b.minus(a)
	switch {
	case !a.IsKnown() || !b.IsKnown():
		return Missing
	case a.High < b.Low || d.Low > 0 || d.Low == 0 && (op == token.LEQ || op == token.GEQ):
		return True
	case b.High < a.Low || d.High < 0 || d.High == 0 && d.Low == 0:
		return False
	}
	return Undecided
}

// evaluateMonotonic decides whether each value of a loop is below, or above, the one before.
func (e *Env) evaluateMonotonic(n *ast.CallExpr, name string) Truth {
	op := map[string]token.Token{"falls": token.LSS, "rises": token.GTR}[name]
	all, before := True, []Value{}
	e.forEachElement(n, func(string) {
		v := e.evaluateNumber(n.Args[2])
		e.recordEvidence(n.Args[2:], v, UnknownValue())
		for _, b := range before {
			all = min(all, decideComparison(op, v, b))
		}
		before = []Value{v}
	})
	return all
}

func (e *Env) evaluateNumber(n ast.Expr) Value {
	switch n := n.(type) {
	case *ast.BasicLit:
		return literalValue(n.Value)
	case *ast.Ident:
		return literalValue(e.variables[n.Name])
	case *ast.ParenExpr:
		return e.evaluateNumber(n.X)
	case *ast.UnaryExpr:
		return ExactValue(0).minus(e.evaluateNumber(n.X))
	case *ast.CallExpr:
		return e.evaluateQuantity(n)
	}
	b := n.(*ast.BinaryExpr)
	x, y := e.evaluateNumber(b.X), e.evaluateNumber(b.Y)
	switch b.Op {
	case token.ADD:
		return x.plus(y)
	case token.SUB:
		return x.minus(y)
	case token.MUL:
		return x.times(y)
	}
	return x.dividedBy(y)
}

// literalValue is a number, or what a variable stands for.
func literalValue(text string) Value {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return UnknownValue()
	}
	return ExactValue(x)
}

// evaluateExtreme is the smallest or the largest of some arguments, or of what a loop gives.
func (e *Env) evaluateExtreme(n *ast.CallExpr, of func(a, b float64) float64) Value {
	var values []Value
	if e.expression.isList(n.Args[1]) {
		e.forEachElement(n, func(string) { values = append(values, e.evaluateNumber(n.Args[2])) })
	} else {
		for _, a := range n.Args {
			values = append(values, e.evaluateNumber(a))
		}
	}
	all := values[0]
	for _, v := range values[1:] {
		all = pickExtreme(of, all, v)
	}
	return all
}

// evaluateFirst is the first element of a list, a number, for which a condition holds. If that is
// undecided for some it is somewhere between the first for which it may hold and the first for
// which it does. If there is none it is infinite.
func (e *Env) evaluateFirst(n *ast.CallExpr) Value {
	quiet, missing := e.ignoresEvidence, false
	e.ignoresEvidence = true
	defer func() { e.ignoresEvidence = quiet }()
	all := ExactValue(math.Inf(1))
	e.forEachElement(n, func(element string) {
		v := literalValue(element)
		switch e.evaluateCondition(n.Args[2]) {
		case Missing:
			missing = true
		case True:
			all = pickExtreme(math.Min, all, v)
		case Undecided:
			all.Low = math.Min(all.Low, v.Center)
		}
	})
	if missing {
		return UnknownValue()
	}
	return all
}

// evaluateQuantity is a quantity: as it was measured, or else by its definition.
func (e *Env) evaluateQuantity(n *ast.CallExpr) Value {
	name := e.expression.sourceText(n.Fun)
	switch name {
	case "abs":
		return e.evaluateNumber(n.Args[0]).abs()
	case "min":
		return e.evaluateExtreme(n, math.Min)
	case "max":
		return e.evaluateExtreme(n, math.Max)
	case "first":
		return e.evaluateFirst(n)
	}
	var arguments []string
	for _, a := range n.Args {
		word := strings.Trim(e.expression.sourceText(a), `"`)
		if v, ok := e.variables[word]; ok {
			word = v
		}
		arguments = append(arguments, word)
	}
	key := QuantityKey(name, arguments...)
	if e.Requested == nil {
		e.Requested = map[string]bool{}
	}
	e.Requested[key] = true
	if v, ok := e.Lookup(key); ok {
		return v
	}
	d, ok := e.Definitions[name]
	if !ok {
		e.MissingKeys = append(e.MissingKeys, key)
		return UnknownValue()
	}
	x, vars := e.expression, e.variables
	defer func() { e.expression, e.variables = x, vars }()
	inner := map[string]string{}
	for i, p := range d.Parameters {
		inner[p] = arguments[i]
	}
	e.expression, e.variables = d.Expression, inner
	return e.evaluateNumber(d.Expression.root)
}

// forEachElement runs a function for each element of the list of a call.
func (e *Env) forEachElement(n *ast.CallExpr, do func(element string)) {
	vars, at, variable := e.variables, e.loopPosition, e.expression.sourceText(n.Args[0])
	defer func() { e.variables, e.loopPosition = vars, at }()
	elements, _ := e.expression.listElements(n.Args[1]) // checked when it was parsed
	for _, element := range elements {
		e.variables = map[string]string{}
		maps.Copy(e.variables, vars)
		e.variables[variable] = element
		e.loopPosition = strings.TrimPrefix(at+", "+variable+" = "+element, ", ")
		do(element)
	}
}

// recordEvidence keeps what a comparison was decided by.
func (e *Env) recordEvidence(sides []ast.Expr, a, b Value) {
	if e.ignoresEvidence {
		return
	}
	i := slices.IndexFunc(e.comparisons, func(c *comparison) bool { return slices.Equal(c.sides, sides) })
	if i < 0 {
		i = len(e.comparisons)
		e.comparisons = append(e.comparisons, &comparison{sides: sides})
	}
	margin := math.Abs(a.Center-b.Center) / max(math.Abs(a.Center), math.Abs(b.Center))
	e.comparisons[i].instances = append(e.comparisons[i].instances, comparisonInstance{e.loopPosition, [2]Value{a, b}, margin})
}

// LacksInterval says whether a number that was compared has no interval.
func (e *Env) LacksInterval() bool {
	return slices.ContainsFunc(e.comparisons, func(c *comparison) bool {
		return slices.ContainsFunc(c.instances, func(x comparisonInstance) bool {
			return slices.ContainsFunc(x.values[:], func(v Value) bool { return v.IsKnown() && !v.HasInterval() })
		})
	})
}

// maxListedComparisons is up to how many values of a loop the evidence lists, longest up to how
// many of a sequence that rises or falls.
const (
	maxListedComparisons = 6
	maxListedSequence    = 24
)

// Evidence returns the values that decided, side by side as in the text. Of many it returns those
// that came nearest to the opposite answer.
func (e *Env) Evidence() string {
	var all []string
	for _, c := range e.comparisons {
		seen, rest := c.instances, ""
		switch {
		case len(seen) > maxListedComparisons && len(c.sides) == 2:
			seen = []comparisonInstance{slices.MinFunc(seen, func(a, b comparisonInstance) int { return cmp.Compare(a.margin, b.margin) })}
			rest = fmt.Sprintf(", the nearest of %d", len(c.instances))
		case len(seen) > maxListedSequence:
			seen, rest = seen[:maxListedComparisons], fmt.Sprintf("; and %d more", len(seen)-maxListedComparisons)
		}
		for i, side := range c.sides {
			if isConstant(side) {
				continue
			}
			var values []string
			for _, x := range seen {
				value := x.values[i].String()
				if x.loopPosition != "" {
					value += " at " + x.loopPosition
				}
				values = append(values, value)
			}
			text := e.expression.sourceText(side) + " is " + strings.Join(values, "; ") + rest
			if !slices.Contains(all, text) { // both ends of a range have it
				all = append(all, text)
			}
		}
	}
	return strings.Join(all, ". ")
}

// isConstant says whether no quantity or variable is in an expression.
func isConstant(n ast.Expr) bool {
	found := true
	ast.Inspect(n, func(n ast.Node) bool {
		if _, ok := n.(*ast.Ident); ok {
			found = false
		}
		return found
	})
	return found
}

// NearestThreshold returns the value that came nearest to a constant with which it was compared,
// and how near that is relative to the constant. It returns "" if it compared no value with a
// constant.
func (e *Env) NearestThreshold() (text string, off float64) {
	off = math.Inf(1)
	for _, c := range e.comparisons {
		if len(c.sides) < 2 || isConstant(c.sides[0]) == isConstant(c.sides[1]) {
			continue
		}
		edge, side := 1, c.sides[0]
		if isConstant(side) {
			edge, side = 0, c.sides[1]
		}
		for _, x := range c.instances {
			bound := x.values[edge].Center
			if d := math.Abs(x.values[1-edge].Center-bound) / math.Abs(bound); d < off {
				off = d
				text = fmt.Sprintf("%s is %v", e.expression.sourceText(side), x.values[1-edge])
				if x.loopPosition != "" {
					text += " at " + x.loopPosition
				}
				text += fmt.Sprintf(", %.1f %% from the threshold %s", 100*d, FormatDigits(bound))
			}
		}
	}
	return text, off
}
