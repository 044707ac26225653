package collective

import (
	"bufio"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Decisions are the rules by which a library selects algorithms, and the variables that force them.
// Their files are in folder decisions, whose README.md describes the format.
type Decisions struct {
	Name  string
	Rules []Rule

	Option         string // option of mpirun or mpiexec that sets variables: mca or genv
	forceVariable  string // variable that forces an algorithm, with OPERATION in place of the operation
	enableVariable string // variable that must be 1 for that; "": none
	parameters     []forcedParameter
	operations     [NumOperations]libraryOperation
}

// forcedParameter is an algorithm parameter that users can set.
type forcedParameter struct {
	label        string // in the forms of names
	variable     string // with OPERATION in place of the operation
	defaultValue int    // for forced algorithms, if it is not set; 0: omitted
	libraryValue int    // for algorithms that the library selects
}

// libraryOperation has a library's algorithms for an operation, and its decision table.
type libraryOperation struct {
	bytesOfAllRanks bool
	algorithms      []libraryAlgorithm
	rows            []decisionRow
}

// libraryAlgorithm is an algorithm under its name in the library.
type libraryAlgorithm struct {
	key, name string // a number and a name, or twice the name
	ranks     int    // the only number of ranks that it supports; 0: any
	forms     []string
}

// decisionRow is the row for communicators with fewer than a number of ranks.
type decisionRow struct {
	ranksBelow  int // 0: no limit
	powerOfTwo  bool
	commutative bool
	choices     []sizeChoice
}

// sizeChoice is the algorithm for less than a number of bytes.
type sizeChoice struct {
	bytesBelow   int // 0: no limit
	algorithmKey string
}

//go:embed decisions/*.txt
var decisionFiles embed.FS

// AllDecisions are the decisions of all libraries.
var AllDecisions = []*Decisions{readDecisions("openmpi-4.1"), readDecisions("openmpi-5.0"), readDecisions("mpich-4")}

// DecisionNames returns the names of AllDecisions.
func DecisionNames() []string {
	var names []string
	for _, d := range AllDecisions {
		names = append(names, d.Name)
	}
	return names
}

// FindDecisions returns the decisions with a name, or nil.
func FindDecisions(name string) *Decisions {
	i := slices.IndexFunc(AllDecisions, func(d *Decisions) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return AllDecisions[i]
}

// readDecisions reads a decision file. It panics if the file is wrong.
func readDecisions(name string) *Decisions {
	d := &Decisions{Name: name}
	d.readDecisionFile(name)
	for o := range d.operations {
		for _, r := range d.rulesOf(Operation(o)) {
			d.Rules = append(d.Rules, r.Rule)
		}
	}
	return d
}

// readDecisionFile reads the lines of a decision file.
func (d *Decisions) readDecisionFile(name string) {
	text, err := decisionFiles.ReadFile("decisions/" + name + ".txt")
	if err != nil {
		panic("collective: " + err.Error())
	}
	r := decisionReader{Decisions: d}
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if words := strings.Fields(line); len(words) > 0 {
			if err := r.parseLine(words); err != nil {
				panic(fmt.Sprintf("collective: decisions/%s.txt:%d: %v", name, n, err))
			}
		}
	}
}

// decisionReader reads the lines of a decision file.
type decisionReader struct {
	*Decisions
	operation   *libraryOperation // to which the lines belong
	commutative bool
}

// parseLine parses the words of one line.
func (r *decisionReader) parseLine(words []string) error {
	switch first := words[0]; {
	case first == "include" && len(words) == 2:
		r.readDecisionFile(words[1])
	case first == "force" && len(words) == 2:
		r.forceVariable = words[1]
	case first == "option" && len(words) == 2:
		r.Option = words[1]
	case first == "enable" && len(words) == 2:
		r.enableVariable = words[1]
	case first == "parameter" && len(words) == 5:
		value, err := strconv.Atoi(words[3])
		decided, err2 := strconv.Atoi(words[4])
		if err != nil || err2 != nil {
			return fmt.Errorf("%v: values are numbers", words)
		}
		r.parameters = append(r.parameters, forcedParameter{words[1], words[2], value, decided})
	case first == "operation" && len(words) == 3 && (words[2] == "own" || words[2] == "total"):
		o, known := OperationNamed(words[1])
		if !known {
			return fmt.Errorf("no operation %s", words[1])
		}
		r.operation, r.commutative = &r.operations[o], false
		r.operation.bytesOfAllRanks = words[2] == "total"
	case r.operation == nil:
		return fmt.Errorf("%v: an operation is to come first", words)
	case first == "algorithm" && len(words) == 4:
		a := libraryAlgorithm{key: words[1], name: words[2], forms: strings.Split(words[3], "|")}
		a.ranks, a.forms[0] = cutRanks(a.forms[0])
		r.operation.algorithms = append(r.operation.algorithms, a)
	case first == "commutative" && len(words) == 1:
		r.commutative = true
	case first == "any" && len(words) == 1:
		r.commutative = false
	default:
		return r.parseRow(words)
	}
	return nil
}

// cutRanks returns the number of ranks before a colon in a form, and the rest of the form.
func cutRanks(form string) (int, string) {
	if number, rest, ok := strings.Cut(form, ":"); ok {
		n, _ := strconv.Atoi(number)
		return n, rest
	}
	return 0, form
}

// parseRow parses the conditions and the choices of a row.
func (r *decisionReader) parseRow(words []string) error {
	row := decisionRow{commutative: r.commutative}
	below := func(word string) (int, error) {
		n, err := strconv.Atoi(strings.TrimPrefix(word, "<"))
		if err != nil || n < 1 || word[0] != '<' {
			return 0, fmt.Errorf("%q is no bound such as <8", word)
		}
		return n, nil
	}
	var err error
	switch words[0] {
	case "*":
	case "pow2":
		row.powerOfTwo = true
	default:
		if row.ranksBelow, err = below(words[0]); err != nil {
			return err
		}
	}
	for rest := words[1:]; len(rest) > 0; {
		c := sizeChoice{algorithmKey: rest[0]}
		if rest = rest[1:]; c.algorithmKey[0] == '<' {
			if len(rest) == 0 {
				return fmt.Errorf("no algorithm follows %s", c.algorithmKey)
			}
			if c.bytesBelow, err = below(c.algorithmKey); err != nil {
				return err
			}
			c.algorithmKey, rest = rest[0], rest[1:]
		}
		if (c.bytesBelow == 0) != (len(rest) == 0) {
			return fmt.Errorf("only the last algorithm of %v is for any number of bytes", words)
		}
		if r.operation.find(c.algorithmKey) == nil {
			return fmt.Errorf("no algorithm %s", c.algorithmKey)
		}
		row.choices = append(row.choices, c)
	}
	if len(row.choices) == 0 {
		return fmt.Errorf("%v: no algorithm", words)
	}
	r.operation.rows = append(r.operation.rows, row)
	return nil
}

// find returns the algorithm with a number or a name, or nil.
func (o *libraryOperation) find(key string) *libraryAlgorithm {
	i := slices.IndexFunc(o.algorithms, func(a libraryAlgorithm) bool { return a.key == key || a.name == key })
	if i < 0 {
		return nil
	}
	return &o.algorithms[i]
}
