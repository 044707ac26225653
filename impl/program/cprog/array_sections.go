//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"math/bits"
	"slices"
	"strings"
	"unsafe"

	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// Array sections with gaps, which Fortran programs with module mpi_f08 pass as choice buffers.
// Counts, datatypes and displacements are those of a contiguous copy of the section (MPI 4.1,
// §19.1.12). Messages, broadcasts and accesses to windows get a datatype that lies in the section.
// For other operations the section is copied: a reduction needs elements in a row, and the parts of
// several ranks lie differently in the section.

// arrayDescriptor is CFI_cdesc_t of gfortran's ISO_Fortran_binding.h. The dimensions follow it, as
// many as the rank says.
type arrayDescriptor struct {
	base         uintptr
	elementBytes int
	_            int32 // version of the descriptor
	rank         int8
	_            int8  // attribute: whether the array is allocatable or a pointer
	_            int16 // type of an element
}

// arrayDimension is CFI_dim_t. The stride is in bytes.
type arrayDimension struct {
	_              int // lower bound
	extent, stride int
}

// arraySection is a section with gaps.
type arraySection struct {
	base uintptr
	sectionShape
}

// sectionShape says where the elements of a section are, counted from the first.
type sectionShape struct {
	elementBytes, rank int
	dimensions         [maxArrayRank]datatype.Dimension
}

// maxArrayRank is the largest rank of an array in Fortran.
const maxArrayRank = 15

func arraySectionAt(at uintptr) arraySection {
	d := pointerAt[arrayDescriptor](at)
	s := arraySection{d.base, sectionShape{elementBytes: d.elementBytes, rank: int(d.rank)}}
	for i := range s.rank {
		x := pointerAt[arrayDimension](at + unsafe.Sizeof(*d) + uintptr(i)*unsafe.Sizeof(arrayDimension{}))
		s.dimensions[i] = datatype.Dimension{Extent: x.extent, Stride: x.stride}
	}
	return s
}

// bytes returns how many bytes a contiguous copy has.
func (s *sectionShape) bytes() int {
	n := s.elementBytes
	for _, d := range s.dimensions[:s.rank] {
		n *= d.Extent
	}
	return n
}

// sectionArguments returns the indices of the arguments of the current call that are descriptors of
// sections.
func (r *rank) sectionArguments() []int {
	var all []int
	for m := r.currentCall.sections; m != 0; m &= m - 1 {
		all = append(all, bits.TrailingZeros64(m))
	}
	return all
}

// isSection reports whether a buffer argument of the current call is the descriptor of a section.
func (r *rank) isSection(at uintptr) bool {
	for m := r.currentCall.sections; m != 0; m &= m - 1 {
		if r.currentCall.args[bits.TrailingZeros64(m)] == at {
			return true
		}
	}
	return false
}

// sectionElements are elements of a datatype in a section.
type sectionElements struct {
	shape sectionShape
	count int
	of    *mpi.Datatype
}

// maxSectionTypes bounds the number of datatypes in sections that a rank keeps.
const maxSectionTypes = 64

// placeInSection returns the address, the count and the datatype of elements in a section.
func (r *rank) placeInSection(at uintptr, count int, t *mpi.Datatype) (uintptr, int, *mpi.Datatype) {
	s := arraySectionAt(at)
	if err := t.CheckUsable(); err != nil {
		r.raiseError(mpi.ErrType, "%v", err)
	}
	elements := sectionElements{s.sectionShape, count, t}
	in := r.sectionTypes[elements]
	if in == nil {
		var err error
		if in, err = datatype.InSection(count, t, s.elementBytes, s.dimensions[:s.rank]); err != nil {
			r.raiseError(mpi.ErrBuffer, "%v", err)
		}
		if r.sectionTypes == nil || len(r.sectionTypes) == maxSectionTypes {
			r.sectionTypes = map[sectionElements]*mpi.Datatype{}
		}
		r.sectionTypes[elements] = in.Commit()
	}
	if in.IsContiguous() && in.TrueLowerBound() == 0 { // such as one element
		return s.base, count, t
	}
	return s.base, 1, in
}

