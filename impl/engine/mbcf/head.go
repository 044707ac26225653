package mbcf

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// packetKind is the kind of a packet or of a FIFO entry.
type packetKind uint8

const (
	kindMessage        packetKind = iota + 1 // header and data: an entry of a message FIFO
	kindRequest                              // an entry of a request FIFO
	kindRemoteWrite                          // data or completion record of a remote write
	kindACK                                  // receiver to sender: a synchronous message sent by the FIFO has been matched
	kindDiscardMessage                       // sender to receiver: discard a message unless it has a receive
	kindDiscardRequest                       // receiver to sender: discard a request unless it is answered
	kindDiscardAnswer                        // whether it was discarded
	kindExit                                 // from the world: the program of a rank has ended
	kindQueueKeys                            // keys of a rank's queues
	kindPutEnded                             // from the port: a put has ended
	kindEntryEnded                           // from the port: an entry was accepted or refused
	kindRequestRefused                       // from the port: a request was refused
)

// head is the header of a packet or of an entry.
type head struct {
	kind        packetKind
	mode        model.Mode
	found       bool // of an answer: the message or request was discarded
	tag         int32
	context     uint32
	signature   engine.Signature
	serial      uint32 // of the message; of the request
	otherSerial uint32 // next request, or accepted message
	from        uint32 // operation of the sender
	to          uint32 // operation of the receiver, serial of a cancel, or index of a message's part
	size        int    // bytes of the message, or of the request's buffer
}

func (h *head) encode() device.Head {
	w := device.Head{uint64(h.kind) | uint64(h.mode)<<8 | uint64(uint32(h.tag))<<32, uint64(h.context) | uint64(h.signature)<<32,
		uint64(h.serial) | uint64(h.otherSerial)<<32, uint64(h.from) | uint64(h.to)<<32, uint64(h.size)}
	if h.found {
		w[0] |= 1 << 16
	}
	return w
}

func decodeHead(w *device.Head) head {
	return head{kind: packetKind(w[0]), mode: model.Mode(w[0] >> 8), found: w[0]>>16&1 == 1, tag: int32(w[0] >> 32), context: uint32(w[1]), signature: engine.Signature(w[1] >> 32),
		serial: uint32(w[2]), otherSerial: uint32(w[2] >> 32), from: uint32(w[3]), to: uint32(w[3] >> 32), size: int(w[4])}
}

// Describe returns the name of the kind of a packet, entry or put, and the other fields of its
// header, for traces.
func Describe(w device.Head) (name, detail string) {
	if w == device.NoCompletion {
		return "remote write", ""
	}
	switch h := decodeHead(&w); h.kind {
	case kindMessage:
		return "message", fmt.Sprintf("%v, tag %d, message %d, next request %d", h.mode, h.tag, h.serial, h.otherSerial)
	case kindRequest:
		return "request", fmt.Sprintf("tag %d, request %d, accepted message %d", h.tag, h.serial, h.otherSerial)
	case kindRemoteWrite:
		return "remote write", fmt.Sprintf("%v, tag %d", h.mode, h.tag)
	case kindPutEnded:
		return "remote write", ""
	case kindEntryEnded:
		return "message", fmt.Sprintf("entry %d", h.to+1)
	case kindRequestRefused:
		return "request", ""
	case kindDiscardAnswer:
		return "answer", map[bool]string{true: "cancelled", false: "too late"}[h.found]
	case kindACK, kindDiscardMessage, kindDiscardRequest, kindExit, kindQueueKeys:
		return map[packetKind]string{kindACK: "ACK", kindDiscardMessage: "cancel", kindDiscardRequest: "cancel", kindExit: "exit", kindQueueKeys: "queues"}[h.kind], ""
	}
	return "unknown", ""
}

// serialBefore reports whether serial a precedes b, with wrap-around.
func serialBefore(a, b uint32) bool { return int32(a-b) < 0 }
