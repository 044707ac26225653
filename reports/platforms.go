package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// PlatformList lists platforms.
func PlatformList(ps []*platform.Platform) *doc.Document {
	d := &doc.Document{Title: "Platforms"}
	d.AddTables("platforms", "Platforms", platformList(ps))
	return d
}

// Platform is all that the file of a platform says: its libraries with their protocols and
// algorithms, every number with its basis and its source, and the references.
func Platform(p *platform.Platform) *doc.Document {
	d := &doc.Document{Title: "Platform " + p.Machine.Name}
	d.AddTables("platform", d.Title, platformTables(p)...)
	return d
}

// platformTables are the tables of a platform.
func platformTables(p *platform.Platform) []*doc.Table {
	all := []*doc.Table{overviewTable(p)}
	if f, isFabric := p.Machine.Network.(*model.Fabric); isFabric {
		all = append(all, linkTable(p, f))
	}
	for _, l := range p.Libraries {
		all = append(all, protocolTable(p, l), algorithmTable(p, l))
	}
	return append(all, numberTable(p), referenceTable(p))
}

var basisOrder = []platform.Basis{platform.BasisPublished, platform.BasisDerived, platform.BasisFitted, platform.BasisAssumed}

func platformList(ps []*platform.Platform) *doc.Table {
	t := &doc.Table{Name: "platforms", Columns: []doc.Column{
		{Heading: "platform", IsKey: true}, {Heading: "libraries", Kind: doc.ProseColumn}, {Heading: "what it is", Kind: doc.ProseColumn}, {Heading: "ranks", Kind: doc.NumberColumn}, {Heading: "its numbers", Kind: doc.ProseColumn}}}
	isModern := func(p *platform.Platform) bool { return platform.IsModern(p.Machine.Name) }
	for _, p := range ps {
		switch {
		case isModern(p):
			t.BeginGroup("Of today")
		case slices.ContainsFunc(ps, isModern):
			t.BeginGroup("Of papers, and synthetic")
		}
		t.AddRow(doc.TextCell(p.Machine.Name).WithTone(doc.StrongTone), doc.TextCell(libraryNames(p)), doc.TextCell(p.Machine.Description), doc.TextCell(formatRankLimits(p)), doc.TextCell(formatBasisCounts(p)))
	}
	return t
}

// overviewTable describes a platform.
func overviewTable(p *platform.Platform) *doc.Table {
	t := &doc.Table{Name: "platform-" + p.Machine.Name, DataName: "platform", Title: "Platform " + p.Machine.Name, IsRecord: true, Columns: []doc.Column{{Heading: "", IsKey: true}, {Heading: "", Kind: doc.ProseColumn}}}
	t.AddRow(doc.TextCell("machine"), doc.TextCell(p.Machine.Description))
	t.AddRow(doc.TextCell("libraries"), doc.TextCell(libraryNames(p)))
	t.AddRow(doc.TextCell("ranks"), doc.TextCell(formatRankLimits(p)))
	t.AddRow(doc.TextCell("timer"), quantityCell(p.Machine.TimerResolution.String()))
	t.AddRow(doc.TextCell("its numbers"), doc.TextCell(formatBasisCounts(p)))
	t.AddRow(doc.TextCell("file"), doc.TextCell(p.File))
	return t
}

// maxLinkRows is how many rows the links of a network take at most.
const maxLinkRows = 32

// linkTable lists the links of a network between nodes by their numbers: a row for those of one
// class that follow each other.
func linkTable(p *platform.Platform, f *model.Fabric) *doc.Table {
	g := f.Topology()
	t := &doc.Table{Name: "links-" + p.Machine.Name, DataName: "links", Title: "Links of the network, " + f.String(), Columns: []doc.Column{
		{Heading: "links", IsKey: true}, {Heading: "class"}, {Heading: "the first"}, {Heading: "the last"}, {Heading: "bandwidth", Kind: doc.NumberColumn}, {Heading: "latency", Kind: doc.NumberColumn}}}
	for first := 0; first < g.Links(); {
		class, last := g.Class(int32(first)), first
		for last+1 < g.Links() && g.Class(int32(last+1)) == class {
			last++
		}
		if t.CountRows() == maxLinkRows {
			t.AddNote("%d more links are left out", g.Links()-first)
			break
		}
		l := f.Links[class]
		t.AddRow(doc.TextCell(fmt.Sprintf("%d to %d", first, last)), doc.TextCell(class.String()), doc.TextCell(g.LinkName(int32(first))), doc.TextCell(g.LinkName(int32(last))),
			quantityCell(l.Rate().String()), quantityCell(l.Latency.String()))
		first = last + 1
	}
	return t
}

