package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// Platforms writes a list of platforms.
func Platforms(w io.Writer, ps []*platform.Platform, s Style) error {
	all := &writer{w: w, style: s}
	all.table(platformList(ps))
	return all.err
}

// Platform writes all that the file of a platform says: its libraries with their protocols and algorithms, every number with what it stands on
// and where it is from, and the references.
func Platform(w io.Writer, p *platform.Platform, s Style) error {
	all := &writer{w: w, style: s}
	all.table(overview(p))
	for _, l := range p.Libraries {
		for _, t := range libraryTables(l) {
			all.table(t)
		}
	}
	all.table(numberTable(p))
	all.table(referenceTable(p))
	return all.err
}

var bases = []platform.Basis{platform.Published, platform.Derived, platform.Fitted, platform.Assumed}

func platformList(ps []*platform.Platform) *Table {
	t := &Table{Name: "platforms", Columns: []Column{
		{Head: "platform", Key: true}, {Head: "libraries", Wrap: true}, {Head: "what it is", Wrap: true}, {Head: "ranks", Right: true}, {Head: "its numbers", Wrap: true}}}
	for _, p := range ps {
		t.add(Cell{p.Machine.Name, Strong}, text(libraries(p)), text(p.Machine.Description), text(ranks(p)), text(stand(p)))
	}
	return t
}

// overview says what a platform is.
func overview(p *platform.Platform) *Table {
	t := &Table{Name: "platform-" + p.Machine.Name, Title: "Platform " + p.Machine.Name, Columns: []Column{{Head: "", Key: true}, {Head: "", Wrap: true}}}
	t.add(text("machine"), text(p.Machine.Description))
	t.add(text("libraries"), text(libraries(p)))
	t.add(text("ranks"), text(ranks(p)))
	t.add(text("timer"), text(p.Machine.Timer.String()))
	t.add(text("its numbers"), text(stand(p)))
	t.add(text("file"), text(p.File))
	return t
}

func libraries(p *platform.Platform) string {
	var names []string
	for _, l := range p.Libraries {
		names = append(names, l.Name)
	}
	return strings.Join(names, ", ")
}

func ranks(p *platform.Platform) string {
	return fmt.Sprintf("%d to %d", p.Machine.Ranks.Min, p.Machine.Ranks.Max)
}

// stand says on what the numbers of a platform stand.
func stand(p *platform.Platform) string {
	var words []string
	for _, b := range bases {
		n := 0
		for _, x := range p.Numbers {
			if x.Basis == b {
				n++
			}
		}
		if n > 0 {
			words = append(words, fmt.Sprintf("%d%s%s", n, glue, b))
		}
	}
	return strings.Join(words, ", ")
}

// libraryTables say what a library takes for what.
func libraryTables(l *model.Library) []*Table {
	if len(l.Collectives) == 0 {
		return []*Table{protocolTable(l)}
	}
	return []*Table{protocolTable(l), algorithmTable(l)}
}

// protocolTable says which protocol a library takes for which message.
func protocolTable(l *model.Library) *Table {
	t := &Table{Name: "protocols-" + l.Name, Title: "Library " + l.Name + ": " + l.Description,
		Columns: []Column{{Head: "mode", Key: true}, {Head: "protocol by size", Wrap: true}}}
	for m := range model.NumModes {
		inter, intra := protocolWords(l, m, model.Inter), protocolWords(l, m, model.Intra)
		if inter == intra {
			t.add(text(m.String()), text(inter))
			continue
		}
		t.add(text(m.String()+", "+model.Intra.String()), text(intra))
		t.add(text(m.String()+", "+model.Inter.String()), text(inter))
	}
	return t
}

// protocolWords says which protocol messages of a mode take to peers of a tier. Rules that take none of them are not mentioned.
func protocolWords(l *model.Library, m model.Mode, peer model.Tier) string {
	var words []string
	next := 0
	for _, r := range l.Rules {
		switch {
		case r.Mode != m || !r.Peers.Has(peer) || r.UpTo >= 0 && r.UpTo < next:
		case r.UpTo < 0:
			return strings.Join(append(words, r.Protocol+" from "+size(next)), ", ")
		default:
			words = append(words, r.Protocol+" to "+size(r.UpTo))
			next = r.UpTo + 1
		}
	}
	return strings.Join(words, ", ")
}

// algorithmTable says which algorithm a library takes for which collective operation.
func algorithmTable(l *model.Library) *Table {
	t := &Table{Name: "algorithms-" + l.Name, Title: "Collective operations of " + l.Name, Columns: []Column{
		{Head: "operation", Key: true}, {Head: "ranks"}, {Head: "bytes"}, {Head: "algorithm"}}}
	for _, c := range l.Collectives {
		where := map[model.Peers]string{model.AllPeers: "any", model.IntraPeers: "in one node", model.InterPeers: "in several nodes"}[c.Peers]
		if c.Ranks > 0 {
			where = fmt.Sprintf("%s, to %d", where, c.Ranks)
		}
		bytes := "any"
		if c.UpTo >= 0 {
			bytes = "to " + size(c.UpTo)
		}
		t.add(text(c.Operation), text(where), text(bytes), text(c.Algorithm))
	}
	t.note("The first that serves counts. Whom none serves, or what is not named, the usual table is for: docs/collectives.md.")
	return t
}

// numberTable has every number of a platform, under headings for the parts of the file.
func numberTable(p *platform.Platform) *Table {
	t := &Table{Name: "numbers-" + p.Machine.Name, Title: "Numbers of " + p.Machine.Name, Columns: []Column{
		{Head: "number", Key: true}, {Head: "value", Right: true}, {Head: "basis"}, {Head: "source", Wrap: true}}}
	section := ""
	for _, n := range p.Numbers {
		s, key := split(n.Path)
		if s != section || len(t.Groups) == 0 {
			t.group(s)
			section = s
		}
		source := n.Source
		if len(n.FittedTo) > 0 {
			source += "; fitted to " + strings.Join(n.FittedTo, ", ")
		}
		tone := Normal
		if n.Basis == platform.Assumed {
			tone = Faint
		}
		t.add(text(key), text(n.Value), Cell{string(n.Basis), tone}, Cell{source, tone})
	}
	for _, b := range bases {
		if slices.ContainsFunc(p.Numbers, func(n platform.Number) bool { return n.Basis == b }) {
			t.note("%s: %s", b, standing[b])
		}
	}
	return t
}

// standing says what it means that a number stands on a basis.
var standing = map[platform.Basis]string{
	platform.Published: "printed in the source.",
	platform.Derived:   "computed from published numbers, as the source says.",
	platform.Fitted:    "chosen so that predictions meet the rows named, so that agreement with these proves nothing.",
	platform.Assumed:   "a guess, or recalled without a source at hand.",
}

// split splits the path of a number into the part of the file and the rest: machine.torus and hop.
func split(path string) (section, key string) {
	parts := strings.SplitN(path, ".", 3)
	if len(parts) < 3 {
		return strings.Join(parts[:len(parts)-1], "."), parts[len(parts)-1]
	}
	return parts[0] + "." + parts[1], parts[2]
}

func referenceTable(p *platform.Platform) *Table {
	t := &Table{Name: "references-" + p.Machine.Name, Title: "References", Columns: []Column{{Head: "", Key: true}, {Head: "source", Wrap: true}}}
	for i, r := range p.References {
		t.add(text(fmt.Sprintf("[%d]", i+1)), text(r))
	}
	return t
}
