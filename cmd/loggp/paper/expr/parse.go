package expr

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Error says where an expression cannot be understood. Offset counts bytes from the start of the
// text.
type Error struct {
	Offset int
	Text   string
}

func (e *Error) Error() string { return e.Text }

// Expr is an expression that has been parsed and checked. It is a number or a condition.
type Expr struct {
	text          string
	root          ast.Expr
	condition     bool
	names         *Names
	freeVariables map[string]bool // variables that no loop of its own binds
}

// IsCondition says whether the expression is a condition, not a number.
func (x *Expr) IsCondition() bool { return x.condition }

// String returns the expression as it was written.
func (x *Expr) String() string { return x.text }

// DependsOn says whether the expression depends on a variable that no loop of its own binds.
func (x *Expr) DependsOn(variable string) bool { return x.freeVariables[variable] }

// Names are the words that an expression may use: its variables, the lists that loops go through,
// and the number of arguments of each quantity; -1 if it varies.
type Names struct {
	Variables  []string
	Lists      map[string][]string
	Quantities map[string]int
}

// loopFunctions are the functions that evaluate their last argument for each element of a list:
// all(k, sizes, condition).
var loopFunctions = map[string]struct{ condition, of bool }{ // is a condition; of conditions
	"all": {true, true}, "first": {false, true}, "min": {}, "max": {}, "falls": {condition: true}, "rises": {condition: true},
}

// Parse reads an expression in the syntax of Go. An error is an *Error.
func Parse(text string, names *Names) (*Expr, error) {
	root, err := parser.ParseExpr(strings.ReplaceAll(text, "\n", " ")) // of which Go would make semicolons
	var list scanner.ErrorList
	if errors.As(err, &list) {
		return nil, &Error{min(list[0].Pos.Offset, len(text)), list[0].Msg}
	}
	if err != nil {
		return nil, &Error{0, err.Error()}
	}
	x := &Expr{text: text, root: root, names: names, freeVariables: map[string]bool{}}
	x.condition, err = x.checkNode(root, nil)
	return x, err
}

func nodeError(n ast.Node, format string, args ...any) error {
	return &Error{int(n.Pos()) - 1, fmt.Sprintf(format, args...)}
}

// sourceText returns the text of a node.
func (x *Expr) sourceText(n ast.Node) string {
	return strings.Join(strings.Fields(x.text[n.Pos()-1:min(int(n.End())-1, len(x.text))]), " ")
}

// checkNode returns whether a node is a condition. The variables of loops are those that are bound.
func (x *Expr) checkNode(n ast.Expr, bound []string) (condition bool, err error) {
	switch n := n.(type) {
	case *ast.BasicLit:
		if n.Kind != token.INT && n.Kind != token.FLOAT {
			return false, nodeError(n, "expected a number, found %s", n.Value)
		}
		return false, nil
	case *ast.Ident:
		if !x.isVariable(n, bound) {
			return false, nodeError(n, "there is no variable %q", n.Name)
		}
		return false, nil
	case *ast.ParenExpr:
		return x.checkNode(n.X, bound)
	case *ast.UnaryExpr:
		if n.Op != token.SUB && n.Op != token.NOT {
			return false, nodeError(n, "unexpected %q", n.Op.String())
		}
		return n.Op == token.NOT, x.checkKind(n.X, n.Op == token.NOT, bound)
	case *ast.BinaryExpr:
		switch n.Op {
		case token.LAND, token.LOR:
			if err := x.checkKind(n.X, true, bound); err != nil {
				return true, err
			}
			return true, x.checkKind(n.Y, true, bound)
		case token.LSS, token.LEQ, token.GTR, token.GEQ:
			_, chain := comparisonNode(n.X) // a <= b <= c
			if err := x.checkKind(n.X, chain, bound); err != nil {
				return true, err
			}
			return true, x.checkKind(n.Y, false, bound)
		case token.ADD, token.SUB, token.MUL, token.QUO:
			if err := x.checkKind(n.X, false, bound); err != nil {
				return false, err
			}
			return false, x.checkKind(n.Y, false, bound)
		}
		return false, &Error{int(n.OpPos) - 1, fmt.Sprintf("unexpected %q", n.Op.String())}
	case *ast.CallExpr:
		return x.checkCall(n, bound)
	}
	return false, nodeError(n, "unexpected %q", x.sourceText(n))
}

