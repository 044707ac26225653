// Package edit replaces numbers in the text of a platform file and leaves all else in it as it is:
// comments, order and layout.
//
// A Draft is the file; With gives the platform that it describes with other values, Fit the text
// in which numbers have the basis fitted. Package platform reads and checks both.
package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/platform"
	"go.yaml.in/yaml/v3"
)

// Draft is a platform file whose numbers can be replaced. It may be used by several goroutines.
type Draft struct {
	*platform.Platform // as the file is

	text        []byte
	document    *yaml.Node
	lineOffsets []int                 // offsets of the lines
	numbers     map[string]*yaml.Node // the mapping of each number, by its path
}

// Fitted is a new value of a number, and what it was fitted to.
type Fitted struct {
	Path, Value string
	To          []string // at least one, as in the key to
}

// Open returns the draft of a platform: a name of the catalogue or the path of a file.
func Open(what string) (*Draft, error) {
	file, text, err := platform.Text(what)
	if err != nil {
		return nil, err
	}
	return New(file, text)
}

// New returns the draft of a file with a text.
func New(file string, text []byte) (*Draft, error) {
	p, err := platform.Parse(file, text)
	if err != nil {
		return nil, err
	}
	doc := &yaml.Node{}
	if err := yaml.Unmarshal(text, doc); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	d := &Draft{Platform: p, text: text, document: doc, lineOffsets: []int{0}, numbers: map[string]*yaml.Node{}}
	for i, c := range text {
		if c == '\n' {
			d.lineOffsets = append(d.lineOffsets, i+1)
		}
	}
	at := map[[2]int]*yaml.Node{} // mappings by the place of their value
	collectMappings(doc, at)
	for _, n := range p.Numbers {
		d.numbers[n.Path] = at[[2]int{n.Line, n.Column}]
	}
	return d, nil
}

// collectMappings collects the mappings that have a value.
func collectMappings(n *yaml.Node, at map[[2]int]*yaml.Node) {
	if v := mappingValue(n, "value"); v != nil {
		at[[2]int{v.Line, v.Column}] = n
	}
	for _, c := range n.Content {
		collectMappings(c, at)
	}
}

