package proto

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// packetKind says what a packet is.
type packetKind uint8

const (
	kindFirst         packetKind = iota + 1 // RM or R: the first packet of a message
	kindACK                                 // receiver to sender: matched, or received
	kindFinished                            // sender to receiver: the data is there
	kindAccessDone                          // from the machine: a remote access has ended
	kindCredit                              // nothing but credit
	kindLowLevel                            // a low-level message
	kindLowLevelDone                        // from the machine: a low-level remote access has ended
	kindGetRequest                          // asks for bytes of exposed memory, where the machine cannot read it
	kindGetData                             // the bytes
	kindPut                                 // bytes for exposed memory, where the machine cannot write it
	kindRemainder                           // sender to receiver: the rest of the data
	kindCancel                              // sender to receiver: take the message out, if it has no receive
	kindCancelAnswer                        // receiver to sender: it is out, or was not there
	kindPeerExit                            // from the world: the program of a rank has ended
	kindAccessRefused                       // the bytes that were asked for or put are not exposed
)

// head is what the engine writes into a packet's head.
type head struct {
	kind     packetKind
	protocol uint8 // row of the table
	mode     model.Mode
	tag      int32
	context  uint32
	credit   uint32 // bytes of the window that are given back
	size     int    // bytes of the message, or of an access
	from, to uint32 // the operations of the packet's sender and receiver; in a first packet, to is the data's signature
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

// Most packets are the first of a message. For their sake parts of a packet's head are read and
// written where they are: a head of its own goes through memory twice.
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

// setOffset notes where in exposed memory an access begins. Such packets have neither tag nor
// context.
func (h *head) setOffset(off int) { h.tag, h.context = int32(off), uint32(off>>32) }

func (h *head) offset() int { return int(uint64(uint32(h.tag)) | uint64(h.context)<<32) }

// words returns h as a packet's head.
func (h *head) words() (w device.Head) {
	h.encode(&w)
	return w
}

// Describe returns what the head of an engine's packet says, for traces and recordings: the kind of
// the packet, and in words what else there is.
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
