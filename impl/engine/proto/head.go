package proto

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// packetKind is the kind of a packet.
type packetKind uint8

const (
	kindFirst         packetKind = iota + 1 // RM or R: the first packet of a message
	kindACK                                 // receiver to sender: matched, or received
	kindFinished                            // sender to receiver: the data has been written (FIN)
	kindAccessDone                          // from the machine: a remote access has ended
	kindCredit                              // only credit
	kindLowLevel                            // a low-level message
	kindLowLevelDone                        // from the machine: a low-level remote access has ended
	kindGetRequest                          // requests bytes of exposed memory, if the machine cannot read it
	kindGetData                             // the requested bytes
	kindPut                                 // bytes for exposed memory, if the machine cannot write it
	kindRemainder                           // sender to receiver: the rest of the data
	kindCancel                              // sender to receiver: discard the message, if it is unexpected
	kindCancelAnswer                        // receiver to sender: whether the message was discarded
	kindPeerExit                            // from the world: the program of a rank has ended
	kindAccessRefused                       // the memory of a get or put is not exposed
)

// head is the engine's content of a packet's head.
type head struct {
	kind     packetKind
	protocol uint8 // index in Protocols
	mode     model.Mode
	tag      int32
	context  uint32
	credit   uint32 // bytes of the window
	size     int    // bytes of the message, or of an access
	from, to uint32 // operations of the packet's sender and receiver; in a first packet, to is the signature of the data
	key      device.Key
}

func (h *head) encode(w *device.Head) {
	w[0] = uint64(h.kind) | uint64(h.protocol)<<8 | uint64(h.mode)<<16 | uint64(uint32(h.tag))<<32
	w[1] = uint64(h.context) | uint64(h.credit)<<32
	w[2] = uint64(h.size)
	w[3] = uint64(h.from) | uint64(h.to)<<32
	w[4] = uint64(h.key)
}

func (h *head) decode(w *device.Head) {
	h.kind, h.protocol, h.mode, h.tag = packetKind(w[0]), uint8(w[0]>>8), model.Mode(w[0]>>16), int32(w[0]>>32)
	h.context, h.credit = uint32(w[1]), uint32(w[1]>>32)
	h.size = int(w[2])
	h.from, h.to = uint32(w[3]), uint32(w[3]>>32)
	h.key = device.Key(w[4])
}

// Most packets are first packets. For speed, fields of their heads are read and written in place: a
// separate head would go through memory twice.
func kindOf(w *device.Head) packetKind   { return packetKind(w[0]) }
func creditOf(w *device.Head) uint32     { return uint32(w[1] >> 32) }
func setCredit(w *device.Head, n uint32) { w[1] = w[1]&(1<<32-1) | uint64(n)<<32 }

// setFirst writes the head of a first packet, without credit and key.
func setFirst(w *device.Head, protocol uint8, mode model.Mode, tag int32, context uint32, size int, from uint32, sign engine.Signature) {
	w[0] = uint64(kindFirst) | uint64(protocol)<<8 | uint64(mode)<<16 | uint64(uint32(tag))<<32
	w[1] = uint64(context)
	w[2] = uint64(size)
	w[3] = uint64(from) | uint64(sign)<<32
	w[4] = 0
}

// setOffset sets the offset of an access in exposed memory. Packets of accesses have neither tag
// nor context.
func (h *head) setOffset(off int) { h.tag, h.context = int32(off), uint32(off>>32) }

func (h *head) offset() int { return int(uint64(uint32(h.tag)) | uint64(h.context)<<32) }

// words encodes h as a packet's head.
func (h *head) words() (w device.Head) {
	h.encode(&w)
	return w
}

// Describe returns the name of a packet's kind and the other contents of its head, for traces and
// recordings.
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
	case kindFinished:
		name = "FIN"
	case kindAccessDone, kindLowLevelDone, kindGetData, kindPut, kindRemainder:
		name = "M"
	case kindGetRequest:
		name, detail = "get", fmt.Sprintf("%d bytes", h.size)
	case kindCredit:
		name = "credit"
	case kindCancel:
		name = "cancel"
	case kindCancelAnswer:
		name, detail = "answer", "too late"
		if h.size > 0 {
			detail = "cancelled"
		}
	case kindPeerExit:
		name = "end"
	case kindLowLevel:
		name = "message"
	case kindAccessRefused:
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
