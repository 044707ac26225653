package aclmpl

import (
	"encoding/binary"

	"github.com/loggp/loggp/impl/device"
)

// On the CM-5 the calls of ACLMPL are those of CMMD, the library of its vendor, by other names:
// messages are active messages, packets of 20 bytes that handlers of the receiver take in when it
// calls the library. Only Broadcast and Reduce are new. CMMD has its own, by the control network.
// Painter et al. 1995, section 4.4.

// ControlBroadcast is Broadcast by the control network of the machine, without messages. The source
// does not describe how CMMD uses it: here in words, as many at a time as the network takes.
func (e *PE) ControlBroadcast(b []byte) {
	e.enterCall("ControlBroadcast", noAwaitedPE)
	c := e.controlNetwork()
	var words [64]uint32
	var word [4]byte
	most := min(4*c.MaxWords(), 4*len(words))
	for len(b) > 0 {
		n := min(most, len(b))
		some := words[:(n+3)/4]
		if e.rank == 0 {
			for i := range some {
				word = [4]byte{}
				copy(word[:], b[4*i:n])
				some[i] = binary.LittleEndian.Uint32(word[:])
			}
		}
		c.Broadcast(0, some)
		for i := range some {
			binary.LittleEndian.PutUint32(word[:], some[i])
			copy(b[4*i:n], word[:])
		}
		b = b[n:]
	}
	e.leaveCall()
}

// ControlCombine combines a word of each PE by the control network, and returns the result at all
// of them.
func (e *PE) ControlCombine(op device.Combination, word uint32) uint32 {
	e.enterCall("ControlCombine", noAwaitedPE)
	word = e.controlNetwork().Combine(op, word)
	e.leaveCall()
	return word
}

// controlNetwork returns the control network.
func (e *PE) controlNetwork() device.Control {
	c := e.port.Control()
	if c == nil {
		e.failCall("the machine has no control network: use Broadcast or Reduce")
	}
	return c
}
