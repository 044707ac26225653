package portable

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/library/aclmpl"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/library/pvm"
	"github.com/loggp/loggp/impl/library/shmem"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// MPILibraries returns the ways of a library of MPI: sync is by synchronous sends
// (MPI_Ssend), async by standard ones (MPI_Send). Collective operations are the same in both.
func MPILibraries(library string, o mpi.Options) []*Library {
	by := func(send func(*mpi.Comm, []byte, int, int), exchange func(c *mpi.Comm, dst int, out []byte, src int, in []byte)) func(device.World, int, func(Process) error) error {
		return func(w device.World, _ int, program func(Process) error) error {
			return mpi.Run(w, o, func(c *mpi.Comm) error { return program(mpiProcess{c, send, exchange}) })
		}
	}
	return []*Library{
		{Name: library, Mode: "sync", IsSynchronous: true, HasCollectives: true, Run: by(mpi.Ssend[byte], func(c *mpi.Comm, dst int, out []byte, src int, in []byte) {
			r := mpi.Irecv(c, in, src, 0)
			mpi.Ssend(c, out, dst, 0)
			r.Wait()
		})},
		{Name: library, Mode: "async", Run: by(mpi.Send[byte], func(c *mpi.Comm, dst int, out []byte, src int, in []byte) {
			mpi.Sendrecv(c, out, dst, 0, in, src, 0)
		})},
	}
}

type mpiProcess struct {
	*mpi.Comm
	send     func(*mpi.Comm, []byte, int, int)
	exchange func(c *mpi.Comm, dst int, out []byte, src int, in []byte)
}

func (p mpiProcess) Now() unit.Time            { return p.Wtime() }
func (p mpiProcess) Send(dst int, b []byte)    { p.send(p.Comm, b, dst, 0) }
func (p mpiProcess) Receive(src int, b []byte) { mpi.Recv(p.Comm, b, src, 0) }
func (p mpiProcess) Broadcast(b []byte)        { mpi.Bcast(p.Comm, b, 0) }

func (p mpiProcess) Exchange(dst int, out []byte, src int, in []byte) {
	p.exchange(p.Comm, dst, out, src, in)
}

func (p mpiProcess) Reduce(x []float64, op ReductionOp)        { reduceByMPI(p, x, op) }
func (p mpiProcess) ReduceFloat32(x []float32, op ReductionOp) { reduceByMPI(p, x, op) }

func reduceByMPI[T float32 | float64](p mpiProcess, x []T, op ReductionOp) {
	sum := make([]T, len(x))
	mpi.Reduce(p.Comm, x, sum, map[ReductionOp]*mpi.Op{Sum: mpi.Sum, Max: mpi.Max}[op], 0)
	copy(x, sum)
}

// pixelType is a Pixel as MPI sees it.
var pixelType = mpi.Contiguous(len(Pixel{}), mpi.Float32).Commit()

// Composite implements Compositor.
func (p mpiProcess) Composite(x []Pixel, combine func(lower, higher, result []Pixel)) {
	op := mpi.NewOp(func(in, inout mpi.Buffer) {
		lower, higher := asPixels(mpi.SliceOf[float32](in.Bytes)), asPixels(mpi.SliceOf[float32](inout.Bytes))
		combine(lower, higher, higher)
	}, false)
	all := make([]Pixel, len(x))
	p.Comm.Reduce(pixelBuffer(x), pixelBuffer(all), op, 0)
	copy(x, all)
}

func pixelBuffer(x []Pixel) mpi.Buffer {
	b := mpi.BufferOf(unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*len(Pixel{})))
	b.Type, b.Count = pixelType, len(x)
	return b
}

func asPixels(x []float32) []Pixel {
	return unsafe.Slice((*Pixel)(unsafe.Pointer(unsafe.SliceData(x))), len(x)/len(Pixel{}))
}

