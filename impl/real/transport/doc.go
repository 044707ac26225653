// Package transport holds what the ports of real transports share: the part of a port that does not
// depend on how packets travel (Base), packets in the rank's own memory (Buffer, Pool, Inbox), and
// deadlock detection from the ranks' progress reports (Progress).
//
// A transport embeds Base and Inbox in its port and adds Send, Recv and the other calls that move
// bytes. Everything here belongs to one rank and is used by that rank's goroutine alone.
package transport
