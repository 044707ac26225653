//go:build cgo && linux && (amd64 || arm64)

package cprog

/*
#include <stdlib.h>
#include "host.h"
*/
import "C"

import (
	"slices"
	"time"
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
	"github.com/loggp/loggp/model/unit"
)

// Beginning and end, errors, time, memory and info.

// handler carries out a function.
type handler func(r *rank, a args)

// handlers has the handler of each function of the table.
var handlers = func() []handler {
	all := make([]handler, len(toolchain.Functions))
	for i, f := range toolchain.Functions {
		if all[i] = byName[f.Name]; all[i] == nil {
			panic("cprog: " + f.Name + " has no handler")
		}
	}
	return all
}()

var byName = map[string]handler{
	"MPI_Send": send((*mpi.Comm).Send), "MPI_Bsend": send((*mpi.Comm).Bsend), "MPI_Ssend": send((*mpi.Comm).Ssend), "MPI_Rsend": send((*mpi.Comm).Rsend),
	"MPI_Isend": isend((*mpi.Comm).Isend), "MPI_Ibsend": isend((*mpi.Comm).Ibsend), "MPI_Issend": isend((*mpi.Comm).Issend), "MPI_Irsend": isend((*mpi.Comm).Irsend),
	"MPI_Send_init": isend((*mpi.Comm).SendInit), "MPI_Bsend_init": isend((*mpi.Comm).BsendInit), "MPI_Ssend_init": isend((*mpi.Comm).SsendInit), "MPI_Rsend_init": isend((*mpi.Comm).RsendInit),
	"MPI_Recv": recv, "MPI_Irecv": irecv((*mpi.Comm).Irecv), "MPI_Recv_init": irecv((*mpi.Comm).RecvInit),
	"MPI_Sendrecv": sendrecv, "MPI_Sendrecv_replace": sendrecvReplace, "MPI_Probe": probe, "MPI_Iprobe": iprobe,
	"MPI_Get_count": getCount, "MPI_Get_elements": getElements, "MPI_Status_set_elements": setElements,
	"MPI_Test_cancelled":       func(_ *rank, a args) { set(a[1], truth(getStatus(a[0]).Cancelled)) },
	"MPI_Status_set_cancelled": func(_ *rank, a args) { ptr[status](a[0]).cancelled = truth(int32(a[1]) != 0) },
	"MPI_Wait":                 wait, "MPI_Test": test, "MPI_Waitall": waitall, "MPI_Testall": testall, "MPI_Waitany": waitany, "MPI_Testany": testany,
	"MPI_Waitsome": some(true, mpi.WaitSome), "MPI_Testsome": some(false, mpi.TestSome), "MPI_Request_get_status": requestGetStatus,
	"MPI_Grequest_start": grequestStart, "MPI_Grequest_complete": grequestComplete,
	"MPI_Request_free": requestFree, "MPI_Cancel": cancel, "MPI_Start": start, "MPI_Startall": startall,
	"MPI_Buffer_attach": attach, "MPI_Buffer_detach": detach,

	"MPI_Type_contiguous": typeContiguous, "MPI_Type_vector": typeVector, "MPI_Type_hvector": typeHvector, "MPI_Type_create_hvector": typeHvector,
	"MPI_Type_indexed": typeIndexed, "MPI_Type_hindexed": typeHindexed, "MPI_Type_create_hindexed": typeHindexed,
	"MPI_Type_create_indexed_block": typeIndexedBlock, "MPI_Type_create_hindexed_block": typeHindexedBlock,
	"MPI_Type_struct": typeStruct, "MPI_Type_create_struct": typeStruct, "MPI_Type_create_resized": typeResized, "MPI_Type_create_subarray": typeSubarray,
	"MPI_Type_dup": typeDup, "MPI_Type_commit": typeCommit, "MPI_Type_free": typeFree, "MPI_Type_size": typeSize,
	"MPI_Type_extent": typeExtent, "MPI_Type_lb": typeLower, "MPI_Type_ub": typeUpper, "MPI_Type_get_extent": getExtent, "MPI_Type_get_true_extent": trueExtent,
	"MPI_Type_get_envelope": typeEnvelope, "MPI_Type_get_contents": typeContents, "MPI_Type_create_darray": typeDarray, "MPI_Type_match_size": typeMatchSize,
	"MPI_Type_set_name": typeSetName, "MPI_Type_get_name": typeGetName,
	"MPI_Address": address, "MPI_Get_address": address, "MPI_Aint_add": aintAdd, "MPI_Aint_diff": aintDiff,
	"MPI_Pack": pack, "MPI_Unpack": unpack, "MPI_Pack_size": packSize,

	"MPI_Barrier": between(barrier, ibarrier, 0), "MPI_Bcast": between(bcast, ibcast, 4),
	"MPI_Gather": between(gather, igather, 7), "MPI_Gatherv": between(gatherv, igatherv, 8), "MPI_Scatter": between(scatter, iscatter, 7), "MPI_Scatterv": between(scatterv, iscatterv, 8),
	"MPI_Allgather": between(allgather, iallgather, 6), "MPI_Allgatherv": between(allgatherv, iallgatherv, 7),
	"MPI_Alltoall": between(alltoall, ialltoall, 6), "MPI_Alltoallv": between(alltoallv, ialltoallv, 8), "MPI_Alltoallw": between(alltoallw, ialltoallw, 8),
	"MPI_Reduce": between(reduce, ireduce, 6), "MPI_Allreduce": between(reduceAll((*mpi.Comm).Allreduce), iallreduce, 5),
	"MPI_Reduce_scatter": between(reduceScatter, ireduceScatter, 5), "MPI_Reduce_scatter_block": between(reduceScatterBlock, ireduceScatterBlock, 5),
	"MPI_Scan": reduceAll((*mpi.Comm).Scan), "MPI_Exscan": exscan, "MPI_Reduce_local": reduceLocal,
	"MPI_Op_create": opCreate, "MPI_Op_free": opFree, "MPI_Op_commutative": opCommutative,

	"MPI_Mprobe": mprobe, "MPI_Improbe": improbe, "MPI_Mrecv": mrecv, "MPI_Imrecv": imrecv,

	"MPI_Ibarrier": ibarrier, "MPI_Ibcast": ibcast, "MPI_Igather": igather, "MPI_Igatherv": igatherv, "MPI_Iscatter": iscatter, "MPI_Iscatterv": iscatterv,
	"MPI_Iallgather": iallgather, "MPI_Iallgatherv": iallgatherv, "MPI_Ialltoall": ialltoall, "MPI_Ialltoallv": ialltoallv, "MPI_Ialltoallw": ialltoallw,
	"MPI_Ireduce": ireduce, "MPI_Iallreduce": iallreduce, "MPI_Iscan": iscan, "MPI_Iexscan": iexscan,
	"MPI_Ireduce_scatter": ireduceScatter, "MPI_Ireduce_scatter_block": ireduceScatterBlock,

	"MPI_Ineighbor_allgather": ineighborAllgather, "MPI_Ineighbor_allgatherv": ineighborAllgatherv, "MPI_Ineighbor_alltoall": ineighborAlltoall,
	"MPI_Ineighbor_alltoallv": ineighborAlltoallv, "MPI_Ineighbor_alltoallw": ineighborAlltoallw,
	"MPI_Neighbor_allgather": at(ineighborAllgather, 7), "MPI_Neighbor_allgatherv": at(ineighborAllgatherv, 8), "MPI_Neighbor_alltoall": at(ineighborAlltoall, 7),
	"MPI_Neighbor_alltoallv": at(ineighborAlltoallv, 9), "MPI_Neighbor_alltoallw": at(ineighborAlltoallw, 9),

	"MPI_Status_set_elements_x": setElements,
	"MPI_Add_error_class":       addErrorClass, "MPI_Add_error_code": addErrorCode, "MPI_Add_error_string": addErrorString,

	"MPI_Type_size_x": func(r *rank, a args) { set(a[1], r.datatype(a[0]).Size()) }, "MPI_Type_get_extent_x": getExtent, "MPI_Type_get_true_extent_x": trueExtent,
	"MPI_Get_elements_x": func(r *rank, a args) {
		n := getStatus(a[0]).Elements(r.datatype(a[1]))
		if n == mpi.Undefined {
			n = undefined
		}
		set(a[2], n)
	},
	"MPI_Comm_dup_with_info": func(r *rank, a args) { r.dup(r.comm(a[0]).Dup(), a[0], a[2]) },
	"MPI_Comm_idup":          func(r *rank, a args) { r.idup(a[0], a[1], a[2]) },
	"MPI_Comm_create_group":  commCreateGroup, "MPI_Comm_set_info": commSetInfo, "MPI_Comm_get_info": commGetInfo,
	"MPI_Info_get_valuelen": infoLength,

	"MPI_Group_size": groupSize, "MPI_Group_rank": groupRank, "MPI_Group_translate_ranks": translate, "MPI_Group_compare": groupCompare, "MPI_Comm_group": commGroup,
	"MPI_Group_union": groups(mpi.Group.Union), "MPI_Group_intersection": groups(mpi.Group.Intersection), "MPI_Group_difference": groups(mpi.Group.Difference),
	"MPI_Group_incl": groupRanks(mpi.Group.Include), "MPI_Group_excl": groupRanks(mpi.Group.Exclude),
	"MPI_Group_range_incl": groupRanges(mpi.Group.IncludeRanges), "MPI_Group_range_excl": groupRanges(mpi.Group.ExcludeRanges), "MPI_Group_free": groupFree,

	"MPI_Comm_size": commSize, "MPI_Comm_rank": commRank, "MPI_Comm_compare": commCompare, "MPI_Comm_dup": commDup, "MPI_Comm_create": commCreate,
	"MPI_Comm_split": commSplit, "MPI_Comm_split_type": commSplitType, "MPI_Comm_free": commFree,
	"MPI_Comm_disconnect": commFree, "MPI_Comm_get_parent": func(_ *rank, a args) { set(a[0], uintptr(commNull)) },
	"MPI_Comm_test_inter": testInter, "MPI_Comm_remote_size": remoteSize, "MPI_Comm_remote_group": remoteGroup,
	"MPI_Intercomm_create": intercommCreate, "MPI_Intercomm_merge": intercommMerge, "MPI_Comm_set_name": commSetName, "MPI_Comm_get_name": commGetName,

	"MPI_Keyval_create": keyvalCreate, "MPI_Comm_create_keyval": keyvalCreate, "MPI_Type_create_keyval": keyvalCreate,
	"MPI_Keyval_free": keyvalFree, "MPI_Comm_free_keyval": keyvalFree, "MPI_Type_free_keyval": keyvalFree,
	"MPI_Attr_put": attrPut((*rank).commAttributes), "MPI_Comm_set_attr": attrPut((*rank).commAttributes), "MPI_Type_set_attr": attrPut((*rank).typeAttributes),
	"MPI_Attr_get": attrGet((*rank).commAttributes), "MPI_Comm_get_attr": attrGet((*rank).commAttributes), "MPI_Type_get_attr": attrGet((*rank).typeAttributes),
	"MPI_Attr_delete": attrDelete((*rank).commAttributes), "MPI_Comm_delete_attr": attrDelete((*rank).commAttributes), "MPI_Type_delete_attr": attrDelete((*rank).typeAttributes),

	"MPI_Topo_test": topoTest, "MPI_Cart_create": cartCreate, "MPI_Dims_create": dimsCreate, "MPI_Graph_create": graphCreate,
	"MPI_Dist_graph_create": distGraphCreate, "MPI_Dist_graph_create_adjacent": distGraphCreateAdjacent, "MPI_Dist_graph_neighbors_count": distGraphCount, "MPI_Dist_graph_neighbors": distGraphNeighbors,
	"MPI_Graphdims_get": graphdimsGet, "MPI_Graph_get": graphGet,
	"MPI_Cartdim_get": cartdimGet, "MPI_Cart_get": cartGet, "MPI_Cart_rank": cartRank, "MPI_Cart_coords": cartCoords,
	"MPI_Graph_neighbors_count": neighborsCount, "MPI_Graph_neighbors": neighbors, "MPI_Cart_shift": cartShift, "MPI_Cart_sub": cartSub, "MPI_Cart_map": cartMap, "MPI_Graph_map": graphMap,

	"MPI_Get_processor_name": func(r *rank, a args) { setText(a[0], r.world.ProcessorName(), 256, a[1]) },
	"MPI_Errhandler_create":  errhandlerCreate, "MPI_Comm_create_errhandler": errhandlerCreate, "MPI_Errhandler_set": errhandlerSet, "MPI_Comm_set_errhandler": errhandlerSet,
	"MPI_Errhandler_get": errhandlerGet, "MPI_Comm_get_errhandler": errhandlerGet, "MPI_Errhandler_free": errhandlerFree, "MPI_Comm_call_errhandler": callErrhandler,
	"MPI_Error_string": errorString, "MPI_Error_class": errorClass,
	"MPI_Wtime": func(r *rank, _ args) { r.now.real = float64(r.world.Wtime()) / float64(unit.Second) },
	"MPI_Wtick": func(r *rank, _ args) { r.now.real = float64(r.world.Wtick()) / float64(unit.Second) },
	"MPI_Init":  func(r *rank, _ args) { r.init() },
	"MPI_Init_thread": func(r *rank, a args) {
		r.init()
		set(a[3], int32(min(int(a[2]), threadFunneled)))
	},
	"MPI_Query_thread":   func(_ *rank, a args) { set(a[0], int32(threadFunneled)) },
	"MPI_Is_thread_main": func(_ *rank, a args) { set(a[0], int32(1)) },
	"MPI_Finalize":       finalize,
	"MPI_Initialized":    func(r *rank, a args) { set(a[0], truth(r.initialized)) },
	"MPI_Finalized":      func(r *rank, a args) { set(a[0], truth(r.finalized)) },
	"MPI_Abort":          func(r *rank, a args) { r.world.Abort(int(a[1])) },
	"MPI_Get_version": func(_ *rank, a args) {
		version, sub := mpi.Version()
		set(a[0], int32(version))
		set(a[1], int32(sub))
	},
	"MPI_Get_library_version": func(_ *rank, a args) { setText(a[0], "loggp", 8192, a[1]) },
	"MPI_Pcontrol":            func(r *rank, a args) { r.world.Pcontrol(int(a[0])) },
	"MPI_Alloc_mem":           allocMem,
	"MPI_Free_mem":            func(_ *rank, a args) { C.free(unsafe.Pointer(ptr[byte](a[0]))) },

	"MPI_Info_create": infoCreate, "MPI_Info_free": infoFree, "MPI_Info_set": infoSet, "MPI_Info_get": infoGet, "MPI_Info_get_nkeys": infoKeys,
	"MPI_Info_get_nthkey": infoKey, "MPI_Info_delete": infoDelete, "MPI_Info_dup": infoDup,

	"loggp_now": func(r *rank, _ args) { r.now.result = int64(r.world.Wtime() / unit.Nanosecond) },
	"loggp_sleep": func(r *rank, a args) {
		if r.p.Real {
			time.Sleep(time.Duration(a[0]))
			return
		}
		r.world.Compute(unit.Time(a[0]) * unit.Nanosecond)
	},
	"loggp_tick": func(r *rank, _ args) { r.now.result = max(int64(r.world.Wtick()/unit.Nanosecond), 1) },
}

