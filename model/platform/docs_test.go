package platform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// manual returns docs/platforms.md.
func manual(t *testing.T) string {
	t.Helper()
	return readPage(t, "platforms.md")
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// between returns what stands between two texts.
func between(t *testing.T, s, begin, end string) string {
	t.Helper()
	_, s, ok := strings.Cut(s, begin)
	s, _, ok2 := strings.Cut(s, end)
	if !ok || !ok2 {
		t.Fatalf("docs/platforms.md has nothing between %q and %q", begin, end)
	}
	return s
}

// The example of the manual is a platform, and has the error that the manual shows.
func TestManualExample(t *testing.T) {
	doc := manual(t)
	file := readPage(t, "mesh.yaml")
	p, err := Parse("mesh.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	usable(t, p)
	want := strings.TrimSpace(between(t, doc, "what to write instead:\n\n```\n", "```"))
	_, err = Parse("mesh.yaml", []byte(strings.Replace(file, "value: 40ns", "value: 40", 1)))
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// The rules for collective operations in the manual are some, on nodes of several processors.
func TestManualCollectives(t *testing.T) {
	doc := readPage(t, "platform-keys.md")
	file := strings.Replace(readPage(t, "mesh.yaml"), "per_node: {value: 1,", "per_node: {value: 2,", 1)
	rules := "    collectives:\n" + between(t, doc, "```\n    collectives:\n", "```")
	p, err := Parse("mesh.yaml", []byte(strings.Replace(file, "    fallback:", rules+"    fallback:", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.Libraries[0].Collectives); n != 2 {
		t.Errorf("%d rules", n)
	}
}

// The manual names the platforms as they are loaded.
func TestManualSpec(t *testing.T) {
	spec := "loggp:" + between(t, manual(t), "`loggp:", "`")
	p := load(t, spec)
	if p.Machine.Ranks.Default != 8 {
		t.Errorf("%s: %d ranks", spec, p.Machine.Ranks.Default)
	}
}

// Every key that a file of the catalogue or of the documents has is in the manual.
func TestManualKeys(t *testing.T) {
	doc := manual(t) + readPage(t, "platform-keys.md")
	files, err := filepath.Glob("../../docs/*.yaml")
	if err != nil || len(files) < 7 {
		t.Fatal(len(files), err)
	}
	for _, name := range catalogueNames {
		files = append(files, name+".yaml")
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var top yaml.Node
		if err := yaml.Unmarshal(data, &top); err != nil {
			t.Fatal(err)
		}
		everyKey(top.Content[0], func(key string) {
			if !strings.Contains(doc, "`"+key+"`") {
				doc += "`" + key + "`" // one error is enough
				t.Errorf("%s has the key %s, which docs/platform-keys.md does not explain", name, key)
			}
		})
	}
}

// everyKey calls see for each key in a node.
func everyKey(n *yaml.Node, see func(key string)) {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			see(c.Value)
		} else {
			everyKey(c, see)
		}
	}
}
