package proto

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// Tell puts into words what the head of an engine's packet says, for those who read traces.
func Tell(words [device.Words]uint64) string {
	name, detail, credit := say(words)
	if detail != "" {
		name += " (" + detail + ")"
	}
	if credit > 0 {
		name += fmt.Sprintf(" +%d", credit)
	}
	return name
}

// Name returns the kind of an engine's packet and, in other words, what else its head says.
func Name(words [device.Words]uint64) (name, detail string) {
	name, detail, credit := say(words)
	switch {
	case credit == 0:
		return name, detail
	case detail != "":
		detail += ", "
	}
	return name, detail + fmt.Sprintf("credit for %d bytes", credit)
}

// say returns what both say: the kind, what there is to say of it, and the credit that goes with it.
func say(words [device.Words]uint64) (name, detail string, credit uint32) {
	var h head
	h.decode(&words)
	name = "unknown"
	switch h.kind {
	case kindFirst:
		p := Protocols[h.protocol]
		name = "R"
		if p.Eager {
			name = "RM"
		}
		detail = fmt.Sprintf("%s, %v, tag %d, %d bytes", p.Name, h.mode, h.tag, h.size)
	case kindACK:
		name = "ACK"
	case kindFIN:
		name = "FIN"
	case kindDone, kindRawDone, kindData, kindPut, kindRest:
		name = "M"
	case kindGet:
		name, detail = "get", fmt.Sprintf("%d bytes", h.size)
	case kindCredit:
		name = "credit"
	case kindCancel:
		name = "cancel"
	case kindAnswer:
		name, detail = "answer", "too late"
		if h.size > 0 {
			detail = "cancelled"
		}
	case kindGone:
		name = "end"
	case kindRaw:
		name = "message"
	}
	return name, detail, h.credit
}
