package datatype

import "fmt"

// Contiguous makes a type of count elements of t one after another (MPI_Type_contiguous).
func Contiguous(count int, t *Type) (*Type, error) { return Vector(1, count, count, t) }

// Vector makes a type of count blocks of length elements each, whose beginnings are stride extents
// of t apart (MPI_Type_vector).
func Vector(count, length, stride int, t *Type) (*Type, error) {
	apart, err := multiplyChecked(stride, t.extent())
	if err != nil {
		return nil, err
	}
	return Hvector(count, length, apart, t)
}

// Hvector is Vector with the stride in bytes (MPI_Type_hvector).
func Hvector(count, length, stride int, t *Type) (*Type, error) {
	if count < 0 || length < 0 {
		return nil, fmt.Errorf("%d blocks of %d elements: counts are not negative", count, length)
	}
	block, err := t.layout.repeated(length, t.extent())
	if err != nil {
		return nil, err
	}
	return newDerived(block.repeated(count, stride))
}

// Indexed makes a type of blocks of lengths[i] elements at displacements of offsets[i] extents of t
// (MPI_Type_indexed).
func Indexed(lengths, offsets []int, t *Type) (*Type, error) {
	bytes := make([]int, len(offsets))
	for i, x := range offsets {
		var err error
		if bytes[i], err = multiplyChecked(x, t.extent()); err != nil {
			return nil, err
		}
	}
	return Hindexed(lengths, bytes, t)
}

// Hindexed is Indexed with displacements in bytes (MPI_Type_hindexed).
func Hindexed(lengths, offsets []int, t *Type) (*Type, error) {
	types := make([]*Type, len(lengths))
	for i := range types {
		types[i] = t
	}
	return Struct(lengths, offsets, types)
}

// Struct makes a type of blocks, each of lengths[i] elements of types[i] at displacement offsets[i]
// in bytes (MPI_Type_struct).
func Struct(lengths, offsets []int, types []*Type) (*Type, error) {
	if len(lengths) != len(offsets) || len(lengths) != len(types) {
		return nil, fmt.Errorf("%d lengths, %d displacements and %d types: there is one of each for a block", len(lengths), len(offsets), len(types))
	}
	blocks := make([]layout, len(types))
	for i, t := range types {
		if lengths[i] < 0 {
			return nil, fmt.Errorf("block %d has %d elements: counts are not negative", i, lengths[i])
		}
		if lengths[i] == 0 {
			continue // wherever that would be
		}
		block, err := t.layout.repeated(lengths[i], t.extent())
		if err == nil {
			blocks[i], err = block.shifted(offsets[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return newDerived(joinLayouts(blocks))
}

// Resized makes a type of the data of t with another lower bound and extent, which LB and UB in t
// do not change (MPI_Type_create_resized).
func Resized(t *Type, lower, extent int) (*Type, error) {
	if abs(lower) > maxDisplacement || abs(extent) > maxDisplacement {
		return nil, errTooLarge
	}
	l := t.layout
	l.explicitLowerBound, l.explicitUpperBound = optionalBound{true, lower}, optionalBound{true, lower + extent}
	return newDerived(l, nil)
}

func newDerived(l layout, err error) (*Type, error) {
	if err != nil {
		return nil, err
	}
	return newType("", l), nil
}

// repeated returns n of a layout, their beginnings stride bytes apart.
func (l layout) repeated(n, stride int) (layout, error) {
	if n == 0 || l.isEmpty() {
		return layout{}, nil
	}
	far, err := multiplyChecked(n-1, stride)
	if err != nil {
		return l, err
	}
	if _, err := multiplyChecked(n, max(l.body.countBytes(), l.kinds.elements)); err != nil {
		return l, err
	}
	down, up := min(far, 0), max(far, 0)
	l.low, l.end = l.low+down, l.end+up
	l.explicitLowerBound.displacement += down
	l.explicitUpperBound.displacement += up
	l.kinds = l.kinds.repeated(n)
	l.body = newLoop(n, stride, l.body)
	return l, l.check()
}

// shifted returns a layout moved by some bytes.
func (l layout) shifted(by int) (layout, error) {
	if abs(by) > maxDisplacement {
		return l, errTooLarge
	}
	if l.isEmpty() {
		return l, nil
	}
	l.low, l.end = l.low+by, l.end+by
	l.explicitLowerBound.displacement += by
	l.explicitUpperBound.displacement += by
	l.body = l.body.shifted(by)
	return l, l.check()
}

// joinLayouts returns one layout of several, with their elements in that order.
func joinLayouts(blocks []layout) (layout, error) {
	var all layout
	var bodies []*dataNode
	var kinds []signature
	for _, b := range blocks {
		all.explicitLowerBound = all.explicitLowerBound.combinedWith(b.explicitLowerBound, func(a, b int) int { return min(a, b) })
		all.explicitUpperBound = all.explicitUpperBound.combinedWith(b.explicitUpperBound, func(a, b int) int { return max(a, b) })
		if b.body == nil {
			continue
		}
		if bodies == nil {
			all.low, all.end = b.low, b.end
		}
		all.low, all.end, all.align = min(all.low, b.low), max(all.end, b.end), max(all.align, b.align)
		bodies, kinds = append(bodies, b.body), append(kinds, b.kinds)
	}
	size := 0
	for _, n := range bodies {
		if size += n.size; size > maxDisplacement {
			return all, errTooLarge
		}
	}
	all.body, all.kinds = newList(bodies), joinSignatures(kinds)
	return all, all.check()
}

// combinedWith returns the one of two bounds that there is, or what choose makes of both.
func (a optionalBound) combinedWith(b optionalBound, choose func(a, b int) int) optionalBound {
	switch {
	case !b.isSet:
		return a
	case !a.isSet:
		return b
	}
	return optionalBound{true, choose(a.displacement, b.displacement)}
}

// check returns an error for what is too large to compute with.
func (l *layout) check() error {
	for _, x := range []int{l.low, l.end, l.explicitLowerBound.displacement, l.explicitUpperBound.displacement, l.body.countBytes(), l.kinds.elements} {
		if abs(x) > maxDisplacement {
			return errTooLarge
		}
	}
	return nil
}