func libraryNames(p *platform.Platform) string {
	var names []string
	for _, l := range p.Libraries {
		names = append(names, l.Name)
	}
	return strings.Join(names, ", ")
}

func formatRankLimits(p *platform.Platform) string {
	return fmt.Sprintf("%d to %d", p.Machine.Ranks.Min, p.Machine.Ranks.Max)
}

// formatBasisCounts counts the numbers of a platform by basis.
func formatBasisCounts(p *platform.Platform) string {
	var words []string
	for _, b := range basisOrder {
		n := 0
		for _, x := range p.Numbers {
			if x.Basis == b {
				n++
			}
		}
		if n > 0 {
			words = append(words, fmt.Sprintf("%d%s%s", n, format.NonBreakingSpace, b))
		}
	}
	return strings.Join(words, ", ")
}

// protocolTable says which protocol a library takes for which message.
func protocolTable(p *platform.Platform, l *model.Library) *doc.Table {
	t := &doc.Table{Name: "protocols-" + p.Machine.Name + "-" + l.Name, DataName: "protocols", Title: "Library " + l.Name + ": " + l.Description,
		Columns: []doc.Column{{Heading: "mode", IsKey: true}, {Heading: "protocol by size", Kind: doc.ProseColumn}}}
	if len(l.Proto.Rules) == 0 { // it is not MPI
		return t
	}
	for m := range model.NumModes {
		inter, intra := describeProtocols(l, m, model.InterNode), describeProtocols(l, m, model.IntraNode)
		if inter == intra {
			t.AddRow(doc.TextCell(m.String()), doc.TextCell(inter))
			continue
		}
		t.AddRow(doc.TextCell(m.String()+", "+model.IntraNode.String()), doc.TextCell(intra))
		t.AddRow(doc.TextCell(m.String()+", "+model.InterNode.String()), doc.TextCell(inter))
	}
	return t
}

// describeProtocols says which protocol messages of a mode take to peers of a tier. Rules that take
// none of them are not mentioned.
func describeProtocols(l *model.Library, m model.Mode, peer model.Tier) string {
	var words []string
	next := 0
	for _, r := range l.Proto.Rules {
		switch {
		case r.Mode != m || !r.Peers.Contains(peer) || r.MaxBytes >= 0 && r.MaxBytes < next:
		case r.MaxBytes < 0:
			return strings.Join(append(words, r.Protocol+" from "+format.Size(next)), ", ")
		default:
			words = append(words, r.Protocol+" to "+format.Size(r.MaxBytes))
			next = r.MaxBytes + 1
		}
	}
	return strings.Join(words, ", ")
}

// algorithmTable says which algorithm a library takes for which collective operation.
func algorithmTable(p *platform.Platform, l *model.Library) *doc.Table {
	t := &doc.Table{Name: "algorithms-" + p.Machine.Name + "-" + l.Name, DataName: "algorithms", Title: "Collective operations of " + l.Name, Columns: []doc.Column{
		{Heading: "operation", IsKey: true}, {Heading: "ranks"}, {Heading: "bytes"}, {Heading: "algorithm"}}}
	for _, c := range l.Collectives {
		where := map[model.Peers]string{model.AllPeers: "any", model.IntraPeers: "in one node", model.InterPeers: "in several nodes"}[c.Peers]
		if c.MaxRanks > 0 {
			where = fmt.Sprintf("%s, to %d", where, c.MaxRanks)
		}
		bytes := "any"
		if c.MaxBytes >= 0 {
			bytes = "to " + format.Size(c.MaxBytes)
		}
		t.AddRow(doc.TextCell(c.Operation), doc.TextCell(where), doc.TextCell(bytes), doc.TextCell(c.Algorithm))
	}
	switch {
	case l.Decisions != "":
		t.AddRow(doc.TextCell("any"), doc.TextCell("any"), doc.TextCell("any"), doc.TextCell("as "+l.Decisions+" decides"))
		t.AddNote("The first row that applies is used; model/collective/decisions/%s.txt has the decisions and their source.", l.Decisions)
	case len(l.Collectives) > 0:
		t.AddNote("The first row that applies is used; if none does, the default table in docs/algorithms.md.")
	}
	return t
}

