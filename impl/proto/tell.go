package proto

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// Tell puts into words what the head of an engine's packet says, for those who read traces.
func Tell(words [device.Words]uint64) string {
	var h head
	h.decode(&words)
	s := "unknown"
	switch h.kind {
	case kindFirst:
		p := Protocols[h.protocol]
		s = "R"
		if p.Eager {
			s = "RM"
		}
		s += fmt.Sprintf(" (%s, %v, tag %d, %d bytes)", p.Name, h.mode, h.tag, h.size)
	case kindACK:
		s = "ACK"
	case kindFIN:
		s = "FIN"
	case kindDone, kindRawDone, kindData, kindPut, kindRest:
		s = "M"
	case kindGet:
		s = fmt.Sprintf("get of %d bytes", h.size)
	case kindCredit:
		s = "credit"
	case kindRaw:
		s = "message"
	}
	if h.credit > 0 {
		s += fmt.Sprintf(" +%d", h.credit)
	}
	return s
}
