package platform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"go.yaml.in/yaml/v3"
)

// Parse reads a platform file. file is its name, for errors; the error joins one error for each thing that is wrong,
// in the order of the file, each with file, line, column and path.
func Parse(file string, data []byte) (*Platform, error) {
	r := &reader{file: file}
	p := &Platform{File: file, Machine: &model.Machine{}}
	if top := r.document(data); top != nil {
		r.platform(p).read("", top)
		for _, x := range r.numbers {
			r.checkCitations(x.Path, &yaml.Node{Line: x.Line, Column: x.Column}, x.Source, len(p.References))
		}
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	p.Numbers = r.numbers
	return p, nil
}

// syntax is how the parser of YAML says where an error is.
var syntax = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// document returns the one document of the file, or nil if there is none.
func (r *reader) document(data []byte) *yaml.Node {
	start := &yaml.Node{Line: 1, Column: 1}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := decoder.Decode(&doc)
	if err == nil && len(doc.Content) == 1 {
		if err = decoder.Decode(&second); errors.Is(err, io.EOF) {
			return doc.Content[0]
		}
		if err == nil {
			r.wrong(&second, "", "a second document: a file describes one platform")
			return nil
		}
	}
	if err == nil || errors.Is(err, io.EOF) {
		r.wrong(start, "", "is empty: begin with name: and the name of the platform")
		return nil
	}
	m := syntax.FindStringSubmatch(err.Error())
	if m == nil {
		m = []string{"", "", err.Error()}
	}
	if m[1] != "" {
		fmt.Sscan(m[1], &start.Line)
	}
	r.wrong(start, "", "is not YAML, near this line: %s", m[2])
	return nil
}

// platform reads the whole of a file.
func (r *reader) platform(p *Platform) reading {
	m := p.Machine
	return r.mapping(
		must("name", r.label(&m.Name)),
		must("description", r.text(&m.Description, `"what the machine is"`)),
		must("references", r.texts(&p.References, `["author, title, year, or an address"]`)),
		must("machine", r.machine(m)),
		must("libraries", r.list("[{name: ..., ...}]", func(path string, i int, n *yaml.Node) {
			l := &model.Library{}
			p.Libraries = append(p.Libraries, l)
			path = fmt.Sprintf("%s[%d]", path, i)
			if v := lookup(n, "name"); v != nil && isLabel(v.Value) {
				path = fmt.Sprintf("libraries[%s]", v.Value)
				r.onlyLibrary(path, v, p.Libraries[:i])
			}
			r.library(l).read(path, n)
		})),
	)
}

// onlyLibrary checks that the name of a library is not that of one before.
func (r *reader) onlyLibrary(path string, n *yaml.Node, before []*model.Library) {
	if slices.ContainsFunc(before, func(l *model.Library) bool { return l.Name == n.Value }) {
		r.wrong(n, path+".name", "another library has it already: give each its own")
	}
}

// label reads the name of a platform or library.
func (r *reader) label(to *string) reading {
	return r.parsed("a-short-name", func(s string) error {
		if !isLabel(s) {
			return fmt.Errorf("%q is not a name: write at most 32 letters a-z, digits, - and _, a letter first", s)
		}
		*to = s
		return nil
	})
}

// isLabel says whether s can be a name: it stands in data sets, on command lines and in file names.
func isLabel(s string) bool {
	const first = "abcdefghijklmnopqrstuvwxyz"
	return s != "" && len(s) <= 32 && strings.Contains(first, s[:1]) && strings.Trim(s, first+"0123456789-_") == ""
}
