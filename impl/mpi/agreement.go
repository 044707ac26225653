package mpi

import (
	"fmt"
	"runtime"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/reduction"
	"github.com/loggp/loggp/model/collective"
)

// What ranks have to agree upon who call a collective operation stands in the tags of its messages: which it is, how it combines, and the root. So ranks that
// differ find out, at no cost to others.

// tagOf returns the tag of an operation's messages. Those of communicators that are made have that of a barrier, 0.
func tagOf(o collective.Operation, s reduction.Sort, root int) int {
	return (root*int(reduction.Sorts)+int(s))*int(collective.NumOperations) + int(o)
}

// untag is the inverse.
func untag(tag int) (o collective.Operation, s reduction.Sort, root int) {
	const operations, sorts = int(collective.NumOperations), int(reduction.Sorts)
	return collective.Operation(tag % operations), reduction.Sort(tag / operations % sorts), tag / operations / sorts
}

// difference says how the call of a rank, who has a name, differs from ours, by their tags.
func difference(who string, theirs, ours int) (Class, string) {
	theirOperation, theirSort, theirRoot := untag(theirs)
	operation, sort, root := untag(ours)
	switch {
	case theirOperation != operation:
		return engine.ErrOther, fmt.Sprintf("%s is in %v, and this one in %v: all ranks call the same collective operations in the same order", who, theirOperation, operation)
	case theirRoot != root:
		return engine.ErrRoot, fmt.Sprintf("the root is %d at %s, and %d at this one", theirRoot, who, root)
	}
	return engine.ErrOp, fmt.Sprintf("%s combines by %v, and this one by %v", who, theirSort, sort)
}

// mismatch is difference for an engine that has found a message to be too long, or of another kind, in a call that expects a tag: the reason may be that the
// calls differ. It returns no class where they do not.
func (j *job) mismatch(rank int, context uint32, src, theirs, ours int) (Class, string) {
	if theirs == ours {
		return "", ""
	}
	return difference(j.named(rank, context, src), theirs, ours)
}

// named says who another rank of the job is to one that talks with it in a context.
func (j *job) named(rank int, context uint32, other int) string {
	return j.worlds[rank].own.named(other, context)
}

// together begins a collective operation whose messages have a tag. Of programs that are checked it notes where: as calls go together in their order, another
// rank's is then found by its number.
func (c *Comm) together(tag int) {
	c.e.Expect(tag)
	if c.own.calls != nil {
		c.own.calls.note(c, tag)
	}
}

// calls are the last collective calls of a rank, by the context of the communicator.
type calls map[uint32]*history

// history is the last calls on a communicator.
type history struct {
	n       int   // how many there were
	members []int // ranks of the job; nil: all
	last    []made
}

// made is a call, and the stack on which it was made, from the library down to the program. To find the line takes several times as long as to note that.
type made struct {
	call   string
	tag    int // of its messages
	on     [deep]uintptr
	frames int
}

// remembered is how many are kept: how far ranks may be apart for one to know of another's call. Deep is how many frames of the library there are at most, with
// the program's.
const remembered, deep = 32, 12

// note adds a call.
func (x calls) note(c *Comm, tag int) {
	h := x[c.context]
	if h == nil {
		h = &history{members: c.members}
		x[c.context] = h
	}
	if len(h.last) < remembered {
		h.last = append(h.last, made{})
	}
	m := &h.last[h.n%remembered]
	m.call, m.tag, m.frames = c.e.Call(), tag, runtime.Callers(2, m.on[:])
	h.n++
}

// beside returns the call of another rank that is to go with the last one of this, or none if it has not come so far, or has gone on too far.
func (x calls) beside(context uint32, other calls) engine.Place {
	mine, theirs := x[context], other[context]
	if mine == nil || theirs == nil || mine.n > theirs.n || theirs.n-mine.n >= remembered {
		return engine.Place{}
	}
	m := &theirs.last[(mine.n-1)%remembered]
	return engine.Place{Call: m.call, At: siteOf(m.on[:m.frames])}
}

// beside completes an error about ranks whose calls do not go together with where the other's was, if that is known.
func (j *job) beside(e *Error) {
	if e.Other == nil || j.worlds == nil {
		return
	}
	one, other := j.worlds[e.Rank], j.worlds[e.Other.Rank]
	if one != nil && other != nil {
		p := one.own.calls.beside(e.Context(), other.own.calls)
		e.Other.Call, e.Other.At = p.Call, p.At
	}
}