const threadFunneled = 1024

func (r *rank) init() {
	if r.initialized {
		r.fail(mpi.ErrOther, "it was already called")
	}
	r.initialized = true
}

func finalize(r *rank, _ args) {
	if r.self != nil {
		r.deleteAll(commSelf, &r.self.attributes)
	}
	r.deleteAll(commWorld, &r.own.attributes)
	r.world.Settle()
	r.finalized = true
}

// codes has the number of each class of errors.
var codes = map[mpi.Class]int32{
	mpi.Success: 0, mpi.ErrBuffer: 1, mpi.ErrCount: 2, mpi.ErrType: 3, mpi.ErrTag: 4, mpi.ErrComm: 5, mpi.ErrRank: 6, mpi.ErrRequest: 7, mpi.ErrRoot: 8,
	mpi.ErrGroup: 9, mpi.ErrOp: 10, mpi.ErrTopology: 11, mpi.ErrDims: 12, mpi.ErrArg: 13, mpi.ErrUnknown: 14, mpi.ErrTruncate: 15, mpi.ErrOther: 16,
	mpi.ErrIntern: 17, mpi.ErrPending: 18, mpi.ErrInStatus: 19,
}

// later are the error classes of MPI-2 and later by number, from 20 on. The library raises few of
// them.
var later = [...]struct {
	class mpi.Class
	text  string
}{
	{"MPI_ERR_ACCESS", "permission denied"}, {"MPI_ERR_AMODE", "the mode in which a file is opened"}, {"MPI_ERR_ASSERT", "an assertion about one-sided communication"},
	{"MPI_ERR_BAD_FILE", "the name of a file"}, {"MPI_ERR_BASE", "the address of memory to be freed"}, {"MPI_ERR_CONVERSION", "the conversion of data"},
	{"MPI_ERR_DISP", "a displacement in a window"}, {"MPI_ERR_DUP_DATAREP", "a data representation that is defined already"}, {"MPI_ERR_FILE_EXISTS", "the file exists"},
	{"MPI_ERR_FILE_IN_USE", "the file is in use"}, {"MPI_ERR_FILE", "a file handle"}, {errInfoKey, "the key of an info is empty or too long"},
	{errInfoNoKey, "the info has no such key"}, {"MPI_ERR_INFO_VALUE", "the value of an info is too long"}, {errInfo, "an info is none, or was freed"},
	{"MPI_ERR_IO", "input or output"}, {errKeyval, "an attribute key is none, or was freed"}, {"MPI_ERR_LOCKTYPE", "the type of a lock"},
	{"MPI_ERR_NAME", "the name of a service"}, {errNoMem, "no memory"}, {"MPI_ERR_NOT_SAME", "an argument that must be the same on all ranks"},
	{"MPI_ERR_NO_SPACE", "no space"}, {"MPI_ERR_NO_SUCH_FILE", "no such file"}, {"MPI_ERR_PORT", "the name of a port"},
	{"MPI_ERR_QUOTA", "a quota is exceeded"}, {"MPI_ERR_READ_ONLY", "the file or file system is read-only"}, {"MPI_ERR_RMA_ATTACH", "memory cannot be attached to a window"},
	{"MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window"}, {"MPI_ERR_RMA_RANGE", "memory outside of a window"}, {"MPI_ERR_RMA_SHARED", "memory cannot be shared"},
	{"MPI_ERR_RMA_SYNC", "the synchronization of a window"}, {"MPI_ERR_SERVICE", "a service name"}, {"MPI_ERR_SIZE", "the size of a window"},
	{"MPI_ERR_SPAWN", "processes cannot be started"}, {"MPI_ERR_UNSUPPORTED_DATAREP", "an unsupported data representation"}, {"MPI_ERR_UNSUPPORTED_OPERATION", "an unsupported operation"},
	{"MPI_ERR_WIN", "a window"}, {"MPI_ERR_RMA_FLAVOR", "a window of another flavor"}, {"MPI_ERR_PROC_ABORTED", "a process has aborted"},
	{"MPI_ERR_VALUE_TOO_LARGE", "a value is too large"}, {"MPI_ERR_SESSION", "a session"}, {"MPI_ERR_ERRHANDLER", "an error handler"}, {"MPI_ERR_ABI", "the ABI"},
}

