package start

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// packetKind is the kind of a packet:
//
//	short    → header and data of a short message
//	request  → a long message: has it been matched?
//	clear    ← yes
//	connect  → may a transfer by RDMA start?
//	grant    ← yes: its length and address; the interface serves no other transfer
//	block    → a block of the data, or the notice that one is in the receiver's pinned memory
//	ack      ← a synchronous short message has been matched
//	cancel   → remove the message, if it is unexpected
//	answer   ← whether it was removed
//	exit       from the world: the program of a rank has ended
//
// Request and clear belong to the protocol layer. Connect and grant belong to the channel below it,
// which transfers arrays of bytes and does not know messages.
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

// headBytes is the length of a head in bytes.
const headBytes = 8 * len(device.Head{})

// head is a packet's header.
type head struct {
	kind      packetKind
	mode      model.Mode
	found     bool // for an answer: the message was removed
	tag       int32
	context   uint32
	signature engine.Signature
	from      uint32 // operation of the sender of the packet
	to        uint32 // operation of the receiver of the packet, serial of a cancel, or index of a put's block
	key       device.Key
	size      int // bytes of the message, of the granted transfer, or of the block
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

// Describe returns the name of a packet's kind and the other fields of its header, for traces.
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
