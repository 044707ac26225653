// Package match matches posted receives and unexpected messages in MPI's order.
//
// A rank keeps two Queues: posted receives, and messages that arrived before their receive. An
// arrived message is looked up among the receives, and a new receive among the messages
// (Queue.Match). The earliest entry with a matching Envelope is the right one. This implements
// MPI's rule that neither messages nor receives overtake each other, although a message with
// another tag may pass. The package handles envelopes and their order; its user decides what is
// queued and what happens to a pair.
package match

import "fmt"

// AnySourceOrTag matches every source or every tag.
const AnySourceOrTag = -1

// Envelope has the fields by which messages are matched. A receive may have AnySourceOrTag as
// source or tag. There is no wildcard for the context.
type Envelope struct {
	Context     uint32
	Source, Tag int32
}

// Matches reports whether some message matches both envelopes. For a message and a receive, this
// says whether the receive may take the message; for two receives, whether they compete for a
// message.
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

// mustBeValid panics if x is invalid.
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

// anyContext is AnySourceOrTag converted to a context by mistake.
const anyContext = 1<<32 - 1
