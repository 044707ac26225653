package proto

// Protocol is a way for a message to travel: what is done at each step. Steps that it does not have
// are nil.
type Protocol struct {
	Name        string
	Eager       bool // the first packet carries data: all of it, unless the protocol is Parted; it has been taken when Matched is called
	Parted      bool // the first packet carries Library.First bytes at most, and another the rest
	Synchronous bool // the sender goes on only after the receive has been found
	Forgets     bool // all is done when the first packet has left, and when its data has been taken: there is no Matched
	Remote      bool // reads or writes the other rank's memory: by packets where the machine cannot

	Start   func(e *Engine, s *op)              // at the sender: send the first packet
	Matched func(e *Engine, r *op, m *msg)      // at the receiver: the first packet has met its receive
	ACK     func(e *Engine, s *op, h head)      // at the sender
	FIN     func(e *Engine, r *op)              // at the receiver
	Rest    func(e *Engine, r *op, data []byte) // at the receiver: the data that did not go with the first packet
	Done    func(e *Engine, o *op)              // where a remote access was started: it has ended
	Cancel  func(e *Engine, s *op)              // at the sender: the message will not be received; give back what Start took
}

// Protocols is every protocol there is. Its order is part of the packets: a packet names a protocol
// by its place.
//
// Note: the steps of a protocol may not name this list, nor the protocol itself: Go would see an
// initialization cycle. An operation carries its protocol instead.
var Protocols = []*Protocol{T, TA, RTA, RAT, PTAT}

// row returns the place of a protocol in the table.
func (e *Engine) row(p *Protocol) uint8 {
	for i, q := range e.job.table {
		if p == q {
			return uint8(i)
		}
	}
	panic("proto: protocol is not in the table")
}
