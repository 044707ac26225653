package mpi

import (
	"encoding/binary"

	"github.com/loggp/loggp/impl/library/reduction"
)

// This file has the format of requests: messages with tag 0 from an origin to a target. A short
// layout and short data follow the header in the same message. Longer ones are separate messages,
// with tags that belong to the request. A reply has such a tag, too.

// requestKind says what a request asks for.
type requestKind uint8

const (
	putRequest requestKind = iota + 1
	getRequest
	accumulateRequest
	getAccumulateRequest
	compareRequest
	lockRequest
	unlockRequest
	registerFreeRequest // the lock in a register may be free
	flushRequest
	postRequest     // from the target: its memory is exposed
	completeRequest // all accesses since Start are complete
)

// Flags of requests.
const (
	exclusiveFlag uint8 = 1 << iota // the lock is exclusive
	replyFlag                       // the target confirms the lock
	fenceFlag                       // the access is between two fences
	oddFenceFlag                    // that fence has an odd number
	layoutFlag
	dataFlag
)

// requestHeader is the header of a request.
type requestHeader struct {
	kind        requestKind
	op          uint8 // index into accumulateOps
	element     uint8 // index into accumulateTypes
	flags       uint8
	serial      uint32 // number of the request at its origin, from which tags are derived
	offset      int    // bytes from the start of the window; address for a dynamic window
	size        int    // bytes of the target's data, in travel order
	layoutBytes int    // bytes of the layout; 0: the data is contiguous
	dataBytes   int    // bytes of origin data, in the request or after it
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

// Tags of messages that belong to a request. The request has tag 0; serials start at 1.
const requestTag = 0

func (h *requestHeader) layoutTag() int { return int(h.serial) * 4 }
func (h *requestHeader) dataTag() int   { return int(h.serial)*4 + 1 }
func (h *requestHeader) replyTag() int  { return int(h.serial)*4 + 2 }

// maxSerial keeps tags below MaxTag.
const maxSerial = MaxTag/4 - 1

// accumulateOps are the operations of accumulates, in the order of their numbers in requests.
var accumulateOps = [...]*Op{Max, Min, Sum, Prod, Land, Lor, Lxor, Band, Bor, Bxor, MaxLoc, MinLoc, Replace, NoOp}

// Operations for accumulates only (MPI_REPLACE, MPI_NO_OP).
var (
	Replace = reduction.Replace
	NoOp    = reduction.NoOp
)

// accumulateTypes are the element types, in the order of their numbers in requests.
var accumulateTypes = [...]*Datatype{Byte, Packed, Bool, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Float32, Float64, Complex64, Complex128,
	LongDouble, LongComplex, Float16, Float128, Complex32, Complex256, Int128,
	Float32Int32, Float64Int32, Int16Int32, Int32Int32, Int64Int32, Int64Int64, Float64Int64, Float32Float32, Float64Float64, LongDoubleInt32}

// firstPairType is the index of the first pair type in accumulateTypes. All later ones are pair
// types.
const firstPairType = 22