// ACLMPLLibraries returns the two groups of calls of ACLMPL. Collective operations are of
// the first.
func ACLMPLLibraries(library string, o aclmpl.Options) []*Library {
	return []*Library{
		{Name: library, Mode: "sync", IsSynchronous: o.Port != aclmpl.PVMPort, HasCollectives: true, Run: func(w device.World, _ int, program func(Process) error) error {
			return aclmpl.Run(w, o, func(e *aclmpl.PE) error { return program(syncPE{e}) })
		}},
		{Name: library, Mode: "async", SendsAllBeforeReceiving: true, Run: func(w device.World, _ int, program func(Process) error) error {
			return aclmpl.Run(w, o, func(e *aclmpl.PE) error { return program(asyncPE{syncPE{e}}) })
		}},
	}
}

type syncPE struct{ *aclmpl.PE }

func (p syncPE) Receive(src int, b []byte) { p.PE.Receive(src, b) }

func (p syncPE) Exchange(dst int, out []byte, src int, in []byte) { p.SendReceive(dst, out, src, in) }

func (p syncPE) Reduce(x []float64, op ReductionOp) {
	aclmpl.Reduce(p.PE, x, combineElements[float64](op))
}
func (p syncPE) ReduceFloat32(x []float32, op ReductionOp) {
	aclmpl.Reduce(p.PE, x, combineElements[float32](op))
}

// Composite implements Compositor.
func (p syncPE) Composite(x []Pixel, combine func(lower, higher, result []Pixel)) {
	aclmpl.Reduce(p.PE, x, combine)
}

// CMMDLibraries returns the library of the CM-5's vendor: ACLMPL's synchronous calls, and
// broadcasts by the control network.
func CMMDLibraries(library string) []*Library {
	return []*Library{{Name: library, Mode: "sync", IsSynchronous: true, HasCollectives: true, Run: func(w device.World, _ int, program func(Process) error) error {
		return aclmpl.Run(w, aclmpl.Options{}, func(e *aclmpl.PE) error { return program(cmmdPE{syncPE{e}}) })
	}}}
}

type cmmdPE struct{ syncPE }

func (p cmmdPE) Broadcast(b []byte) { p.ControlBroadcast(b) }

// PVMLibraries returns PVM's psend and precv.
func PVMLibraries(library string) []*Library {
	return []*Library{{Name: library, Mode: "psend", HasCollectives: true, Run: func(w device.World, _ int, program func(Process) error) error {
		return pvm.Run(w, pvm.Options{}, func(t *pvm.Task) error { return program(pvmTask{t}) })
	}}}
}

type pvmTask struct{ *pvm.Task }

func (p pvmTask) Send(dst int, b []byte)    { p.Task.Send(dst, 0, b) }
func (p pvmTask) Receive(src int, b []byte) { p.Task.Receive(src, 0, b) }

func (p pvmTask) Exchange(dst int, out []byte, src int, in []byte) {
	p.Send(dst, out)
	p.Receive(src, in)
}

func (p pvmTask) Reduce(x []float64, op ReductionOp)        { reduceByPVM(p, x, op) }
func (p pvmTask) ReduceFloat32(x []float32, op ReductionOp) { reduceByPVM(p, x, op) }

func reduceByPVM[T float32 | float64](p pvmTask, x []T, op ReductionOp) {
	p.Task.Reduce(asBytes(x), int(unsafe.Sizeof(*new(T))), func(lower, higher []byte) {
		a, b := mpi.SliceOf[T](lower), mpi.SliceOf[T](higher)
		combineElements[T](op)(a, b, a)
	})
}

// Composite implements Compositor.
func (p pvmTask) Composite(x []Pixel, combine func(lower, higher, result []Pixel)) {
	p.Task.Reduce(asBytes(x), int(unsafe.Sizeof(Pixel{})), func(lower, higher []byte) {
		a, b := asPixels(mpi.SliceOf[float32](lower)), asPixels(mpi.SliceOf[float32](higher))
		combine(a, b, a)
	})
}

// asBytes returns the memory of elements.
func asBytes[T any](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(*new(T))))
}

type asyncPE struct{ syncPE }

func (p asyncPE) Send(dst int, b []byte)    { p.SendAsync(dst, 0, b) }
func (p asyncPE) Receive(src int, b []byte) { p.ReceiveAsync(src, 0, b) }

func (p asyncPE) Exchange(dst int, out []byte, src int, in []byte) {
	p.Send(dst, out)
	p.Receive(src, in)
}