func init() {
	for i, l := range later {
		codes[l.class] = int32(20 + i)
	}
}

// meaning describes an error class.
func meaning(c mpi.Class) string {
	if i := codes[c] - 20; i >= 0 {
		return later[i].text
	}
	return mpi.ErrorString(c)
}

// Classes of errors of MPI-2, which only functions of this package make.
const (
	errInfoKey   mpi.Class = "MPI_ERR_INFO_KEY"
	errInfoNoKey mpi.Class = "MPI_ERR_INFO_NOKEY"
	errInfo      mpi.Class = "MPI_ERR_INFO"
	errKeyval    mpi.Class = "MPI_ERR_KEYVAL"
	errNoMem     mpi.Class = "MPI_ERR_NO_MEM"
)

const lastCode = 0x3fff // MPI_ERR_LASTCODE

// code returns the number of an error's class, as the function returns it.
func (r *rank) code(err error) int32 {
	switch {
	case r.now.told != 0:
		return r.now.told
	case r.now.pending:
		return codes[mpi.ErrInStatus]
	}
	if n, ok := codes[mpi.ErrorClass(err)]; ok {
		return n
	}
	return codes[mpi.ErrOther]
}

func classOf(code int) mpi.Class {
	for c, n := range codes {
		if int(n) == code {
			return c
		}
	}
	return mpi.ErrUnknown
}

