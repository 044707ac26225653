// Package platform reads platform files and has the catalogue of machines. A platform has one file,
// in which every number has its unit, its source and its basis.
//
// A file describes one machine and the libraries on it, and becomes a model.Machine and
// model.Libraries. Reading is strict: an unknown, missing, repeated or out-of-range entry, or a
// number without unit, is an error with file, line, column and path of keys. All errors of a file
// are reported at once. Package model and the emulation give the numbers their meaning.
// docs/platforms.md is the manual.
package platform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/table"
)

// Platform is a machine, the message-passing libraries on it, and the provenance of their numbers.
type Platform struct {
	File       string // as in error messages; for a synthetic platform, its spec
	Hash       string // hash of the file; platforms with different sums differ, whatever their names
	Machine    *model.Machine
	Libraries  []*model.Library // the first is the default
	Numbers    []Number         // in the order of the file
	References []string         // what [1], [2] and so on in a source stand for
}

// Number is the provenance of a number of a platform.
type Number struct {
	Path         string     // of its keys: machine.torus.hop, libraries[chimp].software.send
	Quantity     Quantity   // what it is a number of
	Value        string     // as written
	Basis        Basis      // how it was obtained
	Source       string     // where the number is from
	FittedTo     []string   // the published rows that it was fitted to, for basis BasisFitted
	Free         *FreeRange // where calibration may move it; nil: it may not
	Line, Column int        // of the value
}

// Quantity is what a number is a number of.
type Quantity uint8

// The quantities. A word is a choice, such as the name of an algorithm, or several counts.
const (
	WordQuantity Quantity = iota
	TimeQuantity
	PerByteQuantity
	BandwidthQuantity
	SizeQuantity
	CountQuantity
	ShareQuantity
)

// FreeRange is where calibration may move a number: within bounds, in the unit of Quantity.Parse,
// or to one of some values as written.
type FreeRange struct {
	Min, Max float64
	Values   []string // not empty: the choices, and there are no bounds
}

// Basis is how a number was obtained.
type Basis string

// The bases, from the strongest to the weakest.
const (
	BasisPublished Basis = "published" // printed in the source, apart from the unit
	BasisDerived   Basis = "derived"   // computed from published numbers; the source says how
	BasisFitted    Basis = "fitted"    // chosen so that predictions meet published rows, which it names
	BasisAssumed   Basis = "assumed"   // a guess, or recalled without a source at hand
)

// allBases are all bases.
var allBases = []Basis{BasisPublished, BasisDerived, BasisFitted, BasisAssumed}

// Library returns the library of the name, or the first for "".
func (p *Platform) Library(name string) (*model.Library, error) {
	if name == "" {
		return p.Libraries[0], nil
	}
	var names []string
	for _, l := range p.Libraries {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return nil, fmt.Errorf("platform %s: no library %q%s", p.Machine.Name, name, table.NameChoices(name, names))
}

// CountsText says how many libraries and numbers the platform has, and how the numbers were
// obtained.
func (p *Platform) CountsText() string {
	libraries := "libraries"
	if len(p.Libraries) == 1 {
		libraries = "library"
	}
	count := map[Basis]int{}
	for _, n := range p.Numbers {
		count[n.Basis]++
	}
	return fmt.Sprintf("%d %s, %d numbers (%d published, %d derived, %d fitted, %d assumed)",
		len(p.Libraries), libraries, len(p.Numbers), count[BasisPublished], count[BasisDerived], count[BasisFitted], count[BasisAssumed])
}

// IsFittedTo reports whether some number of the platform was fitted to a published row, so that
// agreement with it is no validation. A row is named as in the key to of a fitted number, such as
//
//	table-3 T3D o_s low
//
// for the table, platform, parameter and column of the published data; spaces count as one.
func (p *Platform) IsFittedTo(row string) bool {
	row = collapseSpaces(row)
	return slices.ContainsFunc(p.Numbers, func(n Number) bool { return slices.Contains(n.FittedTo, row) })
}

// collapseSpaces returns s with single spaces between its words.
func collapseSpaces(s string) string { return strings.Join(strings.Fields(s), " ") }
