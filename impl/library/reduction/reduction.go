// Package reduction has the operations by which values of several ranks become one: those of MPI,
// and a user's.
//
// An operation takes elements of two ranks, in and inout, and leaves in ∘ inout in the second
// (MPI-1.2, §4.9.4). All are associative, as far as rounding goes; in is what stands left, so that
// an operation which does not commute can be carried out in the order of ranks.
package reduction

import (
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/loggp/loggp/impl/library/datatype"
)

// Op is an operation. The nil Op is none.
type Op struct {
	name         string
	identity     Identity
	commutes     bool
	kinds        [datatype.NumKinds]combineElements // by the kind of element; nil: not for these
	pairs        map[*datatype.Type]combineElements
	userFunction UserFunction
	freed        atomic.Bool
}

// combineElements combines all elements of in with those of inout.
type combineElements func(in, inout []byte)

// UserFunction is an operation of a user's: it combines count elements of a type, which lie in
// memory as the type says, displacement 0 of the first at the beginning of each slice, or where the
// origin of a buffer would be.
type UserFunction func(in, inout datatype.Buffer)

// New makes an operation of a function (MPI_Op_create). commutes says that a ∘ b is b ∘ a: then the
// order of ranks need not be kept.
func New(f UserFunction, commutes bool) *Op {
	o := &Op{name: "user's", identity: userDefined, commutes: commutes, userFunction: f}
	if commutes {
		o.identity = userDefinedCommutative
	}
	return o
}

// Free ends the use of an operation (MPI_Op_free): one that is under way goes on, the next is an
// error. One of MPI's cannot be freed.
func (o *Op) Free() error {
	if o.userFunction == nil {
		return fmt.Errorf("%v is no operation that was made", o)
	}
	o.freed.Store(true)
	return nil
}

// Commutes reports whether operands may be exchanged.
func (o *Op) Commutes() bool { return o.commutes }

// IsUserFunction reports whether a function of the program combines the elements.
func (o *Op) IsUserFunction() bool { return o.userFunction != nil }

// String returns the name of the operation.
func (o *Op) String() string {
	if o == nil {
		return "no operation"
	}
	return o.name
}

// Identity is what ranks can know of each other's operations: which of MPI's one is, or that it is
// a user's, and whether that commutes. That of none is 0.
type Identity uint8

// NumIdentities is how many there are.
const NumIdentities = Identity(len(identityNames))

const (
	userDefined Identity = iota + 1
	userDefinedCommutative
)

var identityNames = [...]string{"no operation", "a user's operation", "a user's operation that commutes",
	"Max", "Min", "Sum", "Prod", "Land", "Lor", "Lxor", "Band", "Bor", "Bxor", "MaxLoc", "MinLoc"}

// String returns the name of the operation, or what it is.
func (s Identity) String() string { return identityNames[s] }

// identityOf returns the sort of an operation of MPI's.
func identityOf(name string) Identity {
	i := slices.Index(identityNames[userDefinedCommutative+1:], name)
	if i < 0 {
		panic("reduction: no sort has the name " + name)
	}
	return userDefinedCommutative + 1 + Identity(i)
}

// Identity returns that of the operation.
func (o *Op) Identity() Identity {
	if o == nil {
		return 0
	}
	return o.identity
}

// IsLogicalOfFloats reports whether the operation is a logical one, and elements of the type are
// floating-point numbers. The standard has no such operations, but MPICH and SMPI carry them out,
// with zero as false.
func (o *Op) IsLogicalOfFloats(t *datatype.Type) bool {
	switch k, _ := t.Basic(); k {
	case datatype.KindFloat16, datatype.KindFloat32, datatype.KindFloat64, datatype.KindLongDouble, datatype.KindFloat128:
		return o == Land || o == Lor || o == Lxor
	}
	return false
}

// Check returns an error if the operation is not for elements of the type. Logical operations are
// also for Float32 and Float64.
func (o *Op) Check(t *datatype.Type) error {
	switch {
	case o == nil:
		return fmt.Errorf("there is no operation")
	case o.freed.Load():
		return fmt.Errorf("the operation was freed")
	case o.userFunction == nil && o.combinerOf(t) == nil:
		return fmt.Errorf("%v is not for elements of %v", o, t)
	}
	return nil
}

// combinerOf returns how elements of a type are combined, or nil.
func (o *Op) combinerOf(t *datatype.Type) combineElements {
	if k, ok := t.Basic(); ok {
		return o.kinds[k]
	}
	return o.pairs[t]
}

// Apply leaves in ∘ inout in inout. Both are buffers of as many elements of one type, for which the
// operation is.
func (o *Op) Apply(in, inout datatype.Buffer) {
	if o.userFunction != nil {
		o.userFunction(in, inout)
		return
	}
	n := inout.Count * inout.Type.Extent()
	o.combinerOf(inout.Type)(in.Bytes[in.Origin:in.Origin+n], inout.Bytes[inout.Origin:inout.Origin+n])
}

// FlatCombiner returns what leaves in ∘ inout in inout, of elements that lie as they travel, and
// nil if those of the type do not, or the operation is a user's.
func (o *Op) FlatCombiner(t *datatype.Type) func(in, inout []byte) {
	if o.userFunction != nil || !t.IsContiguous() {
		return nil
	}
	return o.combinerOf(t)
}

// elementsOf returns bytes as elements.
func elementsOf[T any](b []byte) []T {
	var x T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(x)))
}