// errorCode is one that the program has added, or a class.
type errorCode struct {
	class int
	text  string
}

// added returns the error class or code that the program has added under a number, or nil.
func (r *rank) added(n int) *errorCode {
	if i := n - lastCode - 1; i >= 0 && i < len(r.errors) {
		return &r.errors[i]
	}
	return nil
}

func (r *rank) addError(class int, at uintptr) {
	r.errors = append(r.errors, errorCode{class: class})
	n := lastCode + len(r.errors)
	if class < 0 {
		r.errors[len(r.errors)-1].class = n
	}
	set(at, int32(n))
	set(r.libraryAttribute(lastUsedCode), int32(n))
}

func addErrorClass(r *rank, a args) { r.addError(-1, a[0]) }

func addErrorCode(r *rank, a args) {
	if n := int(a[0]); n < 0 || n > lastCode && r.added(n) == nil {
		r.fail(mpi.ErrArg, "%d is not an error class", n)
	}
	r.addError(int(a[0]), a[1])
}

func addErrorString(r *rank, a args) {
	e := r.added(int(a[0]))
	if e == nil {
		r.fail(mpi.ErrArg, "the program has not added error code %d", int(a[0]))
	}
	e.text = text(a[1])
}

func errorString(r *rank, a args) {
	if e := r.added(int(a[0])); e != nil {
		setText(a[1], e.text, 512, a[2])
		return
	}
	c := classOf(int(a[0]))
	if c == mpi.ErrUnknown && int(a[0]) != 14 {
		r.fail(mpi.ErrArg, "%d is not an error code", int(a[0]))
	}
	setText(a[1], string(c)+": "+meaning(c), 512, a[2])
}

