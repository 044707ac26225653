package start

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// packetKind is the kind of a packet.
type packetKind uint8

const (
	kindShort packetKind = iota + 1
	kindRequest
	kindClearToSend
	kindConnect
	kindGrant
	kindBlock
	kindACK
	kindCancel
	kindCancelAnswer
	kindExit
	kindPutDone // the completion of a put, from the port
)

// headBytes is the length of a head.
const headBytes = 8 * len(device.Head{})

// head is a packet's header.
type head struct {
	kind      packetKind
	mode      model.Mode
	found     bool // of an answer: the message was removed
	tag       int32
	context   uint32
	signature engine.Signature
	from      uint32 // operation of the sender
	to        uint32 // operation of the receiver of the packet; serial of a cancel; index of the block of a put
	key       device.Key
	size      int // of the message, the transfer that is granted, or the block
}

func (h *head) encode() device.Head {
	w := device.Head{uint64(h.kind) | uint64(h.mode)<<8 | uint64(uint32(h.tag))<<32, uint64(h.context) | uint64(h.signature)<<32,
		uint64(h.from) | uint64(h.to)<<32, uint64(h.key), uint64(h.size)}
	if h.found {
		w[0] |= 1 << 16
	}
	return w
}

func decodeHead(w *device.Head) head {
	return head{kind: packetKind(w[0]), mode: model.Mode(w[0] >> 8), found: w[0]>>16&1 == 1, tag: int32(w[0] >> 32), context: uint32(w[1]), signature: engine.Signature(w[1] >> 32),
		from: uint32(w[2]), to: uint32(w[2] >> 32), key: device.Key(w[3]), size: int(w[4])}
}

// Describe returns the name of a packet's kind, and the rest of its header for people.
func Describe(w device.Head) (name, detail string) {
	switch h := decodeHead(&w); h.kind {
	case kindShort:
		return "short", fmt.Sprintf("%v, tag %d", h.mode, h.tag)
	case kindRequest:
		return "request", fmt.Sprintf("%v, tag %d, %d bytes", h.mode, h.tag, h.size)
	case kindGrant:
		return "grant", fmt.Sprintf("%d bytes", h.size)
	case kindBlock:
		return "block", fmt.Sprintf("%d bytes", h.size)
	case kindCancelAnswer:
		return "answer", map[bool]string{true: "cancelled", false: "too late"}[h.found]
	case kindClearToSend, kindConnect, kindACK, kindCancel, kindExit, kindPutDone:
		return map[packetKind]string{kindClearToSend: "clear to send", kindConnect: "connect", kindACK: "ACK", kindCancel: "cancel", kindExit: "exit", kindPutDone: "put"}[h.kind], ""
	}
	return "unknown", ""
}
