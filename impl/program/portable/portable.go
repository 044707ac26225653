// Package portable is what programs see that run by any message-passing library, MPI or
// not: a Process. It has the libraries, and a few programs.
package portable

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/unit"
)

// World runs a program on each rank of a job.
type World = device.World

// Process is one rank of a job. Messages of one rank to another are received in the order in which
// they were sent; the receiver knows their lengths.
type Process interface {
	Rank() int
	Size() int
	Now() unit.Time
	Compute(d unit.Time) // keeps the processor busy for d
	Send(dst int, b []byte)
	Receive(src int, b []byte)
	Exchange(dst int, out []byte, src int, in []byte) // both at once
	Broadcast(b []byte)                               // of rank 0
	Reduce(x []float64, op ReductionOp)               // in place, to rank 0; what others have then is undefined
	ReduceFloat32(x []float32, op ReductionOp)        // the same in single precision
	Barrier()
}

// Compositor is a Process that combines pictures, pixel by pixel and in the order of ranks, in
// place and to rank 0.
type Compositor interface {
	Process
	Composite(x []Pixel, combine func(lower, higher, result []Pixel))
}

// ReductionOp combines two numbers.
type ReductionOp uint8

// The operations.
const (
	Sum ReductionOp = iota
	Max
)

// combineNumbers applies the operation.
func combineNumbers[T float32 | float64](o ReductionOp, a, b T) T {
	if o == Max {
		return max(a, b)
	}
	return a + b
}

// combineElements applies the operation to each element.
func combineElements[T float32 | float64](o ReductionOp) func(lower, higher, result []T) {
	return func(lower, higher, result []T) {
		for i := range result {
			result[i] = combineNumbers(o, lower[i], higher[i])
		}
	}
}

// Pixel is a colour, and what else a picture has at a point: opacity or depth.
type Pixel [4]float32

// Library is a message-passing library with a way to send.
type Library struct {
	Name, Mode              string
	SendsAllBeforeReceiving bool // all to all: each rank sends to all, and then receives; else partners exchange one after the other
	OverwritesBuffers       bool // senders write over each other's data
	IsSynchronous           bool // a send returns when its receive has been called
	HasCollectives          bool // collective operations go this way: of the ways of a library, one has them

	// Run runs a program on all ranks. No message is longer than bytes.
	Run func(w device.World, bytes int, program func(Process) error) error
}
