package collective

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/loggp/loggp/model/unit"
)

// algorithmFamily is a set of algorithms with parameters in their names: a radix, then the size of
// a segment, as in knomial-4 and chain-2-64KiB.
type algorithmFamily struct {
	operation    Operation
	name         string
	radix        parameterPresence
	radixLabel   string // name of the parameter, if it is not called radix
	segment      parameterPresence
	minRadix     int
	example      string // parameters of a member for lists and tests
	newAlgorithm func(p nameParameters) *Algorithm
}

// parameterPresence says whether a name has a parameter.
type parameterPresence uint8

const (
	parameterAbsent parameterPresence = iota
	parameterOptional
	parameterRequired
)

// nameParameters are the parameters in the name of an algorithm.
type nameParameters struct {
	radix   int // 0: not given
	segment int // in bytes; 0: no segmentation
}

// segmentLabel stands for the size of a segment in a form.
const segmentLabel = "SEGMENT"

// maxRadix is the largest radix in a name.
const maxRadix = 1 << 20

// trees are the trees of families.
var trees = []struct {
	name     string
	radix    parameterPresence
	label    string
	minRadix int
	example  string
	tree     func(radix int) tree
}{
	{"binary", parameterAbsent, "", 0, "1KiB", func(int) tree { return binaryTree{} }},
	{"chain", parameterRequired, "FANOUT", 1, "4-64KiB", func(radix int) tree { return chainTree(radix) }},
	{"knomial", parameterRequired, "", 2, "4", func(radix int) tree { return knomialTree(radix) }},
}

// families are all families.
var families = slices.Concat(treeFamilies(), []algorithmFamily{
	{operation: Bcast, name: "pipelined", segment: parameterRequired, example: "32KiB", newAlgorithm: func(p nameParameters) *Algorithm {
		return &Algorithm{writeSchedule: pipelinedBcast(p.segment)}
	}},
	{operation: Bcast, name: "binomial-posted", segment: parameterOptional, example: "32KiB", newAlgorithm: func(p nameParameters) *Algorithm {
		return &Algorithm{writeSchedule: treeBcast(highBitTree{}, p.segment)}
	}},
	{operation: Bcast, name: "split-binary", segment: parameterOptional, example: "1KiB", newAlgorithm: func(p nameParameters) *Algorithm {
		return &Algorithm{writeSchedule: splitBinaryBcast(p.segment)}
	}},
	{operation: Gather, name: "linear-sync", segment: parameterOptional, example: "1KiB", newAlgorithm: func(p nameParameters) *Algorithm {
		return &Algorithm{writeSchedule: synchronizedGather(p.segment)}
	}},
	{operation: Alltoall, name: "linear-sync", radix: parameterOptional, radixLabel: "RANKS", minRadix: 1, example: "4", newAlgorithm: func(p nameParameters) *Algorithm {
		return &Algorithm{writeSchedule: synchronizedAlltoall(p.radix)}
	}},
	{operation: Reduce, name: "in-order-binary", segment: parameterOptional, example: "1KiB", newAlgorithm: func(p nameParameters) *Algorithm {
		return &Algorithm{writeSchedule: inOrderReduce(p.segment)}
	}},
	{operation: Allreduce, name: "ring", segment: parameterRequired, example: "1KiB", newAlgorithm: func(p nameParameters) *Algorithm {
		return &Algorithm{NeedsCommutative: true, writeSchedule: func(s *Script, j Job, rank int) { segmentedRingAllreduce(s, j, rank, p.segment) }}
	}},
	{operation: Allreduce, name: "recursive-multiplying", radix: parameterRequired, minRadix: 2, example: "4", newAlgorithm: func(p nameParameters) *Algorithm {
		return &Algorithm{NeedsCommutative: true, writeSchedule: multiplyingAllreduce(p.radix)}
	}},
	{operation: Barrier, name: "dissemination", radix: parameterRequired, minRadix: 2, example: "4", newAlgorithm: func(p nameParameters) *Algorithm {
		return &Algorithm{writeSchedule: radixDisseminationBarrier(p.radix)}
	}},
})

// treeFamilies returns the families of broadcasts and reductions along trees.
func treeFamilies() []algorithmFamily {
	var all []algorithmFamily
	for _, t := range trees {
		f := algorithmFamily{operation: Bcast, name: t.name, radix: t.radix, radixLabel: t.label, segment: parameterOptional, minRadix: t.minRadix, example: t.example}
		f.newAlgorithm = func(p nameParameters) *Algorithm {
			return &Algorithm{writeSchedule: treeBcast(t.tree(p.radix), p.segment)}
		}
		all = append(all, f)
		f.operation = Reduce
		f.newAlgorithm = func(p nameParameters) *Algorithm {
			return &Algorithm{NeedsCommutative: true, writeSchedule: treeReduce(t.tree(p.radix), p.segment)}
		}
		all = append(all, f)
	}
	return all
}

