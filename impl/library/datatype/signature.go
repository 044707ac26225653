package datatype

import "math/bits"

// signature is the kinds of a sequence of elements, in order. The types of a send and of its
// receive have the same signature (MPI-1.2, §3.3.1).
//
// It is a tree, as the body is, and its sum depends on the sequence and not on the tree: the
// polynomial of the kinds
//
//	Σ kind(i)·base^(n−1−i)  mod 2^61 − 1
type signature struct {
	elements    int
	bytes       int
	sum         uint64
	power       uint64 // base^elements
	kind        Kind   // of all elements if there are no parts
	repetitions int    // of the parts in a row
	parts       []signature
}

// hashPrime is a Mersenne prime, and base any number below it.
const (
	hashPrime = 1<<61 - 1
	hashBase  = 0x123456789abcdef
)

func signatureOfElement(k Kind, size int) signature {
	return signature{elements: 1, bytes: size, sum: uint64(k), power: hashBase, kind: k, repetitions: 1}
}

// multiplyModulo returns a·b modulo the prime.
func multiplyModulo(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return addModulo(addModulo(low&hashPrime, 0), low>>61|high<<3)
}

// addModulo returns a+b modulo the prime.
func addModulo(a, b uint64) uint64 {
	s := a + b
	if s >= hashPrime {
		s -= hashPrime
	}
	return s
}

// repeated returns n in a row.
func (s signature) repeated(n int) signature {
	switch {
	case n == 0 || s.elements == 0:
		return signature{}
	case n == 1:
		return s
	}
	out := s.repeatedSums(n)
	if out.repetitions = n; s.parts == nil {
		out.kind, out.repetitions = s.kind, s.repetitions*n
	} else if out.parts = []signature{s}; s.repetitions == 1 {
		out.parts = s.parts
	}
	return out
}

// repeatedSums returns the sums of n in a row, by doubling.
func (s signature) repeatedSums(n int) signature {
	var out signature
	for twice := s.sumsOnly(); n > 0; n, twice = n>>1, twice.followedBy(twice) {
		if n&1 == 1 {
			out = out.followedBy(twice)
		}
	}
	return out
}

// sumsOnly returns the sums alone.
func (s signature) sumsOnly() signature {
	return signature{elements: s.elements, bytes: s.bytes, sum: s.sum, power: s.power}
}

// followedBy returns the sums of s and then t.
func (s signature) followedBy(t signature) signature {
	switch {
	case s.elements == 0:
		return t.sumsOnly()
	case t.elements == 0:
		return s.sumsOnly()
	}
	return signature{
		elements: s.elements + t.elements,
		bytes:    s.bytes + t.bytes,
		sum:      addModulo(multiplyModulo(s.sum, t.power), t.sum),
		power:    multiplyModulo(s.power, t.power),
	}
}

// joinSignatures returns signatures one after another.
func joinSignatures(parts []signature) signature {
	if len(parts) == 1 {
		return parts[0]
	}
	var out signature
	for _, p := range parts {
		out = out.followedBy(p)
	}
	out.repetitions, out.parts = 1, parts
	return out
}

// prefixOfBytes returns the sums of the elements that lie wholly in the first n bytes, where n is
// at most all.
func (s signature) prefixOfBytes(n int) signature {
	if n >= s.bytes {
		return s.sumsOnly()
	}
	each := s.withoutRepetition()
	whole := n / each.bytes
	out, rest := each.repeatedSums(whole), n-whole*each.bytes
	for _, p := range s.parts {
		out = out.followedBy(p.prefixOfBytes(rest))
		if rest -= p.bytes; rest <= 0 {
			break
		}
	}
	return out
}

// withoutRepetition returns what is there s.times.
func (s signature) withoutRepetition() signature {
	if s.parts != nil {
		var out signature
		for _, p := range s.parts {
			out = out.followedBy(p)
		}
		return out
	}
	return signatureOfElement(s.kind, s.bytes/s.elements)
}

// uniformKind returns the kind of all elements, or 0 if there are several or none.
func (s signature) uniformKind() Kind {
	if s.elements == 0 || s.parts == nil {
		return s.kind
	}
	k := s.parts[0].uniformKind()
	for _, p := range s.parts[1:] {
		if p.uniformKind() != k {
			return 0
		}
	}
	return k
}

// mixedSign marks signs of elements of several kinds.
const mixedSign = 1 << 31

// KindSign stands for the kinds of the first n bytes of the buffer's data in 32 bits: their kind if
// they have one, else what is left of Sum. A part of an element has its kind. The sign is 0 for no
// data, for Packed, and for Byte, which match all. Of Byte the standard does not say so, but
// programs rely on it.
func (b Buffer) KindSign(n int) uint32 {
	all := b.Type.kinds.repeated(b.Count).prefixOfBytes(n)
	switch first := b.Type.kinds.firstKind(); {
	case n == 0:
		return 0
	case all.sum == signatureOfElement(first, 1).repeatedSums(all.elements).sum:
		return signOfKind(first)
	}
	return uint32(all.sum^all.sum>>31) | mixedSign
}

// KindSign returns the sign of data of the type if it is all of one kind, else 0.
func (t *Type) KindSign() uint32 { return t.signOfKind }

func signOfKind(k Kind) uint32 {
	if k == KindPacked || k == KindByte {
		return 0
	}
	return uint32(k)
}

// firstKind returns the kind of the first element.
func (s signature) firstKind() Kind {
	for s.parts != nil {
		s = s.parts[0]
	}
	return s.kind
}

// DescribeKindSign says what a sign stands for.
func DescribeKindSign(sign uint32) string {
	if sign == 0 || int64(sign) > int64(len(basicTypes)) {
		return "elements of several kinds"
	}
	return basicTypes[sign-1].name
}

// basicTypes are the basic types in the order of their kinds.
var basicTypes = [...]*Type{Byte, Packed, Bool, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Float32, Float64, Complex64, Complex128,
	LongDouble, LongComplex, Float16, Float128, Complex32, Complex256, Int128}

// KindSum stands for the kinds of the first n bytes of the buffer's data: it is the same for the
// same kinds in the same order, and almost surely another for others.
func (b Buffer) KindSum(n int) uint64 { return b.Type.kinds.repeated(b.Count).prefixOfBytes(n).sum }

// Elements returns how many basic elements lie wholly in the first n bytes of the buffer's data
// (MPI_Get_elements).
func (b Buffer) Elements(n int) int { return b.Type.kinds.repeated(b.Count).prefixOfBytes(n).elements }

// ElementType returns the basic type of all elements of a type, or nil if they are of several
// kinds.
func (t *Type) ElementType() *Type {
	if k := t.kinds.uniformKind(); k != 0 {
		return basicTypes[k-1]
	}
	return nil
}

// Basic returns the kind of the elements of a basic type; ok is false for others.
func (t *Type) Basic() (k Kind, ok bool) {
	if t == nil || t.kinds.elements != 1 || t.name == "" {
		return 0, false
	}
	return t.kinds.kind, true
}