// numberTable has every number of a platform, under headings for the parts of the file.
func numberTable(p *platform.Platform) *doc.Table {
	t := &doc.Table{Name: "numbers-" + p.Machine.Name, DataName: "numbers", Title: "Numbers of " + p.Machine.Name, Columns: []doc.Column{
		{Heading: "number", IsKey: true}, {Heading: "value", Kind: doc.NumberColumn}, {Heading: "basis"}, {Heading: "source", Kind: doc.ProseColumn}}}
	for _, n := range p.Numbers {
		section, key := splitNumberPath(n.Path)
		t.BeginGroup(section)
		source := n.Source
		if len(n.FittedTo) > 0 {
			source += "; fitted to " + strings.Join(n.FittedTo, ", ")
		}
		tone := doc.NormalTone
		if n.Basis == platform.BasisAssumed {
			tone = doc.FaintTone
		}
		t.AddRow(doc.TextCell(key), quantityCell(n.Value), doc.TextCell(string(n.Basis)).WithTone(tone), doc.TextCell(source).WithTone(tone))
	}
	for _, b := range basisOrder {
		if slices.ContainsFunc(p.Numbers, func(n platform.Number) bool { return n.Basis == b }) {
			t.AddNote("%s: %s", b, basisMeanings[b])
		}
	}
	return t
}

// quantityCell returns the cell of a number with its unit, as platform files have it: 0.1us. Other
// values, such as the name of an algorithm, are text.
func quantityCell(text string) doc.Cell {
	i := strings.LastIndexAny(text, "0123456789") + 1
	if j := strings.IndexFunc(text, func(r rune) bool { return unicode.IsLetter(r) || r == '%' }); j >= 0 {
		i = j
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(text[:i]), 64)
	if err != nil {
		return doc.TextCell(text)
	}
	return doc.QuantityCell(text, value, strings.TrimSpace(text[i:]))
}

// basisMeanings explains each basis of numbers.
var basisMeanings = map[platform.Basis]string{
	platform.BasisPublished: "printed in the source.",
	platform.BasisDerived:   "computed from published numbers, as the source says.",
	platform.BasisFitted:    "chosen so that predictions meet the rows named, so that agreement with these proves nothing.",
	platform.BasisAssumed:   "a guess, or recalled without a source at hand.",
}

// splitNumberPath splits the path of a number into the part of the file and the rest: machine.torus
// and hop.
func splitNumberPath(path string) (section, key string) {
	parts := strings.SplitN(path, ".", 3)
	if len(parts) < 3 {
		return strings.Join(parts[:len(parts)-1], "."), parts[len(parts)-1]
	}
	return parts[0] + "." + parts[1], parts[2]
}

func referenceTable(p *platform.Platform) *doc.Table {
	t := &doc.Table{Name: "references-" + p.Machine.Name, DataName: "references", Title: "References", Columns: []doc.Column{{Field: "reference", IsKey: true}, {Heading: "source", Kind: doc.ProseColumn}}}
	for i, r := range p.References {
		t.AddRow(doc.TextCell(fmt.Sprintf("[%d]", i+1)), doc.TextCell(r))
	}
	return t
}

// PublishedRow is a number as it was published, with the measurement that answers to it.
type PublishedRow struct {
	Name   string // as platform files name it where a number was fitted to it: table-3 T3D o_s low
	Source string // where it is printed: Table 3

	Platform, Library, Place, Mode string // of the measurement
	Quantity                       string // that the fit finds: L o_s o_r G H P
	Parameter                      string // as the source calls it
	Bytes                          int    // size of the message; -1: none

	PrintedValue string // as printed; a range as low to high
	Low, High    float64
	Unit         string // us, us/B, or "" for a count
	Note         string

	Contradiction string // what the source says against it
	IsImpossible  bool   // the printed number itself cannot be right
}