// nameForm returns the form of the names of a family, such as knomial-RADIX[-SEGMENT].
func (f *algorithmFamily) nameForm() string {
	form := f.name
	for _, p := range []struct {
		parameterPresence
		name string
	}{{f.radix, cmp.Or(f.radixLabel, "RADIX")}, {f.segment, segmentLabel}} {
		switch p.parameterPresence {
		case parameterOptional:
			form += "[-" + p.name + "]"
		case parameterRequired:
			form += "-" + p.name
		}
	}
	return form
}

// parseName returns the parameters in a name, and whether the name belongs to the family.
func (f *algorithmFamily) parseName(name string) (p nameParameters, ok bool) {
	rest, ok := strings.CutPrefix(name, f.name)
	if !ok || rest != "" && rest[0] != '-' {
		return p, false
	}
	words := strings.Split(rest, "-")[1:]
	if len(words) > 0 && f.radix != parameterAbsent {
		n, err := strconv.Atoi(words[0])
		switch {
		case err == nil && n >= f.minRadix && n <= maxRadix:
			p.radix, words = n, words[1:]
		case f.radix == parameterRequired:
			return p, false
		}
	}
	if len(words) > 0 && f.segment != parameterAbsent {
		n, err := unit.ParseSize(words[0])
		if err != nil || n < 1 || n > unit.MaxSize {
			return p, false
		}
		p.segment, words = n, words[1:]
	}
	return p, len(words) == 0 && (f.radix != parameterRequired || p.radix > 0) && (f.segment != parameterRequired || p.segment > 0)
}

// contains reports whether an algorithm is a member of the family.
func (f *algorithmFamily) contains(a *Algorithm) bool {
	_, ok := f.parseName(a.Name)
	return ok && a.Operation == f.operation
}

// newMember returns the algorithm with the given parameters.
func (f *algorithmFamily) newMember(p nameParameters) *Algorithm {
	a := f.newAlgorithm(p)
	a.Operation, a.Name = f.operation, f.name
	if p.radix > 0 {
		a.Name += "-" + strconv.Itoa(p.radix)
	}
	if p.segment > 0 {
		a.Name += "-" + unit.Bytes(p.segment)
	}
	return a
}

// algorithmCache has the algorithms that were requested by name and are not in a list, by operation
// and name, so that each name always returns the same algorithm.
var algorithmCache sync.Map

// cachedAlgorithm returns the member of a family, or the sequence of two algorithms, with a name,
// or nil.
func cachedAlgorithm(o Operation, name string) *Algorithm {
	a := sequenceNamed(o, name)
	for i := range families {
		if f := &families[i]; f.operation == o && a == nil {
			if p, ok := f.parseName(name); ok {
				a = f.newMember(p)
			}
		}
	}
	switch {
	case a == nil:
		return nil
	case a.Name != name: // the name has an unnormalized size, such as 1024B
		return AlgorithmNamed(o, a.Name)
	}
	known, _ := algorithmCache.LoadOrStore(a.String(), a)
	return known.(*Algorithm)
}

// sequenceForm is the form of the names of sequences.
const sequenceForm = "REDUCE+BCAST"

// sequenceNamed returns the allreduce that reduces to rank 0 and broadcasts, given the names of
// both algorithms with a plus sign in between, or nil.
func sequenceNamed(o Operation, name string) *Algorithm {
	first, second, ok := strings.Cut(name, "+")
	if o != Allreduce || !ok {
		return nil
	}
	reduce, bcast := AlgorithmNamed(Reduce, first), AlgorithmNamed(Bcast, second)
	if reduce == nil || bcast == nil {
		return nil
	}
	return &Algorithm{
		Operation: o, Name: reduce.Name + "+" + bcast.Name,
		NeedsCommutative: reduce.NeedsCommutative, NeedsEvenRanks: reduce.NeedsEvenRanks || bcast.NeedsEvenRanks, NeedsNodes: reduce.NeedsNodes || bcast.NeedsNodes, NeedsPowerOfTwo: reduce.NeedsPowerOfTwo || bcast.NeedsPowerOfTwo,
		writeSchedule: func(s *Script, j Job, rank int) {
			j.Root = 0
			reduce.writeSchedule(s, j, rank)
			bcast.writeSchedule(s, j, rank)
		},
	}
}
