package proto

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// Name returns what the head of an engine's packet says, for traces and recordings: the kind of the
// packet, and in words what else there is.
func Describe(words device.Head) (name, detail string) {
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
	case kindDone, kindDirectDone, kindData, kindPut, kindRest:
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
	case kindDirect:
		name = "message"
	case kindRefused:
		name = "refused"
	}
	if h.credit > 0 {
		if detail != "" {
			detail += ", "
		}
		detail += fmt.Sprintf("credit for %d bytes", h.credit)
	}
	return name, detail
}
