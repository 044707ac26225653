// Package transport is what ports of real transports have in common: the part of a port that does
// not depend on how packets travel (Base), packets in the rank's own memory (Buffer, Pool, Inbox),
// and how a deadlock is found from what ranks report of themselves (Progress).
//
// A transport embeds Base and Inbox in its port and adds Send, Recv and what else moves bytes.
// Everything here belongs to one rank and is used by that rank's goroutine alone.
package transport