// PublishedRows is the published numbers of any platforms.
type PublishedRows []PublishedRow

// publishedTable is the table of the published numbers of this place, if it has any.
func (p *fittedPlace) publishedTable(rows PublishedRows, of *platform.Platform) *doc.Table {
	t := &doc.Table{Name: "published", Title: "Published and measured parameters of " + p.String(), Columns: []doc.Column{
		{Field: "parameter", IsKey: true}, {Heading: "mode", IsKey: true}, {Heading: "bytes", Kind: doc.NumberColumn, IsKey: true}, {Heading: "published", Kind: doc.NumberColumn},
		{Heading: "measured", Kind: doc.NumberColumn}, {Heading: "differs\n%", Kind: doc.NumberColumn}, {Heading: "basis"}}}
	var against, sources []string
	for _, r := range rows {
		if r.Platform != p.platform || r.Library != p.library || r.Place != p.place {
			continue
		}
		if !slices.Contains(sources, r.Source) {
			sources = append(sources, r.Source)
		}
		found, difference := p.comparePublished(t, r)
		bytes := doc.EmptyCell
		if r.Bytes >= 0 {
			bytes = doc.CountCell(r.Bytes)
		}
		mark := ""
		if r.Contradiction != "" {
			i := slices.Index(against, r.Contradiction)
			if i < 0 {
				i = len(against)
				against = append(against, r.Contradiction)
			}
			mark = fmt.Sprintf("%s(%d)", format.NonBreakingSpace, i+1)
		}
		call := doc.TextCell(r.Mode)
		if r.Mode == "" {
			call = doc.EmptyCell
		}
		t.AddRow(doc.TextCell(strings.TrimSpace(r.Parameter+" "+r.Unit)), call, bytes, doc.TextCell(r.PrintedValue), found, doc.TextCell(difference), basisCell(r, of, found, mark))
	}
	if t.CountRows() > 0 {
		t.AddNote("published is %s; it differs by (measured − published) / published. within: the measured value is in the published range, or a bound (≤) that the published value is not above.", strings.Join(sources, ", "))
		t.AddNote("calibration: a number of the platform was fitted to this one, so agreement proves nothing; the others are validation.")
	}
	for i, c := range against {
		t.AddNote("(%d) The source contradicts itself: %s", i+1, c)
	}
	return t
}

// comparePublished returns what was measured, and how far that is from what was published.
func (p *fittedPlace) comparePublished(t *doc.Table, r PublishedRow) (doc.Cell, string) {
	x := p.firstRow(r.Mode, r.Quantity)
	if x == nil || math.IsNaN(x.Value) {
		return doc.EmptyCell, format.NoNumber
	}
	c, v := parameterCell(t, x), x.Value
	if r.Bytes >= 0 {
		var ok bool
		c = p.overheadCell(t, r.Mode, r.Quantity, r.Bytes)
		if v, ok = p.overheadAt(r.Mode, r.Quantity, r.Bytes); !ok {
			return doc.EmptyCell, format.NoNumber
		}
	}
	switch {
	case v >= r.Low && v <= r.High && r.Low < r.High, x.IsBound() && x.High >= r.Low:
		return c, "within"
	case v > r.High:
		return c, format.Percent(100 * (v - r.High) / r.High)
	}
	return c, format.Percent(100 * (v - r.Low) / r.Low)
}

// basisCell says whether agreement means something.
func basisCell(r PublishedRow, of *platform.Platform, found doc.Cell, mark string) doc.Cell {
	switch {
	case of == nil || found.Equal(doc.EmptyCell):
		return doc.TextCell(format.NoNumber + mark).WithTone(doc.FaintTone)
	case of.IsFittedTo(r.Name):
		return doc.TextCell(compare.CalibrationBasis + mark).WithTone(doc.FaintTone)
	}
	return doc.TextCell(compare.ValidationBasis + mark)
}
