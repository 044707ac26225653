package platform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxErrors is how many errors of a file are reported.
const maxErrors = 20

// fileReader reads one file and collects its problems.
type fileReader struct {
	file                string
	problems            []fileProblem
	numbers             []Number
	citations           []citation
	collectiveRulesRead []collectiveRule // of all libraries
	socketPositions     []nodePosition   // that libraries ask for
	completionPositions []nodePosition   // of sends, likewise

	multicastPositions []nodePosition // that libraries use
}

// nodePosition is a place in a file, with the path of its keys.
type nodePosition struct {
	path string
	node *yaml.Node
}

// fileProblem is an error at a place in a file.
type fileProblem struct {
	line, column int
	text         string
}

// reportProblem records a problem at a node. An empty path is the file itself.
func (r *fileReader) reportProblem(n *yaml.Node, path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	r.problems = append(r.problems, fileProblem{n.Line, n.Column, text})
}

// problemsError returns the problems in the order of the file, or nil.
func (r *fileReader) problemsError() error {
	slices.SortStableFunc(r.problems, func(a, b fileProblem) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return a.column - b.column
	})
	var errs []error
	for i, p := range r.problems {
		if i == maxErrors {
			errs = append(errs, fmt.Errorf("%s:%d:%d: and %d more", r.file, p.line, p.column, len(r.problems)-i))
			break
		}
		errs = append(errs, fmt.Errorf("%s:%d:%d: %s", r.file, p.line, p.column, p.text))
	}
	return errors.Join(errs...)
}

// nodeReader reads the node at a path.
type nodeReader struct {
	example string // what to write, for errors
	read    func(path string, n *yaml.Node)
}

// withCheck returns a reading that also calls check if it has read without problems.
func (r *fileReader) withCheck(x nodeReader, check func(path string, n *yaml.Node)) nodeReader {
	return nodeReader{x.example, func(path string, n *yaml.Node) {
		before := len(r.problems)
		x.read(path, n)
		if len(r.problems) == before {
			check(path, n)
		}
	}}
}

// mappingField is a key of a mapping.
type mappingField struct {
	key        string
	isOptional bool
	nodeReader
}

func requiredField(key string, v nodeReader) mappingField { return mappingField{key, false, v} }
func optionalField(key string, v nodeReader) mappingField { return mappingField{key, true, v} }

// readMapping reads keys and values. Every key must be one of the fields and occur once. Every
// field that is not optional must be there.
func (r *fileReader) readMapping(fields ...mappingField) nodeReader {
	return r.mappingWithHint(func(string) string { return "" }, fields...)
}

// mappingWithHint is a mapping, with a function that says what is wrong with an unknown key, or
// "" if it is unknown everywhere.
func (r *fileReader) mappingWithHint(explain func(key string) string, fields ...mappingField) nodeReader {
	return nodeReader{exampleMapping(fields), func(path string, n *yaml.Node) {
		if !r.requireKind(path, n, yaml.MappingNode) {
			return
		}
		seen := map[string]int{}
		var missing []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			at := slices.IndexFunc(fields, func(f mappingField) bool { return key.Kind == yaml.ScalarNode && f.key == key.Value })
			if why := explain(key.Value); at < 0 && why != "" {
				r.reportProblem(key, path, "%s", why)
				continue
			}
			if at < 0 {
				if missing == nil { // once: a file may have many unknown keys
					missing = missingFields(n, fields)
				}
				r.reportProblem(key, path, "unknown key %s: %s", keyText(key), suggestName(key.Value, missing))
				continue
			}
			if line := seen[key.Value]; line > 0 {
				r.reportProblem(key, path, "key %s is there already, in line %d: leave one", key.Value, line)
				continue
			}
			seen[key.Value] = key.Line
			fields[at].read(joinPath(path, key.Value), value)
		}
		for _, f := range fields {
			if seen[f.key] == 0 && !f.isOptional {
				r.reportProblem(n, path, "missing key %s: add %s: %s", f.key, f.key, f.example)
			}
		}
	}}
}

