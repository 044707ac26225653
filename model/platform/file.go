package platform

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/loggp/loggp/model"
	"go.yaml.in/yaml/v3"
)

// Parse reads a platform file. file is its name, for errors. The error joins the errors of the
// file, in the order of their lines, each with file, line, column and path.
func Parse(file string, data []byte) (*Platform, error) {
	r := &fileReader{file: file}
	p := &Platform{File: file, Hash: hashFile(data), Machine: &model.Machine{}}
	if top := r.parseDocument(data); top != nil {
		r.readPlatform(p).read("", top)
		if len(p.References) > 0 {
			r.checkCitations(len(p.References))
		}
		if len(r.problems) == 0 {
			r.checkNodes(p.Machine, r.collectiveRulesRead)
			r.checkSockets(p.Machine)
			r.checkCompletions(p.Machine)
			r.checkMulticasts(p.Machine)
		}
	}
	if err := r.problemsError(); err != nil {
		return nil, err
	}
	p.Numbers = r.numbers
	return p, nil
}

// hashFile returns a hash of the contents of a file.
func hashFile(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data))[:16] }

// parseDocument returns the one document of the file, or nil if there is none.
func (r *fileReader) parseDocument(data []byte) *yaml.Node {
	docs, err := splitDocuments(data)
	switch {
	case err != nil:
		what := yamlErrorPrefix.ReplaceAllString(err.Error(), "")
		r.reportProblem(&yaml.Node{Line: brokenLine(data), Column: 1}, "", "is not YAML from this line on: %s", what)
	case len(docs) == 0 || len(docs[0].Content) == 0:
		r.reportProblem(&yaml.Node{Line: 1, Column: 1}, "", "is empty: begin with name: and the name of the platform")
	case len(docs) > 1:
		r.reportProblem(docs[1], "", "a second document: a file describes one platform")
	default:
		return docs[0].Content[0]
	}
	return nil
}

// splitDocuments returns the documents of a file.
func splitDocuments(data []byte) ([]*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var docs []*yaml.Node
	for {
		doc := &yaml.Node{}
		if err := decoder.Decode(doc); err == io.EOF {
			return docs, nil
		} else if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
}

// yamlErrorPrefix is the beginning of an error of the YAML parser. For a text or list that is not
// closed, its line number is far above the mistake.
var yamlErrorPrefix = regexp.MustCompile(`^yaml: (line \d+: )?`)

// brokenLine returns the line that makes a file invalid YAML. The lines before it are valid.
func brokenLine(data []byte) int {
	lines := bytes.SplitAfter(data, []byte("\n"))
	return 1 + sort.Search(len(lines)-1, func(i int) bool {
		_, err := splitDocuments(bytes.Join(lines[:i+1], nil))
		return err != nil
	})
}

// readPlatform reads the top level of a file.
func (r *fileReader) readPlatform(p *Platform) nodeReader {
	m := p.Machine
	return r.readMapping(
		requiredField("name", r.platformName(&m.Name)),
		requiredField("description", r.readText(&m.Description, `"what the machine is"`)),
		requiredField("references", r.textList(&p.References, `["author, title, year, or an address"]`)),
		requiredField("machine", r.readMachine(m)),
		requiredField("libraries", r.readList("[{name: ..., description: ..., software: ...}]", func(path string, i int, n *yaml.Node) {
			l := &model.Library{}
			p.Libraries = append(p.Libraries, l)
			path = fmt.Sprintf("%s[%d]", path, i)
			if v := mappingValue(n, "name"); v != nil && isLabel(v.Value) {
				path = fmt.Sprintf("libraries[%s]", v.Value)
				if slices.ContainsFunc(p.Libraries[:i], func(l *model.Library) bool { return l.Name == v.Value }) {
					r.reportProblem(v, path+".name", "another library has it already: give each its own")
				}
			}
			r.readLibrary(l).read(path, n)
		})),
	)
}

// platformName reads the name of a platform or library.
func (r *fileReader) platformName(to *string) nodeReader {
	return r.parsedText("a-short-name", func(s string) error {
		if !isLabel(s) {
			return fmt.Errorf("%q is not a name: write at most 32 letters a-z, digits, - and _, a letter first", s)
		}
		*to = s
		return nil
	})
}

// isLabel reports whether s can be a name, which is used in data sets, on command lines and in file
// names.
func isLabel(s string) bool {
	const first = "abcdefghijklmnopqrstuvwxyz"
	return s != "" && len(s) <= 32 && strings.Contains(first, s[:1]) && strings.Trim(s, first+"0123456789-_") == ""
}