// mappingValue returns the value of a key of a mapping, or nil.
func mappingValue(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// Number returns the number of a path.
func (d *Draft) Number(path string) (platform.Number, error) {
	for _, n := range d.Numbers {
		if n.Path == path {
			return n, nil
		}
	}
	return platform.Number{}, fmt.Errorf("%s: there is no number %s", d.File, path)
}

// With returns the platform with other values of numbers, by their paths. It is an error if a file
// could not have them. The platform's Sum differs from that of the file.
func (d *Draft) With(values map[string]string) (*platform.Platform, error) {
	text, err := d.textWith(values)
	if err != nil {
		return nil, err
	}
	return platform.Parse(d.File, text)
}

// DraftWith returns the draft with other values of numbers, by their paths.
func (d *Draft) DraftWith(values map[string]string) (*Draft, error) {
	text, err := d.textWith(values)
	if err != nil {
		return nil, err
	}
	return New(d.File, text)
}

func (d *Draft) textWith(values map[string]string) ([]byte, error) {
	var edits []textEdit
	for path, v := range values {
		e, err := d.replaceValue(path, "value", v)
		if err != nil {
			return nil, err
		}
		edits = append(edits, e)
	}
	return d.applyEdits(edits), nil
}

// Fit returns the text with numbers that were fitted: their values, the basis fitted, and what they
// were fitted to. The source of a number of another basis says what it was before. A number that is
// free stays so.
func (d *Draft) Fit(numbers []Fitted) ([]byte, error) {
	var edits []textEdit
	changed := map[string]bool{}
	for _, f := range numbers {
		n, err := d.Number(f.Path)
		if err != nil {
			return nil, err
		}
		changed[f.Path] = true
		replace := map[string]string{"value": f.Value, "basis": string(platform.BasisFitted)}
		if n.Basis != platform.BasisFitted {
			replace["source"] = strconv.Quote(fmt.Sprintf("loggp calibrate; before %s, %s: %s", n.Value, n.Basis, n.Source))
		}
		for _, key := range []string{"value", "basis", "source"} {
			if text, ok := replace[key]; ok {
				e, err := d.replaceValue(f.Path, key, text)
				if err != nil {
					return nil, err
				}
				edits = append(edits, e)
			}
		}
		e, err := d.setFittedTo(f)
		if err != nil {
			return nil, err
		}
		edits = append(edits, e)
	}
	text := d.applyEdits(edits)
	p, err := platform.Parse(d.File, text)
	if err != nil {
		return nil, fmt.Errorf("the fitted file is not valid: %w", err)
	}
	for i, n := range p.Numbers {
		if was := d.Numbers[i]; n.Path != was.Path || !changed[n.Path] && (n.Value != was.Value || n.Basis != was.Basis || n.Source != was.Source) {
			return nil, fmt.Errorf("%s:%d: %s cannot be changed in this layout: write every number on a line of its own as {value: ..., basis: ..., source: \"...\"}", d.File, was.Line, was.Path)
		}
	}
	return text, nil
}

// Rename returns the text with another name and description of the platform, without the comments
// above them, which are of the platform that it was.
func (d *Draft) Rename(name, description string) ([]byte, error) {
	top := d.document.Content[0]
	var edits []textEdit
	for key, text := range map[string]string{"name": name, "description": strconv.Quote(description)} {
		from, to, err := d.nodeExtent(mappingValue(top, key))
		if err != nil {
			return nil, err
		}
		edits = append(edits, textEdit{from, to, text})
	}
	if begin := d.nodeOffset(top); begin > 0 {
		edits = append(edits, textEdit{0, begin, ""})
	}
	return d.applyEdits(edits), nil
}

// Assumption is another value of a number, and why.
type Assumption struct{ Path, Value, Why string }

// Assume returns the text with other values of numbers, which are then assumed.
func (d *Draft) Assume(numbers []Assumption) ([]byte, error) {
	var edits []textEdit
	for _, n := range numbers {
		for key, text := range map[string]string{"value": n.Value, "basis": string(platform.BasisAssumed), "source": strconv.Quote(n.Why)} {
			e, err := d.replaceValue(n.Path, key, text)
			if err != nil {
				return nil, err
			}
			edits = append(edits, e)
		}
	}
	return d.applyEdits(edits), nil
}

// SetExpectedError returns the text in which a library has an expected error, in place of one that
// it has.
func (d *Draft) SetExpectedError(library, percent, source string) ([]byte, error) {
	const key = "expected_error"
	number := fmt.Sprintf("{value: %s, basis: derived, source: %s}", percent, strconv.Quote(source))
	for _, l := range mappingValue(d.document.Content[0], "libraries").Content {
		if mappingValue(l, "name").Value != library {
			continue
		}
		if old := mappingValue(l, key); old != nil {
			from, to, err := d.nodeExtent(old)
			return d.applyEdits([]textEdit{{from, to, number}}), err
		}
		description := mappingValue(l, "description")
		_, to, err := d.nodeExtent(description)
		if err != nil {
			return nil, err
		}
		text := ", " + key + ": " + number
		if l.Style&yaml.FlowStyle == 0 {
			text = "\n" + strings.Repeat(" ", l.Column-1) + key + ": " + number
		}
		return d.applyEdits([]textEdit{{to, to, text}}), nil
	}
	return nil, fmt.Errorf("%s: there is no library %s", d.File, library)
}

// setFittedTo returns the edit that sets the key to of a number.
func (d *Draft) setFittedTo(f Fitted) (textEdit, error) {
	var rows []string
	for _, r := range f.To {
		rows = append(rows, strconv.Quote(r))
	}
	list := "[" + strings.Join(rows, ", ") + "]"
	n := d.numbers[f.Path]
	if mappingValue(n, "to") != nil {
		return d.replaceValue(f.Path, "to", list)
	}
	_, end, err := d.nodeExtent(mappingValue(n, "source"))
	if err != nil {
		return textEdit{}, err
	}
	if n.Style&yaml.FlowStyle != 0 {
		return textEdit{end, end, ", to: " + list}, nil
	}
	return textEdit{end, end, "\n" + strings.Repeat(" ", n.Column-1) + "to: " + list}, nil
}

// textEdit is a text that takes the place of another.
type textEdit struct {
	from, to int
	text     string
}

// applyEdits returns the text with edits, which do not overlap.
func (d *Draft) applyEdits(edits []textEdit) []byte {
	slices.SortStableFunc(edits, func(a, b textEdit) int { return a.from - b.from })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(d.text[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(d.text[at:])
	return out.Bytes()
}

// replaceValue returns the edit that replaces what a number has under a key.
func (d *Draft) replaceValue(path, key, text string) (textEdit, error) {
	n := d.numbers[path]
	if n == nil {
		return textEdit{}, fmt.Errorf("%s: there is no number %s", d.File, path)
	}
	from, to, err := d.nodeExtent(mappingValue(n, key))
	return textEdit{from, to, text}, err
}

// nodeExtent returns where a scalar or a list stands in the text.
func (d *Draft) nodeExtent(n *yaml.Node) (from, to int, err error) {
	from = d.nodeOffset(n)
	rest := d.text[from:]
	flow := n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle != 0
	switch {
	case flow:
		if i := bracketLength(rest); i > 0 {
			return from, from + i, nil
		}
	case n.Kind == yaml.SequenceNode:
		_, to, err = d.nodeExtent(n.Content[len(n.Content)-1])
		return from, to, err
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		if i := quotedLength(rest); i > 0 {
			return from, from + i, nil
		}
	case bytes.HasPrefix(rest, []byte(n.Value)):
		return from, from + len(n.Value), nil
	}
	return 0, 0, fmt.Errorf("%s:%d:%d: this layout cannot be changed: write the text in quotes, on one line", d.File, n.Line, n.Column)
}

// nodeOffset returns where a node begins. Columns count characters.
func (d *Draft) nodeOffset(n *yaml.Node) int {
	at, column := d.lineOffsets[n.Line-1], n.Column
	for i := range string(d.text[at:]) {
		if column--; column == 0 {
			return at + i
		}
	}
	return len(d.text)
}

// quotedLength returns the length of the quoted text with which a text begins, or 0.
func quotedLength(s []byte) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[0] == '"' && s[i] == '\\':
			i++
		case s[i] == s[0] && s[0] == '\'' && i+1 < len(s) && s[i+1] == '\'': // stands for one
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return 0
}

// bracketLength returns the length of the list or mapping in brackets with which a text begins, or
// 0.
func bracketLength(s []byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"', '\'':
			n := quotedLength(s[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '#':
			if i > 0 && (s[i-1] == ' ' || s[i-1] == '\n') { // a comment
				for i < len(s) && s[i] != '\n' {
					i++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
