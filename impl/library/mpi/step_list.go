package mpi

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/loggp/loggp/model/collective"
)

// stepList is a list of steps, encoded because each of a million ranks may have 40: a Step takes 72
// bytes, and its code a byte for kind and areas and a varint for each other field, most often 7 to
// 12 bytes.
type stepList struct {
	code  []byte
	first int // offset of the first step in code
	count int
}

// maxStepListBytes is the length from which a list is full. It limits the memory of a rank.
const maxStepListBytes = 1 << 10

func (l *stepList) isFull() bool { return len(l.code) >= maxStepListBytes }

// add appends a step to the list of one of several ranks. Most schedules have up to two steps for
// each bit of the number of ranks.
func (l *stepList) add(st *collective.Step, ranks int) {
	c := l.code
	if cap(c) == 0 {
		c = slices.Grow(c, 18*bits.Len(uint(ranks)))
	}
	posted := byte(0)
	if st.IsPosted {
		posted = 1
	}
	c = append(c, byte(st.Kind)|posted<<3|byte(st.Send.Area)<<4|byte(st.Recv.Area)<<6)
	for _, x := range [...]int{st.To + 1, st.From + 1, st.Send.Offset, st.Send.Bytes, st.Recv.Offset, st.Recv.Bytes} {
		c = binary.AppendUvarint(c, uint64(x))
	}
	l.code, l.count = c, l.count+1
}

// decodeFirst decodes the first step, and returns the offset of the step behind it.
func (l *stepList) decodeFirst(st *collective.Step) (end int) {
	b := l.code[l.first]
	st.Kind, st.IsPosted = collective.Kind(b&7), b>>3&1 != 0
	st.Send.Area, st.Recv.Area = collective.Area(b>>4&3), collective.Area(b>>6)
	end = l.first + 1
	for _, x := range [...]*int{&st.To, &st.From, &st.Send.Offset, &st.Send.Bytes, &st.Recv.Offset, &st.Recv.Bytes} {
		v, n := binary.Uvarint(l.code[end:])
		*x, end = int(v), end+n
	}
	st.To--
	st.From--
	return end
}

// clear removes all steps, and keeps the memory.
func (l *stepList) clear() { *l = stepList{code: l.code[:0]} }
