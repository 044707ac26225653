package mpi

import (
	"encoding/binary"

	"github.com/loggp/loggp/impl/library/reduction"
)

// This file has the format of requests: messages with tag 0, from the rank that accesses memory to
// the rank whose memory it is. A request has a layout of the memory and data behind its header if
// they are short. Otherwise they follow as messages with tags of the request's own, and a reply has
// such a tag, too.

// requestKind is what a request asks for.
type requestKind uint8

const (
	putRequest requestKind = iota + 1
	getRequest
	accumulateRequest
	getAccumulateRequest
	compareRequest
	lockRequest
	unlockRequest
	registerFreeRequest // the lock may be free, which is in a register
	flushRequest
	postRequest     // from the rank whose memory it is: it is exposed
	completeRequest // of all accesses since Start
)

// Flags of requests.
const (
	exclusiveFlag uint8 = 1 << iota // of a lock
	replyFlag                       // the lock is to be confirmed
	fenceFlag                       // the access is between two fences
	oddFenceFlag                    // whose number is odd
	layoutFlag
	dataFlag
)

// requestHeader is the header of a request.
type requestHeader struct {
	kind        requestKind
	op          uint8 // index in accumulateOps
	element     uint8 // index in accumulateTypes
	flags       uint8
	serial      uint32 // of the rank's requests: tags come from it
	offset      int    // in the window, in bytes; of a dynamic one, the address
	size        int    // of the memory's data, as it travels
	layoutBytes int    // bytes of the layout; 0: the data lies in one piece
	dataBytes   int    // bytes of the data in the request or behind it
}

const (
	requestHeaderBytes = 40
	maxRequestBytes    = 1024
)

func (h *requestHeader) encode(b []byte) {
	b[0], b[1], b[2], b[3] = byte(h.kind), h.op, h.element, h.flags
	binary.LittleEndian.PutUint32(b[4:], h.serial)
	for i, v := range [...]int{h.offset, h.size, h.layoutBytes, h.dataBytes} {
		binary.LittleEndian.PutUint64(b[8+8*i:], uint64(v))
	}
}

func (h *requestHeader) decode(b []byte) {
	h.kind, h.op, h.element, h.flags = requestKind(b[0]), b[1], b[2], b[3]
	h.serial = binary.LittleEndian.Uint32(b[4:])
	for i, v := range [...]*int{&h.offset, &h.size, &h.layoutBytes, &h.dataBytes} {
		*v = int(binary.LittleEndian.Uint64(b[8+8*i:]))
	}
}

// Tags of messages that belong to a request. Requests have tag 0, and serials begin at 1.
const requestTag = 0

func (h *requestHeader) layoutTag() int { return int(h.serial) * 4 }
func (h *requestHeader) dataTag() int   { return int(h.serial)*4 + 1 }
func (h *requestHeader) replyTag() int  { return int(h.serial)*4 + 2 }

// maxSerial keeps tags within MaxTag.
const maxSerial = MaxTag/4 - 1

// accumulateOps are the operations of accumulates, by their number in requests.
var accumulateOps = [...]*Op{Max, Min, Sum, Prod, Land, Lor, Lxor, Band, Bor, Bxor, MaxLoc, MinLoc, Replace, NoOp}

// Operations of accumulates alone (MPI_REPLACE, MPI_NO_OP).
var (
	Replace = reduction.Replace
	NoOp    = reduction.NoOp
)

// accumulateTypes are the types of elements, by their number in requests.
var accumulateTypes = [...]*Datatype{Byte, Packed, Bool, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Float32, Float64, Complex64, Complex128,
	LongDouble, LongComplex, Float16, Float128, Complex32, Complex256, Int128,
	Float32Int32, Float64Int32, Int16Int32, Int32Int32, Int64Int32, Int64Int64, Float64Int64, Float32Float32, Float64Float64, LongDoubleInt32}

// firstPairType is the place of the first type of pairs, which are the last types.
const firstPairType = 22
