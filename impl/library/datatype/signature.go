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
	elements int
	bytes    int
	sum      uint64
	power    uint64 // base^elements
	kind     Kind   // of all elements if there are no parts
	times    int    // of the parts in a row
	parts    []signature
}

// prime is a Mersenne prime, and base any number below it.
const (
	prime = 1<<61 - 1
	base  = 0x123456789abcdef
)

func one(k Kind, size int) signature {
	return signature{elements: 1, bytes: size, sum: uint64(k), power: base, kind: k, times: 1}
}

// mulmod returns a·b modulo the prime.
func mulmod(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return addmod(addmod(low&prime, 0), low>>61|high<<3)
}

// addmod returns a+b modulo the prime.
func addmod(a, b uint64) uint64 {
	s := a + b
	if s >= prime {
		s -= prime
	}
	return s
}

// repeat returns n in a row.
func (s signature) repeat(n int) signature {
	switch {
	case n == 0 || s.elements == 0:
		return signature{}
	case n == 1:
		return s
	}
	out := s.sums(n)
	if out.times = n; s.parts == nil {
		out.kind, out.times = s.kind, s.times*n
	} else if out.parts = []signature{s}; s.times == 1 {
		out.parts = s.parts
	}
	return out
}

// sums returns the sums of n in a row, by doubling.
func (s signature) sums(n int) signature {
	var out signature
	for twice := s.bare(); n > 0; n, twice = n>>1, twice.then(twice) {
		if n&1 == 1 {
			out = out.then(twice)
		}
	}
	return out
}

// bare returns the sums alone.
func (s signature) bare() signature {
	return signature{elements: s.elements, bytes: s.bytes, sum: s.sum, power: s.power}
}

// then returns the sums of s and then t.
func (s signature) then(t signature) signature {
	switch {
	case s.elements == 0:
		return t.bare()
	case t.elements == 0:
		return s.bare()
	}
	return signature{
		elements: s.elements + t.elements,
		bytes:    s.bytes + t.bytes,
		sum:      addmod(mulmod(s.sum, t.power), t.sum),
		power:    mulmod(s.power, t.power),
	}
}

// sequence returns signatures one after another.
func sequence(parts []signature) signature {
	if len(parts) == 1 {
		return parts[0]
	}
	var out signature
	for _, p := range parts {
		out = out.then(p)
	}
	out.times, out.parts = 1, parts
	return out
}

// upTo returns the sums of the elements that lie wholly in the first n bytes, where n is at most
// all.
func (s signature) upTo(n int) signature {
	if n >= s.bytes {
		return s.bare()
	}
	each := s.each()
	whole := n / each.bytes
	out, rest := each.sums(whole), n-whole*each.bytes
	for _, p := range s.parts {
		out = out.then(p.upTo(rest))
		if rest -= p.bytes; rest <= 0 {
			break
		}
	}
	return out
}

// each returns what is there s.times.
func (s signature) each() signature {
	if s.parts != nil {
		var out signature
		for _, p := range s.parts {
			out = out.then(p)
		}
		return out
	}
	return one(s.kind, s.bytes/s.elements)
}

// uniform returns the kind of all elements, or 0 if there are several or none.
func (s signature) uniform() Kind {
	if s.elements == 0 || s.parts == nil {
		return s.kind
	}
	k := s.parts[0].uniform()
	for _, p := range s.parts[1:] {
		if p.uniform() != k {
			return 0
		}
	}
	return k
}

// mixed marks signs of elements of several kinds.
const mixed = 1 << 31

// Sign stands for the kinds of the first n bytes of the buffer's data in 32 bits: their kind if
// they have one, else what is left of Sum. It is 0 for no data, for Packed, and for Byte, which
// match all. Of Byte the standard does not say so, but programs rely on it.
func (b Buffer) Sign(n int) uint32 {
	all := b.Type.kinds.repeat(b.Count).upTo(n)
	switch first := b.Type.kinds.first(); {
	case all.elements == 0:
		return 0
	case all.sum == one(first, 1).sums(all.elements).sum:
		return signOf(first)
	}
	return uint32(all.sum^all.sum>>31) | mixed
}

// Sign returns the sign of data of the type if it is all of one kind, else 0.
func (t *Type) Sign() uint32 { return t.sign }

func signOf(k Kind) uint32 {
	if k == KindPacked || k == KindByte {
		return 0
	}
	return uint32(k)
}

// first returns the kind of the first element.
func (s signature) first() Kind {
	for s.parts != nil {
		s = s.parts[0]
	}
	return s.kind
}

// Signed says what a sign stands for.
func Signed(sign uint32) string {
	if sign == 0 || int64(sign) > int64(len(basics)) {
		return "elements of several kinds"
	}
	return basics[sign-1].name
}

// basics are the basic types in the order of their kinds.
var basics = [...]*Type{Byte, Packed, Bool, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Float32, Float64, Complex64, Complex128, LongDouble}

// Sum stands for the kinds of the first n bytes of the buffer's data: it is the same for the same
// kinds in the same order, and almost surely another for others.
func (b Buffer) Sum(n int) uint64 { return b.Type.kinds.repeat(b.Count).upTo(n).sum }

// Elements returns how many basic elements lie wholly in the first n bytes of the buffer's data
// (MPI_Get_elements).
func (b Buffer) Elements(n int) int { return b.Type.kinds.repeat(b.Count).upTo(n).elements }

// Basic returns the kind of the elements of a basic type; ok is false for others.
func (t *Type) Basic() (k Kind, ok bool) {
	if t == nil || t.kinds.elements != 1 || t.name == "" {
		return 0, false
	}
	return t.kinds.kind, true
}