// missingFields returns the fields that a mapping does not have: never nil.
func missingFields(n *yaml.Node, fields []mappingField) []string {
	missing := []string{}
	for _, f := range fields {
		if mappingValue(n, f.key) == nil {
			missing = append(missing, f.key)
		}
	}
	return missing
}

// exampleMapping returns a mapping with the required fields, for errors.
func exampleMapping(fields []mappingField) string {
	var keys []string
	for _, f := range fields {
		if !f.isOptional {
			keys = append(keys, f.key+": ...")
		}
	}
	return "{" + strings.Join(keys, ", ") + "}"
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

// joinPath returns the path of a key.
func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// readList reads a list of at least one item.
func (r *fileReader) readList(example string, item func(path string, i int, n *yaml.Node)) nodeReader {
	return nodeReader{example, func(path string, n *yaml.Node) {
		if !r.requireKind(path, n, yaml.SequenceNode) {
			return
		}
		if len(n.Content) == 0 {
			r.reportProblem(n, path, "is empty: write %s", example)
		}
		for i, c := range n.Content {
			item(path, i, c)
		}
	}}
}

// textList reads a list of texts.
func (r *fileReader) textList(to *[]string, example string) nodeReader {
	return r.readList(example, func(path string, i int, n *yaml.Node) {
		var s string
		r.readText(&s, example).read(fmt.Sprintf("%s[%d]", path, i), n)
		*to = append(*to, collapseSpaces(s))
	})
}

// readText reads a text that is not empty.
func (r *fileReader) readText(to *string, example string) nodeReader {
	return nodeReader{example, func(path string, n *yaml.Node) {
		if !r.requireKind(path, n, yaml.ScalarNode) {
			return
		}
		if *to = strings.TrimSpace(n.Value); *to == "" {
			r.reportProblem(n, path, "is empty: write %s", example)
		}
	}}
}

// parsedText reads a text and gives it to parse.
func (r *fileReader) parsedText(example string, parse func(s string) error) nodeReader {
	return nodeReader{example, func(path string, n *yaml.Node) {
		var s string
		before := len(r.problems)
		r.readText(&s, example).read(path, n)
		if len(r.problems) > before {
			return
		}
		if err := parse(s); err != nil {
			r.reportProblem(n, path, "%v", err)
		}
	}}
}

// oneOfWords reads one of the words.
func oneOfWords[T ~string](r *fileReader, to *T, words []T) nodeReader {
	var names []string
	for _, w := range words {
		names = append(names, string(w))
	}
	return r.parsedText(strings.Join(names, ", or "), func(s string) error {
		if !slices.Contains(names, s) {
			return fmt.Errorf("unknown %q: write %s", s, strings.Join(names, ", or "))
		}
		*to = T(s)
		return nil
	})
}

// nodeKindNames describes the kinds of YAML nodes.
var nodeKindNames = map[yaml.Kind]string{
	yaml.MappingNode:  "keys with values",
	yaml.SequenceNode: "a list",
	yaml.ScalarNode:   "a text or a number",
	yaml.AliasNode:    "an alias, which platform files do not have",
}

// requireKind reports whether a node is of a kind. If not, it records a problem.
func (r *fileReader) requireKind(path string, n *yaml.Node, kind yaml.Kind) bool {
	if n.Kind == kind {
		return true
	}
	r.reportProblem(n, path, "is %s: write %s", describeNode(n), nodeKindNames[kind])
	return false
}

func describeNode(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Value == "" {
		return "empty"
	}
	return nodeKindNames[n.Kind]
}

// keyText returns a key as a message shows it.
func keyText(key *yaml.Node) string {
	if key.Kind != yaml.ScalarNode {
		return "that is " + describeNode(key)
	}
	const most = 40
	if s := fmt.Sprintf("%q", key.Value); len(s) <= most {
		return s
	}
	return fmt.Sprintf("%.40q...", key.Value)
}
