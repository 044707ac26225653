package check

import (
	"fmt"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/reduction"
	"github.com/loggp/loggp/model/collective"
)

// EncodeTag returns the tag for messages of a collective operation. It encodes what ranks must
// agree on: operation, reduction and root. Ranks thus detect differing calls at no extra cost.
// Messages that create communicators have the tag of a barrier, 0.
func EncodeTag(o collective.Operation, s reduction.Identity, root int) int {
	return (root*int(reduction.NumIdentities)+int(s))*int(collective.NumOperations) + int(o)
}

// DecodeTag is the inverse of EncodeTag.
func DecodeTag(tag int) (o collective.Operation, s reduction.Identity, root int) {
	const operations, sorts = int(collective.NumOperations), int(reduction.NumIdentities)
	return collective.Operation(tag % operations), reduction.Identity(tag / operations % sorts), tag / operations / sorts
}

// DescribeDifference says how the collective call of the rank with a name differs from this rank's,
// given the tags of their messages.
func DescribeDifference(name string, theirs, ours int) (engine.ErrorClass, string) {
	theirOperation, theirSort, theirRoot := DecodeTag(theirs)
	operation, sort, root := DecodeTag(ours)
	switch {
	case theirOperation != operation:
		return engine.ErrOther, fmt.Sprintf("%s is in %v, and this one in %v: all ranks call the same collective operations in the same order", name, theirOperation, operation)
	case theirRoot != root:
		return engine.ErrRoot, fmt.Sprintf("the root is %d at %s, and %d at this one", theirRoot, name, root)
	}
	return engine.ErrOp, fmt.Sprintf("%s combines by %v, and this one by %v", name, theirSort, sort)
}

// CallHistory has the last collective calls of a rank, by context.
type CallHistory map[uint32]*commHistory

// commHistory has the last calls on a communicator.
type commHistory struct {
	callCount int   // of all calls, including forgotten ones
	members   []int // ranks of the job; nil: all
	lastCalls []collectiveCall
}

// collectiveCall is a collective call with the stack from the library to the program. Looking up
// the source line takes several times as long as recording the stack, so it is done only when
// needed.
type collectiveCall struct {
	name   string
	tag    int // tag of its messages
	stack  *engine.CallStack
	place  uintptr // instead of stack: where caller says that it was made
	caller engine.CallLocator
}

func (c *collectiveCall) resolvedSite() CallSite {
	if c.caller != nil {
		return c.caller.Site(c.place)
	}
	return SiteOf(c.stack.Frames())
}

// maxRememberedCalls is the number of calls that are kept: how far apart two ranks may be for one
// to find the other's call.
const maxRememberedCalls = 32

// Record adds a call on a communicator whose members are ranks of the job; nil: all. The call is
// located by caller or, if that is nil, by its stack.
func (x CallHistory) Record(context uint32, members []int, name string, tag int, caller engine.CallLocator, stack *engine.CallStack) {
	h := x[context]
	if h == nil {
		h = &commHistory{members: members}
		x[context] = h
	}
	if len(h.lastCalls) < maxRememberedCalls {
		h.lastCalls = append(h.lastCalls, collectiveCall{})
	}
	c := &h.lastCalls[h.callCount%maxRememberedCalls]
	c.name, c.tag, c.stack, c.caller = name, tag, stack, caller
	if caller != nil {
		c.name, c.place = caller.CurrentCall()
	}
	h.callCount++
}

// Counterpart returns the call of another rank that belongs to the last call of this rank. It
// returns none if the other rank has not made it yet, or has made too many calls since.
func (x CallHistory) Counterpart(context uint32, other CallHistory) engine.CallPlace {
	mine, theirs := x[context], other[context]
	if mine == nil || theirs == nil || mine.callCount > theirs.callCount || theirs.callCount-mine.callCount >= maxRememberedCalls {
		return engine.CallPlace{}
	}
	c := &theirs.lastCalls[(mine.callCount-1)%maxRememberedCalls]
	return engine.CallPlace{Call: c.name, Site: c.resolvedSite()}
}
