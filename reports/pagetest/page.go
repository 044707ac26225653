// Package pagetest checks pages that render has written: that they are sound, and what a reader
// sees of them in a browser.
package pagetest

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/render"
	"github.com/loggp/loggp/reports/reporttest"
)

// InjectedMarkup is a text that would do harm if a page took it for more than text, or for the name
// of a file.
const InjectedMarkup = `<script>alert("1")</script>&amp;'/../x`

// Page is a page that was written.
type Page struct {
	*doc.Document
	Dir   string
	Files map[string]string // contents by name
}

// Write writes the page of a document, which must be sound: it needs nothing from elsewhere, its
// links lead somewhere, and its elements are closed.
func Write(t *testing.T, d *doc.Document) *Page {
	t.Helper()
	p := &Page{Document: d, Dir: filepath.Join(t.TempDir(), "page")}
	if err := render.WritePage(p.Dir, d); err != nil {
		t.Fatal(err)
	}
	p.Files = reporttest.ReadFiles(t, p.Dir)
	checkSelfContained(t, p.Files)
	return p
}

// CheckFiles checks that there are files of some names.
func (p *Page) CheckFiles(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if p.Files[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
}

// CheckText checks that the page has some texts, in whatever letters.
func (p *Page) CheckText(t *testing.T, texts ...string) {
	t.Helper()
	page := strings.ToLower(strings.ReplaceAll(p.Files["index.html"], format.NonBreakingSpace, " "))
	for _, text := range texts {
		if !strings.Contains(page, strings.ToLower(text)) {
			t.Errorf("the page does not say %q", text)
		}
	}
}

var update = flag.Bool("update", false, "write golden files")

// CheckGolden compares with a file in testdata. Without reason a changed one is not to be
// committed.
func CheckGolden(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is now\n%s", path, got)
	}
}

// NamedDocument is a document with a name.
type NamedDocument struct {
	Name     string
	Document func() *doc.Document
}

// CheckTextStyles compares documents as text, in each style, with files in testdata.
func CheckTextStyles(t *testing.T, all []NamedDocument) {
	for _, s := range []struct {
		name  string
		style render.Style
	}{{"plain", render.PlainStyle}, {"60", render.Style{Width: 60, Lines: true}}, {"80-colour", render.TerminalStyle}} {
		t.Run(s.name, func(t *testing.T) {
			var b bytes.Buffer
			for _, x := range all {
				fmt.Fprintf(&b, "=== %s\n", x.Name)
				if err := render.WriteText(&b, x.Document(), s.style); err != nil {
					t.Fatal(err)
				}
			}
			CheckGolden(t, "text-"+s.name+".txt", b.Bytes())
		})
	}
}

// checkSelfContained checks that a page needs nothing from elsewhere, has each id once, that its
// links lead somewhere, that its elements are closed, and that its tables have numbers.
func checkSelfContained(t *testing.T, files map[string]string) {
	t.Helper()
	page := files["index.html"]
	for name, text := range files {
		if strings.HasSuffix(name, ".csv") && name != "facts.csv" && (strings.Contains(text, "NaN") || strings.Contains(text, "Inf")) {
			t.Errorf("%s has what is no number", name)
		}
	}
	if !strings.Contains(page, "<script>\n"+render.Script+"</script>") {
		t.Error("the page does not have the script of pages")
	}
	outside := strings.ReplaceAll(strings.Replace(page, "<script>\n"+render.Script+"</script>", "", 1), "http://www.w3.org/2000/svg", "")
	for _, bad := range []string{"<script", "javascript:", "src=", "url(", "@import", "<link rel=\"stylesheet", "<iframe", "<img", " on", "NaN", "ZgotmplZ"} {
		if i := strings.Index(outside, bad); i >= 0 && !(bad == " on" && !regexp.MustCompile(`<[^>]* on\w+=`).MatchString(outside)) {
			t.Errorf("the page has %q: %.80q", bad, outside[i:])
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("two elements have the id %s", m[1])
		}
		ids[m[1]] = true
	}
	linked := map[string]bool{}
	for _, m := range regexp.MustCompile(` href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		target := m[1]
		linked[target] = true
		if id, ok := strings.CutPrefix(target, "#"); ok && ids[id] || files[target] != "" || target == "data:," || strings.HasPrefix(target, "data:image/png;base64,") {
			continue
		}
		t.Errorf("a link leads nowhere: %s", target)
	}
	checkElementsClosed(t, page)
}

// checkElementsClosed checks that each element of a page that is not empty by nature is closed in
// its turn.
func checkElementsClosed(t *testing.T, page string) {
	t.Helper()
	page = strings.Replace(strings.Replace(page, "<!DOCTYPE html>", "", 1), render.Script, "", 1) // which is no markup
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta", "link", "br"}, xml.HTMLEntity
	var open []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			open = append(open, e.Name.Local)
		case xml.EndElement:
			if last := open[len(open)-1]; last != e.Name.Local {
				t.Fatalf("</%s> closes <%s>", e.Name.Local, last)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("not closed: %v", open)
	}
}