// checkKind checks a node that must be a condition, or must be none.
func (x *Expr) checkKind(n ast.Expr, condition bool, bound []string) error {
	found, err := x.checkNode(n, bound)
	switch {
	case err != nil:
		return err
	case condition && !found:
		return nodeError(n, "expected a condition, found a number")
	case !condition && found:
		return nodeError(n, "expected a number, found a condition")
	}
	return nil
}

// checkCall checks a function, or a quantity with words, variables and numbers as arguments.
func (x *Expr) checkCall(n *ast.CallExpr, bound []string) (condition bool, err error) {
	name := x.sourceText(n.Fun)
	f, loops := loopFunctions[name]
	switch {
	case loops && len(n.Args) == 3 && x.isList(n.Args[1]):
		variable, ok := n.Args[0].(*ast.Ident)
		if !ok {
			return false, nodeError(n.Args[0], "expected a variable")
		}
		elements, err := x.listElements(n.Args[1])
		if err == nil && len(elements) == 0 {
			err = nodeError(n.Args[1], "%s has no elements", x.sourceText(n.Args[1]))
		}
		if err != nil {
			return false, err
		}
		return f.condition, x.checkKind(n.Args[2], f.of, append(bound[:len(bound):len(bound)], variable.Name))
	case name == "abs" && len(n.Args) == 1, (name == "min" || name == "max") && len(n.Args) > 1:
		for _, a := range n.Args {
			if err := x.checkKind(a, false, bound); err != nil {
				return false, err
			}
		}
		return false, nil
	case name == "abs":
		return false, nodeError(n, "abs has one argument")
	case loops:
		return false, nodeError(n, "expected %s(variable, list, expression)", name)
	}
	count, ok := x.names.Quantities[name]
	if !ok {
		return false, nodeError(n, "there is no quantity %q", name)
	}
	if count >= 0 && len(n.Args) != count {
		return false, nodeError(n, "%s has %d arguments, not %d", name, count, len(n.Args))
	}
	for _, a := range n.Args {
		switch a := a.(type) {
		case *ast.Ident:
			x.isVariable(a, bound)
		case *ast.BasicLit:
		default:
			return false, nodeError(a, "expected a word, a variable or a number")
		}
	}
	return false, nil
}

// isVariable says whether a word is a variable, and keeps those that are free.
func (x *Expr) isVariable(n *ast.Ident, bound []string) bool {
	if slices.Contains(bound, n.Name) {
		return true
	}
	free := slices.Contains(x.names.Variables, n.Name)
	x.freeVariables[n.Name] = x.freeVariables[n.Name] || free
	return free
}

// isList says whether a node is a list: its name, a part of it, or a set.
func (x *Expr) isList(n ast.Expr) bool {
	switch n := n.(type) {
	case *ast.Ident:
		return x.names.Lists[n.Name] != nil
	case *ast.SliceExpr:
		return true
	case *ast.CallExpr:
		return x.sourceText(n.Fun) == "set"
	}
	return false
}

// listElements returns the elements of a list: sizes, sizes[16:10000] or set(t3d, now). Both bounds
// belong to the part.
func (x *Expr) listElements(n ast.Expr) (all []string, err error) {
	switch n := n.(type) {
	case *ast.Ident:
		return x.names.Lists[n.Name], nil
	case *ast.CallExpr:
		for _, a := range n.Args {
			all = append(all, strings.Trim(x.sourceText(a), `"`))
		}
	case *ast.SliceExpr:
		list := x.names.Lists[x.sourceText(n.X)]
		if list == nil {
			return nil, nodeError(n, "there is no list %q", x.sourceText(n.X))
		}
		var bounds [2]float64
		for i, b := range []ast.Expr{n.Low, n.High} {
			if b == nil {
				return nil, nodeError(n, "expected list[from:to]")
			}
			if bounds[i], err = strconv.ParseFloat(x.sourceText(b), 64); err != nil {
				return nil, nodeError(b, "expected a number, found %s", x.sourceText(b))
			}
		}
		for _, e := range list {
			if v, err := strconv.ParseFloat(e, 64); err == nil && bounds[0] <= v && v <= bounds[1] {
				all = append(all, e)
			}
		}
	}
	return all, err
}

// comparisonNode returns a node that compares, without parentheses.
func comparisonNode(n ast.Expr) (*ast.BinaryExpr, bool) {
	b, ok := n.(*ast.BinaryExpr)
	return b, ok && slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, b.Op)
}
