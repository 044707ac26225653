//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"hash/fnv"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Communicators.

func commDup(r *rank, a args) { r.storeDup(r.comm(a[0]).Dup(), a[0], a[1]) }

// storeDup stores the handle of d, a duplicate of the communicator with handle of. After an error
// the program has MPI_COMM_NULL there.
func (r *rank) storeDup(d *mpi.Comm, of, at uintptr) *comm {
	storeAt(at, uintptr(commNull))
	c := r.comm(of)
	copied := r.copyAttributes(of, c.attributes)
	h := r.comms.add(kindComm, &comm{Comm: d, attributes: copied, neighbourhood: c.neighbourhood})
	storeAt(at, h)
	x := *r.comms.get(kindComm, h)
	x.handle = h
	return x
}

// startIdup is storeDup without waiting. When the request is complete, all ranks know the number
// that the first rank has given to the duplicate, and may use it.
func (r *rank) startIdup(of, at, request uintptr) {
	c := r.comm(of)
	x := r.storeDup(nil, of, at)
	p := r.newCollective(of)
	number := []uint32{0}
	if c.IsInter() {
		p.agreeOnNumber(number)
	} else {
		if c.Rank() == 0 {
			number[0] = r.reserveNumber(c.Comm)
		}
		p.broadcast(func() mpi.Buffer { return mpi.BufferOf(number) }, 0)
	}
	p.onCompletion = func() {
		if number[0] == noNumber {
			r.comms.remove(x.handle)
			r.raiseError(mpi.ErrOther, "the rank that numbers the duplicate holds %d communicators: free those that are not used", maxComms)
		}
		x.Comm = c.DupWithNumber(number[0])
		if x.pendingHandler != nil {
			x.SetErrorHandler(x.pendingHandler)
		}
	}
	p.storeHandle(request)
}

// noNumber, in place of the number of a duplicate, says that no further communicator can be
// created.
const noNumber = 1<<32 - 1

func (r *rank) reserveNumber(c *mpi.Comm) uint32 {
	if r.isFull() {
		return noNumber
	}
	return c.ReserveNumber()
}

// agreeOnNumber gives all ranks of an intercommunicator a number that one rank reserves: the first
// rank of the group whose first rank is lower in the job.
func (p *pendingOperation) agreeOnNumber(number []uint32) {
	own, data := p.comm.InternalLocalComm(), mpi.BufferOf(number)
	switch {
	case !p.comm.IsLowerGroup():
		p.startRecv(data, 0)
	case p.comm.Rank() > 0:
		p.reqs = append(p.reqs, own.Irecv(data, 0, p.tag))
	default:
		number[0] = p.rank.reserveNumber(p.comm.Comm)
		for i := 1; i < own.Size(); i++ {
			p.reqs = append(p.reqs, own.Isend(data, i, p.tag))
		}
		for i := range p.ranks {
			p.startSend(data, i)
		}
	}
}

func commCreateGroup(r *rank, a args) {
	storeAt(a[3], r.addComm(r.comm(a[0]).CreateGroup(r.group(a[1]), int(int32(a[2])))))
}

func commSplit(r *rank, a args) {
	colour := int(a[1])
	if colour == undefined {
		colour = mpi.Undefined
	} else if colour < 0 {
		r.raiseError(mpi.ErrArg, "color %d: a color is not negative, or MPI_UNDEFINED", colour)
	}
	storeAt(a[3], r.addComm(r.comm(a[0]).Split(colour, int(a[2]))))
}

// Split types. Nodes are the only hardware resource here.
const (
	splitShared         = 221
	splitHWUnguided     = 222
	splitHWGuided       = 223
	splitResourceGuided = 224

	resourceType = "mpi_hw_resource_type" // a key of an info
	sharedMemory = "mpi_shared_memory"    // its value for nodes
)

// commSplitType divides ranks by node.
func commSplitType(r *rank, a args) {
	c, kind := r.comm(a[0]), int(a[1])
	if (kind < splitShared || kind > splitResourceGuided) && kind != undefined {
		r.raiseError(mpi.ErrArg, "split type %d: it is none of MPI_COMM_TYPE_SHARED, MPI_COMM_TYPE_HW_UNGUIDED, MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED and MPI_UNDEFINED", kind)
	}
	divides := kind != undefined
	if kind == splitHWGuided || kind == splitResourceGuided {
		divides = false
		if a[3] != infoNull {
			x := r.info(a[3])
			i := slices.Index(x.keys, resourceType)
			divides = i >= 0 && x.values[i] == sharedMemory
		}
	}
	hash := fnv.New64a()
	hash.Write([]byte(c.ProcessorName()))
	all := make([]uint64, c.Size())
	mpi.Allgather(c.Comm, []uint64{hash.Sum64()}, all)
	colour := mpi.Undefined
	if divides {
		colour = slices.Index(all, hash.Sum64())
	}
	if kind == splitHWUnguided {
		if !slices.ContainsFunc(all, func(h uint64) bool { return h != all[0] }) { // no rank gets a communicator unless the parts are smaller than the whole
			colour = mpi.Undefined
		} else if a[3] != infoNull {
			r.info(a[3]).set(&info{[]string{resourceType}, []string{sharedMemory}})
		}
	}
	storeAt(a[4], r.addComm(c.Split(colour, int(a[2]))))
}

func commFree(r *rank, a args) {
	h := *pointerAt[uintptr](a[0])
	c := r.comm(h)
	if h == commWorld || h == commSelf {
		r.raiseError(mpi.ErrComm, "%s cannot be freed", c.name)
	}
	r.deleteAttributes(h, &c.attributes)
	r.noteDisconnect(c)
	defer func() { // also after an error about messages that were not received
		r.comms.remove(h)
		storeAt(a[0], uintptr(commNull))
	}()
	c.Free()
}

func intercommCreate(r *rank, a args) {
	c := r.comm(a[0])
	peer := &mpi.Comm{}
	if c.Rank() == int(a[1]) {
		peer = r.comm(a[2]).Comm
	}
	storeAt(a[5], r.addComm(c.CreateInter(int(a[1]), peer, int(a[3]), sendTag(int(a[4])))))
}

func commSetName(r *rank, a args) { c := r.comm(a[0]); c.name = r.stringAt(a[1]) }
func commGetName(r *rank, a args) { storeText(a[1], r.comm(a[0]).name, maxName, a[2]) }