func errorClass(r *rank, a args) {
	n := int(a[0])
	if e := r.added(n); e != nil {
		n = e.class
	} else if n < 0 || n > lastCode {
		r.fail(mpi.ErrArg, "%d is not an error code", n)
	}
	set(a[1], int32(n))
}

func errhandlerCreate(r *rank, a args) {
	f := a[0]
	h := mpi.NewErrorHandler(func(c *mpi.Comm, err *mpi.Error) {
		s := &r.h.scratch
		s[2], s[3] = C.intptr_t(r.handleOf(c)), C.intptr_t(r.code(err))
		r.callback(f, uintptr(unsafe.Pointer(&s[2])), uintptr(unsafe.Pointer(&s[3])))
	})
	set(a[1], r.handlers.add(kindErrhandler, h))
}

// handleOf returns the handle of a communicator.
func (r *rank) handleOf(c *mpi.Comm) uintptr {
	if r.self != nil && r.self.Comm == c {
		return commSelf
	}
	for _, s := range r.comms.slots {
		if s.used && s.value.Comm == c {
			return s.value.handle
		}
	}
	return commWorld
}

func errhandlerSet(r *rank, a args) {
	c := r.comm(a[0])
	switch a[1] {
	case errorsAreFatal, errorsAbort:
		c.SetErrorHandler(mpi.ErrorsAreFatal)
		return
	case errorsReturn:
		c.SetErrorHandler(mpi.ErrorsReturn)
		return
	}
	h := r.handlers.get(kindErrhandler, a[1])
	if h == nil {
		r.fail(mpi.ErrArg, "invalid error handler: it is MPI_ERRHANDLER_NULL, or was freed")
	}
	c.SetErrorHandler(*h)
}