// sectionUse says what a function does with sections.
type sectionUse int

const (
	rejectsSections sectionUse = iota // its buffer has to be contiguous
	placesSections                    // localBuffer finds its elements in them
	copiesSections
)

func sectionUseOf(f *toolchain.Function) sectionUse {
	name := strings.ToLower(f.Name)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	takesElements := func(i int) bool {
		next := f.Types[min(i+1, len(f.Types)):]
		return strings.HasSuffix(f.Types[i], "void *") && len(next) > 1 && (next[0] == "int" || next[0] == "MPI_Count") && next[1] == "MPI_Datatype"
	}
	switch {
	case has("gather", "scatter", "alltoall", "reduce", "scan", "bcast_init", "psend_init", "precv_init", "pack", "file_"):
		return copiesSections
	case has("fetch_and_op", "compare_and_swap"):
		return placesSections
	}
	for i := range f.Parameters {
		if takesElements(i) {
			return placesSections
		}
	}
	return rejectsSections
}

// runWithSections carries out the current call, some of whose buffers are sections.
func (r *rank) runWithSections() {
	f, a := &toolchain.Functions[r.currentCall.number], r.currentCall.args
	run := handlers[r.currentCall.number]
	switch sectionUseOf(f) {
	case placesSections:
		run(r, a)
		return
	case rejectsSections:
		r.raiseError(mpi.ErrBuffer, "argument %s is an array section with gaps: the buffer of this function has to be contiguous", f.Parameters[r.sectionArguments()[0]])
	}
	var copies sectionCopies
	for _, i := range r.sectionArguments() {
		copies = append(copies, r.copySection(a[i], !strings.HasPrefix(f.Types[i], "const ")))
		a[i] = uintptr(unsafe.Pointer(unsafe.SliceData(copies[len(copies)-1].bytes)))
	}
	r.currentCall.sections = 0
	copies.load(r)
	run(r, a)
	last := len(f.Types) - 1
	if f.Types[last] != "MPI_Request *" {
		copies.store(r)
		return
	}
	_, x := r.request(a[last])
	if x.pending.copies = copies; x.pending.isComplete {
		copies.store(r)
	}
}

// sectionCopy is a contiguous copy of a section, in which an operation finds its buffer.
type sectionCopy struct {
	section       mpi.Buffer
	bytes, before []byte // before has the bytes when the copy and the section were last the same
	isResult      bool   // the operation writes it
}

type sectionCopies []*sectionCopy

// copySection returns memory for a copy of the section with a descriptor.
func (r *rank) copySection(at uintptr, isResult bool) *sectionCopy {
	s := arraySectionAt(at)
	n := s.bytes()
	base, _, t := r.placeInSection(at, n, mpi.Byte)
	low, end := mpi.Buffer{Count: 1, Type: t}.DataRange()
	return &sectionCopy{section: r.bufferInRange(base, low, end, 1, t), bytes: make([]byte, n), isResult: isResult}
}

// load copies the sections to the copies.
func (all sectionCopies) load(r *rank) {
	for _, c := range all {
		r.world.Pack(c.section, c.bytes, 0)
		c.before = append(c.before[:0], c.bytes...)
	}
}

// store copies what an operation has written to the sections. It leaves the other elements alone,
// which the program may have changed since.
func (all sectionCopies) store(r *rank) {
	for _, c := range all {
		if !c.isResult || slices.Equal(c.bytes, c.before) {
			continue
		}
		now := make([]byte, len(c.bytes))
		c.section.Pack(now, 0)
		for i, b := range c.bytes {
			if b != c.before[i] {
				now[i] = b
			}
		}
		r.world.Unpack(now, 0, c.section)
		copy(c.before, c.bytes)
	}
}