// SHMEMLibrary returns raw puts: a message is put into the receiver's one buffer, which all senders
// share, and a flag word says that it has arrived. The sender never waits for the receiver.
func SHMEMLibrary() *Library {
	return &Library{Name: "shmem", Mode: "put", SendsAllBeforeReceiving: true, OverwritesBuffers: true,
		Run: func(w device.World, bytes int, program func(Process) error) error {
			return shmem.Run(w, func(ranks int) int { return 16*ranks + 8 + bytes }, func(e *shmem.PE) error {
				return program(&shmemProcess{PE: e, sent: make([]uint64, e.Size()), received: make([]uint64, e.Size())})
			})
		}}
}

// shmemProcess has in its symmetric memory, for each other PE, how many messages that has put and
// its number of a reduction; then the word of a broadcast, and room for a message.
type shmemProcess struct {
	*shmem.PE
	sent, received []uint64 // messages to and from each PE
}

func (p *shmemProcess) arrivalCounter(src int) int  { return 8 * src }
func (p *shmemProcess) sequenceCounter(src int) int { return 8 * (p.Size() + src) }
func (p *shmemProcess) controlWord() int            { return 16 * p.Size() }
func (p *shmemProcess) messageBuffer() int          { return 16*p.Size() + 8 }
func (p *shmemProcess) Barrier()                    { p.PE.Barrier(nil) }

func (p *shmemProcess) Send(dst int, b []byte) {
	p.PutSymmetric(dst, p.messageBuffer(), b)
	p.sent[dst]++
	p.PutWords(dst, p.arrivalCounter(p.Rank()), p.sent[dst])
	p.Quiet()
}

func (p *shmemProcess) Receive(src int, _ []byte) {
	p.received[src]++
	for {
		seen := p.EventCount()
		if p.LoadWord(p.arrivalCounter(src)) >= p.received[src] {
			return
		}
		p.WaitForEvent(seen)
	}
}

func (p *shmemProcess) Exchange(dst int, out []byte, src int, in []byte) {
	p.Send(dst, out)
	p.Receive(src, in)
}

// Broadcast is for the timer, of a word.
func (p *shmemProcess) Broadcast(b []byte) {
	for dst := 1; p.Rank() == 0 && dst < p.Size(); dst++ {
		p.PutWords(dst, p.controlWord(), binary.NativeEndian.Uint64(b))
	}
	p.Barrier()
	if p.Rank() > 0 {
		binary.NativeEndian.PutUint64(b, p.LoadWord(p.controlWord()))
	}
}

// Reduce is for the timer, of a number.
func (p *shmemProcess) Reduce(x []float64, op ReductionOp) {
	p.PutWords(0, p.sequenceCounter(p.Rank()), math.Float64bits(x[0]))
	p.Barrier()
	for src := range p.Size() {
		if p.Rank() == 0 && src > 0 {
			x[0] = combineNumbers(op, x[0], math.Float64frombits(p.LoadWord(p.sequenceCounter(src))))
		}
	}
	p.Barrier()
}

// ReduceFloat32 is Reduce of a number of single precision.
func (p *shmemProcess) ReduceFloat32(x []float32, op ReductionOp) {
	wide := []float64{float64(x[0])}
	p.Reduce(wide, op)
	x[0] = float32(wide[0])
}

// LibrariesOfEngine returns the ways of sending of a library that an engine carries. o is for those
// of MPI.
func LibrariesOfEngine(by *model.Library, o mpi.Options) []*Library {
	library := by.Name
	switch by.CarriedBy() {
	case model.AclmplEngine:
		return ACLMPLLibraries(library, aclmpl.Options{PoolSlots: by.Aclmpl.PoolSlots})
	case model.AclmplArenaEngine:
		return ACLMPLLibraries(library, aclmpl.Options{Port: aclmpl.ArenaPort})
	case model.AclmplPVMEngine:
		return ACLMPLLibraries(library, aclmpl.Options{Port: aclmpl.PVMPort})
	case model.PVMEngine:
		return PVMLibraries(library)
	case model.CMMDEngine:
		return CMMDLibraries(library)
	}
	return MPILibraries(library, o)
}