func errhandlerGet(r *rank, a args) {
	h := r.comm(a[0]).ErrorHandler()
	switch h {
	case mpi.ErrorsAreFatal:
		set(a[1], uintptr(errorsAreFatal))
		return
	case mpi.ErrorsReturn:
		set(a[1], uintptr(errorsReturn))
		return
	}
	for i, s := range r.handlers.slots {
		if s.used && s.value == h {
			set(a[1], kindErrhandler<<kindShift|uintptr(s.turn)<<20|uintptr(i))
			return
		}
	}
	set(a[1], r.handlers.add(kindErrhandler, h)) // the program has freed it, and the communicator has it still
}

func errhandlerFree(r *rank, a args) {
	h := *ptr[uintptr](a[0])
	if r.handlers.get(kindErrhandler, h) == nil {
		if h != errorsAreFatal && h != errorsReturn && h != errorsAbort {
			r.fail(mpi.ErrArg, "invalid error handler: it is MPI_ERRHANDLER_NULL, or was freed")
		}
	} else {
		r.handlers.remove(h)
	}
	set(a[0], uintptr(errhandlerNull))
}

func callErrhandler(r *rank, a args) {
	c := r.comm(a[0])
	if c.ErrorHandler() == mpi.ErrorsReturn {
		return
	}
	r.now.told = int32(a[1])
	c.Raise(classOf(int(a[1])), "the program calls the error handler with code %d", int(a[1]))
}

