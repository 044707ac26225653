// Package match pairs posted receives and early messages in MPI's order.
//
// A rank keeps two queues: receives that wait for a message, and messages that arrived before their
// receive. An arrival on one side is looked up in the queue of the other side. The earliest entry
// that matches is the right one. This is MPI's rule that neither messages nor receives overtake
// each other, although a message with another tag may pass. The package handles envelopes and their
// order; its user decides what is queued and what happens to a pair.
package match

import "fmt"

// AnySourceOrTag in place of a source or tag matches every source or tag.
const AnySourceOrTag = -1

// Envelope has the fields by which messages are matched. A message has a source and a tag of its
// own; a receive may have AnySourceOrTag in place of either. There is no wildcard for the context.
type Envelope struct {
	Context     uint32
	Source, Tag int32
}

// Matches reports whether some message matches both envelopes: for a message and a receive, whether
// the receive may take the message; for two receives, whether they compete for some message.
func (x Envelope) Matches(y Envelope) bool {
	return x.Context == y.Context &&
		(x.Source == y.Source || x.Source == AnySourceOrTag || y.Source == AnySourceOrTag) &&
		(x.Tag == y.Tag || x.Tag == AnySourceOrTag || y.Tag == AnySourceOrTag)
}

// String returns the envelope for diagnostics.
func (x Envelope) String() string {
	return fmt.Sprintf("context %d, source %s, tag %s", x.Context, formatOrAny(x.Source), formatOrAny(x.Tag))
}

func formatOrAny(v int32) string {
	if v == AnySourceOrTag {
		return "any"
	}
	return fmt.Sprint(v)
}

// hasWildcard reports whether x has a wildcard.
func (x Envelope) hasWildcard() bool { return x.Source == AnySourceOrTag || x.Tag == AnySourceOrTag }

// mustBeValid panics if x is not a valid envelope.
func (x Envelope) mustBeValid() {
	if x.Tag < AnySourceOrTag {
		panic("match: negative tag")
	}
	if x.Source < AnySourceOrTag {
		panic("match: negative source")
	}
	if x.Context == anyContext {
		panic("match: wildcard context")
	}
}

// anyContext is AnySourceOrTag, converted to a context by mistake.
const anyContext = 1<<32 - 1
