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

// reader reads one file and collects its problems.
type reader struct {
	file     string
	problems []problem
	numbers  []Number
	cites    []cite
	tuned    []tuning // of all libraries
	sockets  []at     // that libraries ask for

	multicasts []at // that libraries use
}

// at is a place in a file, with the path of its keys.
type at struct {
	path string
	node *yaml.Node
}

// problem is an error at a place in a file.
type problem struct {
	line, column int
	text         string
}

// wrong records a problem at a node. An empty path is the file itself.
func (r *reader) wrong(n *yaml.Node, path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	r.problems = append(r.problems, problem{n.Line, n.Column, text})
}

// err returns the problems in the order of the file, or nil.
func (r *reader) err() error {
	slices.SortStableFunc(r.problems, func(a, b problem) int {
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

// reading reads the node at a path.
type reading struct {
	example string // what to write, for errors
	read    func(path string, n *yaml.Node)
}

// checked returns a reading that also calls check if it has read without problems.
func (r *reader) checked(x reading, check func(path string, n *yaml.Node)) reading {
	return reading{x.example, func(path string, n *yaml.Node) {
		before := len(r.problems)
		x.read(path, n)
		if len(r.problems) == before {
			check(path, n)
		}
	}}
}

// field is a key of a mapping.
type field struct {
	key      string
	optional bool
	reading
}

func must(key string, v reading) field { return field{key, false, v} }
func may(key string, v reading) field  { return field{key, true, v} }

// mapping reads keys and values. Every key must be one of the fields and occur once. Every field
// that is not optional must be there.
func (r *reader) mapping(fields ...field) reading {
	return r.explainedMapping(func(string) string { return "" }, fields...)
}

// explainedMapping is a mapping, with a function that says what is wrong with an unknown key, or
// "" if it is unknown everywhere.
func (r *reader) explainedMapping(explain func(key string) string, fields ...field) reading {
	return reading{keys(fields), func(path string, n *yaml.Node) {
		if !r.is(path, n, yaml.MappingNode) {
			return
		}
		seen := map[string]int{}
		var missing []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			at := slices.IndexFunc(fields, func(f field) bool { return key.Kind == yaml.ScalarNode && f.key == key.Value })
			if why := explain(key.Value); at < 0 && why != "" {
				r.wrong(key, path, "%s", why)
				continue
			}
			if at < 0 {
				if missing == nil { // once: a file may have many unknown keys
					missing = absent(n, fields)
				}
				r.wrong(key, path, "unknown key %s: %s", name(key), suggest(key.Value, missing))
				continue
			}
			if line := seen[key.Value]; line > 0 {
				r.wrong(key, path, "key %s is there already, in line %d: leave one", key.Value, line)
				continue
			}
			seen[key.Value] = key.Line
			fields[at].read(below(path, key.Value), value)
		}
		for _, f := range fields {
			if seen[f.key] == 0 && !f.optional {
				r.wrong(n, path, "missing key %s: add %s: %s", f.key, f.key, f.example)
			}
		}
	}}
}

// absent returns the fields that a mapping does not have: never nil.
func absent(n *yaml.Node, fields []field) []string {
	missing := []string{}
	for _, f := range fields {
		if lookup(n, f.key) == nil {
			missing = append(missing, f.key)
		}
	}
	return missing
}

// keys returns a mapping with the required fields, for errors.
func keys(fields []field) string {
	var keys []string
	for _, f := range fields {
		if !f.optional {
			keys = append(keys, f.key+": ...")
		}
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

// lookup returns the value of a key of a mapping, or nil.
func lookup(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// below returns the path of a key.
func below(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// list reads a list of at least one item.
func (r *reader) list(example string, item func(path string, i int, n *yaml.Node)) reading {
	return reading{example, func(path string, n *yaml.Node) {
		if !r.is(path, n, yaml.SequenceNode) {
			return
		}
		if len(n.Content) == 0 {
			r.wrong(n, path, "is empty: write %s", example)
		}
		for i, c := range n.Content {
			item(path, i, c)
		}
	}}
}

// texts reads a list of texts.
func (r *reader) texts(to *[]string, example string) reading {
	return r.list(example, func(path string, i int, n *yaml.Node) {
		var s string
		r.text(&s, example).read(fmt.Sprintf("%s[%d]", path, i), n)
		*to = append(*to, words(s))
	})
}

// text reads a text that is not empty.
func (r *reader) text(to *string, example string) reading {
	return reading{example, func(path string, n *yaml.Node) {
		if !r.is(path, n, yaml.ScalarNode) {
			return
		}
		if *to = strings.TrimSpace(n.Value); *to == "" {
			r.wrong(n, path, "is empty: write %s", example)
		}
	}}
}

// parsed reads a text and gives it to parse.
func (r *reader) parsed(example string, parse func(s string) error) reading {
	return reading{example, func(path string, n *yaml.Node) {
		var s string
		before := len(r.problems)
		r.text(&s, example).read(path, n)
		if len(r.problems) > before {
			return
		}
		if err := parse(s); err != nil {
			r.wrong(n, path, "%v", err)
		}
	}}
}

// choice reads one of the words.
func choice[T ~string](r *reader, to *T, words []T) reading {
	var names []string
	for _, w := range words {
		names = append(names, string(w))
	}
	return r.parsed(strings.Join(names, ", or "), func(s string) error {
		if !slices.Contains(names, s) {
			return fmt.Errorf("unknown %q: write %s", s, strings.Join(names, ", or "))
		}
		*to = T(s)
		return nil
	})
}

// kinds describes the kinds of YAML nodes.
var kinds = map[yaml.Kind]string{
	yaml.MappingNode:  "keys with values",
	yaml.SequenceNode: "a list",
	yaml.ScalarNode:   "a text or a number",
	yaml.AliasNode:    "an alias, which platform files do not have",
}

// is reports whether a node is of a kind. If not, it records a problem.
func (r *reader) is(path string, n *yaml.Node, kind yaml.Kind) bool {
	if n.Kind == kind {
		return true
	}
	r.wrong(n, path, "is %s: write %s", is(n), kinds[kind])
	return false
}

func is(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Value == "" {
		return "empty"
	}
	return kinds[n.Kind]
}

// name returns a key as a message shows it.
func name(key *yaml.Node) string {
	if key.Kind != yaml.ScalarNode {
		return "that is " + is(key)
	}
	const most = 40
	if s := fmt.Sprintf("%q", key.Value); len(s) <= most {
		return s
	}
	return fmt.Sprintf("%.40q...", key.Value)
}