func allocMem(r *rank, a args) {
	n := int(a[0])
	if n < 0 {
		r.fail(mpi.ErrArg, "negative size: %d bytes", n)
	}
	p := C.malloc(C.size_t(max(n, 1)))
	if p == nil {
		r.fail(errNoMem, "cannot allocate %d bytes", n)
	}
	set(a[2], uintptr(p))
}

// info is a list of keys and values.
type info struct{ keys, values []string }

// There are no hints that the library heeds: it ignores all, and has none.

func commSetInfo(r *rank, a args) {
	if r.comm(a[0]); a[1] != infoNull {
		r.info(a[1])
	}
}

func commGetInfo(r *rank, a args) {
	r.comm(a[0])
	set(a[1], r.infos.add(kindInfo, &info{}))
}

func (r *rank) info(h uintptr) *info {
	if x := r.infos.get(kindInfo, h); x != nil {
		return *x
	}
	if h == infoEnv {
		return &info{}
	}
	r.fail(errInfo, "invalid info: it is MPI_INFO_NULL, or was freed")
	return nil
}

func infoCreate(r *rank, a args) { set(a[0], r.infos.add(kindInfo, &info{})) }

func infoFree(r *rank, a args) {
	h := *ptr[uintptr](a[0])
	r.info(h)
	if h == infoEnv {
		r.fail(errInfo, "MPI_INFO_ENV cannot be freed")
	}
	r.infos.remove(h)
	set(a[0], uintptr(infoNull))
}

func infoSet(r *rank, a args) {
	x, key, value := r.info(a[0]), text(a[1]), text(a[2])
	if key == "" || len(key) >= 256 {
		r.fail(errInfoKey, "the key has %d characters: it must have 1 to 255", len(key))
	}
	if i := slices.Index(x.keys, key); i >= 0 {
		x.values[i] = value
		return
	}
	x.keys, x.values = append(x.keys, key), append(x.values, value)
}

func infoGet(r *rank, a args) {
	x := r.info(a[0])
	i := slices.Index(x.keys, text(a[1]))
	set(a[4], truth(i >= 0))
	if i >= 0 {
		setText(a[3], x.values[i], int(a[2])+1, 0)
	}
}

func infoLength(r *rank, a args) {
	x := r.info(a[0])
	i := slices.Index(x.keys, text(a[1]))
	if set(a[3], truth(i >= 0)); i >= 0 {
		set(a[2], int32(len(x.values[i])))
	}
}

func infoKeys(r *rank, a args) { set(a[1], int32(len(r.info(a[0]).keys))) }

func infoKey(r *rank, a args) {
	x, n := r.info(a[0]), int(a[1])
	if n < 0 || n >= len(x.keys) {
		r.fail(mpi.ErrArg, "key %d: the info has %d keys, counted from 0", n, len(x.keys))
	}
	setText(a[2], x.keys[n], 256, 0)
}

func infoDelete(r *rank, a args) {
	x := r.info(a[0])
	i := slices.Index(x.keys, text(a[1]))
	if i < 0 {
		r.fail(errInfoNoKey, "the info has no key %q", text(a[1]))
	}
	x.keys, x.values = slices.Delete(x.keys, i, i+1), slices.Delete(x.values, i, i+1)
}

func infoDup(r *rank, a args) {
	x := r.info(a[0])
	set(a[1], r.infos.add(kindInfo, &info{slices.Clone(x.keys), slices.Clone(x.values)}))
}
