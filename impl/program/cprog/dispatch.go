//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
	"github.com/loggp/loggp/model/unit"
)

// The table of handlers. Functions that only convert their arguments have generated handlers.

//go:generate go run ./generate

// handler carries out a function.
type handler func(r *rank, a args)

// handlers has the handler of each function, by its number in toolchain.Functions.
var handlers = func() []handler {
	all := make([]handler, len(toolchain.Functions))
	for i, f := range toolchain.Functions {
		name := f.Name
		if f.IntForm != "" {
			name = f.IntForm
		}
		written, generated := writtenHandlers[name], generatedHandlers[name]
		if tool := toolHandlers[name]; tool != nil {
			written = tool
		}
		if access := fileAccessHandler(name); access != nil {
			written = access
		}
		if start := collectiveStarters[f.BlockingName()]; start != nil {
			written = start.handler(f)
		}
		switch {
		case (written == nil) == (generated == nil):
			panic("cprog: " + f.Name + " needs one handler, written or generated")
		case written != nil:
			all[i] = written
		default:
			all[i] = generated
		}
	}
	return all
}()

// collectiveStarters has the collective operations whose messages are all started at once, by the
// names of their blocking forms. They carry out the nonblocking and the persistent forms.
var collectiveStarters = map[string]collectiveStarter{
	"MPI_Barrier":              ibarrier,
	"MPI_Bcast":                ibcast,
	"MPI_Gather":               igather,
	"MPI_Gatherv":              igatherv,
	"MPI_Scatter":              iscatter,
	"MPI_Scatterv":             iscatterv,
	"MPI_Allgather":            iallgather,
	"MPI_Allgatherv":           iallgatherv,
	"MPI_Alltoall":             ialltoall,
	"MPI_Alltoallv":            ialltoallv,
	"MPI_Alltoallw":            ialltoallw,
	"MPI_Reduce":               ireduce,
	"MPI_Allreduce":            iallreduce,
	"MPI_Scan":                 iscan,
	"MPI_Exscan":               iexscan,
	"MPI_Reduce_scatter":       ireduceScatter,
	"MPI_Reduce_scatter_block": ireduceScatterBlock,
	"MPI_Neighbor_allgather":   ineighborAllgather,
	"MPI_Neighbor_allgatherv":  ineighborAllgatherv,
	"MPI_Neighbor_alltoall":    ineighborAlltoall,
	"MPI_Neighbor_alltoallv":   ineighborAlltoallv,
	"MPI_Neighbor_alltoallw":   ineighborAlltoallw,
}

// writtenHandlers has the handlers that are written by hand.
var writtenHandlers = map[string]handler{
	"MPI_Iprobe":               iprobe,
	"MPI_Status_set_elements":  statusSetElements,
	"MPI_Test_cancelled":       func(_ *rank, a args) { storeAt(a[1], intOfBool(loadStatus(a[0]).Cancelled)) },
	"MPI_Status_set_cancelled": func(_ *rank, a args) { pointerAt[status](a[0]).cancelled = intOfBool(int32(a[1]) != 0) },
	"MPI_Wait":                 wait, "MPI_Test": test, "MPI_Waitall": waitall, "MPI_Testall": testall, "MPI_Waitany": waitany, "MPI_Testany": testany,
	"MPI_Waitsome": completeSomeHandler(true, mpi.WaitSome), "MPI_Testsome": completeSomeHandler(false, mpi.TestSome), "MPI_Request_get_status": requestGetStatus,
	"MPI_Psend_init": psendInit, "MPI_Precv_init": precvInit, "MPI_Pready": pready, "MPI_Pready_range": preadyRange, "MPI_Pready_list": preadyList, "MPI_Parrived": parrived,
	"MPI_Session_init": sessionInit, "MPI_Session_finalize": sessionFinalize, "MPI_Session_get_num_psets": sessionGetNumPsets, "MPI_Session_get_nth_pset": sessionGetNthPset,
	"MPI_Session_get_info": sessionGetInfo, "MPI_Session_get_pset_info": sessionGetPsetInfo, "MPI_Group_from_session_pset": groupFromSessionPset,
	"MPI_Session_create_errhandler": errhandlerCreate, "MPI_Session_set_errhandler": errhandlerSetHandler(sessionErrorTarget), "MPI_Session_get_errhandler": errhandlerGetHandler(sessionErrorTarget),
	"MPI_Session_call_errhandler": callErrhandlerHandler(sessionErrorTarget),
	"MPI_Comm_create_from_group":  commCreateFromGroup, "MPI_Intercomm_create_from_groups": intercommCreateFromGroups,
	"MPI_Request_get_status_all": requestGetStatusAll, "MPI_Request_get_status_any": requestGetStatusAny, "MPI_Request_get_status_some": requestGetStatusSome,
	"MPI_Status_get_error":  func(_ *rank, a args) { storeAt(a[1], pointerAt[status](a[0]).err) },
	"MPI_Status_get_source": func(_ *rank, a args) { storeAt(a[1], pointerAt[status](a[0]).source) },
	"MPI_Status_get_tag":    func(_ *rank, a args) { storeAt(a[1], pointerAt[status](a[0]).tag) },
	"MPI_Status_set_error":  func(_ *rank, a args) { pointerAt[status](a[0]).err = int32(a[1]) },
	"MPI_Status_set_source": func(_ *rank, a args) { pointerAt[status](a[0]).source = int32(a[1]) },
	"MPI_Status_set_tag":    func(_ *rank, a args) { pointerAt[status](a[0]).tag = int32(a[1]) },
	"MPI_Buffer_flush":      bufferOwnerOf(rankBuffers).flush, "MPI_Buffer_iflush": bufferOwnerOf(rankBuffers).iflush,
	"MPI_Comm_attach_buffer": bufferOwnerOf(commBuffers).attach, "MPI_Comm_detach_buffer": bufferOwnerOf(commBuffers).detach,
	"MPI_Comm_flush_buffer": bufferOwnerOf(commBuffers).flush, "MPI_Comm_iflush_buffer": bufferOwnerOf(commBuffers).iflush,
	"MPI_Session_attach_buffer": bufferOwnerOf(sessionBuffers).attach, "MPI_Session_detach_buffer": bufferOwnerOf(sessionBuffers).detach,
	"MPI_Session_flush_buffer": bufferOwnerOf(sessionBuffers).flush, "MPI_Session_iflush_buffer": bufferOwnerOf(sessionBuffers).iflush,
	"MPI_Type_get_value_index": typeGetValueIndex,
	"MPI_Remove_error_class":   removeErrorClass, "MPI_Remove_error_code": removeErrorCode, "MPI_Remove_error_string": removeErrorString,
	"MPI_Get_hw_resource_info": func(r *rank, a args) { storeAt(a[0], r.infos.add(kindInfo, &info{})) },
	"MPI_Isendrecv":            isendrecv, "MPI_Isendrecv_replace": isendrecvReplace,
	"MPI_Grequest_start": grequestStart, "MPI_Grequest_complete": grequestComplete,
	"MPI_Request_free": requestFree, "MPI_Cancel": cancel, "MPI_Start": start, "MPI_Startall": startall,
	"MPI_Buffer_attach": bufferOwnerOf(rankBuffers).attach, "MPI_Buffer_detach": bufferOwnerOf(rankBuffers).detach,

	"MPI_Type_contiguous": typeContiguous, "MPI_Type_vector": typeVector, "MPI_Type_hvector": typeHvector, "MPI_Type_create_hvector": typeHvector,
	"MPI_Type_indexed": typeIndexed, "MPI_Type_hindexed": typeHindexed, "MPI_Type_create_hindexed": typeHindexed,
	"MPI_Type_create_indexed_block": typeIndexedBlock, "MPI_Type_create_hindexed_block": typeHindexedBlock,
	"MPI_Type_struct": typeStruct, "MPI_Type_create_struct": typeStruct, "MPI_Type_create_resized": typeResized, "MPI_Type_create_subarray": typeSubarray,
	"MPI_Type_dup": typeDup, "MPI_Type_commit": typeCommit, "MPI_Type_free": typeFree, "MPI_Type_size": typeSize,
	"MPI_Type_get_extent": typeGetExtent, "MPI_Type_get_true_extent": typeGetTrueExtent,
	"MPI_Type_get_envelope": typeEnvelope, "MPI_Type_get_contents": typeContents, "MPI_Type_get_envelope_c": typeEnvelopeLarge, "MPI_Type_get_contents_c": typeContentsLarge, "MPI_Type_create_darray": typeDarray, "MPI_Type_match_size": typeMatchSize,
	"MPI_Type_create_f90_integer": typeCreateF90Integer, "MPI_Type_create_f90_real": typeCreateF90Real, "MPI_Type_create_f90_complex": typeCreateF90Complex,
	"MPI_Type_set_name": typeSetName, "MPI_Type_get_name": typeGetName,
	"MPI_Address": getAddress, "MPI_Get_address": getAddress, "MPI_Aint_add": aintAdd, "MPI_Aint_diff": aintDiff,
	"MPI_Pack_external": packExternal, "MPI_Unpack_external": unpackExternal, "MPI_Pack_external_size": packExternalSize,
	"MPI_Pack": pack, "MPI_Unpack": unpack, "MPI_Pack_size": packSize,

	"MPI_Barrier": blockingOrInterHandler(barrier, ibarrier, 0), "MPI_Bcast": blockingOrInterHandler(bcast, ibcast, 4),
	"MPI_Gather": blockingOrInterHandler(gather, igather, 7), "MPI_Gatherv": blockingOrInterHandler(gatherv, igatherv, 8), "MPI_Scatter": blockingOrInterHandler(scatter, iscatter, 7), "MPI_Scatterv": blockingOrInterHandler(scatterv, iscatterv, 8),
	"MPI_Allgather": blockingOrInterHandler(allgather, iallgather, 6), "MPI_Allgatherv": blockingOrInterHandler(allgatherv, iallgatherv, 7),
	"MPI_Alltoall": blockingOrInterHandler(alltoall, ialltoall, 6), "MPI_Alltoallv": blockingOrInterHandler(alltoallv, ialltoallv, 8), "MPI_Alltoallw": blockingOrInterHandler(alltoallw, ialltoallw, 8),
	"MPI_Reduce": blockingOrInterHandler(reduce, ireduce, 6), "MPI_Allreduce": blockingOrInterHandler(reduceAllHandler((*mpi.Comm).Allreduce), iallreduce, 5),
	"MPI_Reduce_scatter": blockingOrInterHandler(reduceScatter, ireduceScatter, 5), "MPI_Reduce_scatter_block": blockingOrInterHandler(reduceScatterBlock, ireduceScatterBlock, 5),
	"MPI_Scan": reduceAllHandler((*mpi.Comm).Scan), "MPI_Exscan": exscan, "MPI_Reduce_local": reduceLocal,
	"MPI_Op_create": opCreate, "MPI_Op_free": opFree, "MPI_Op_commutative": opCommutative,

	"MPI_Mprobe": mprobe, "MPI_Improbe": improbe, "MPI_Mrecv": mrecv, "MPI_Imrecv": imrecv,

	"MPI_Neighbor_allgather": blockingHandler(ineighborAllgather), "MPI_Neighbor_allgatherv": blockingHandler(ineighborAllgatherv), "MPI_Neighbor_alltoall": blockingHandler(ineighborAlltoall),
	"MPI_Neighbor_alltoallv": blockingHandler(ineighborAlltoallv), "MPI_Neighbor_alltoallw": blockingHandler(ineighborAlltoallw),

	"MPI_Status_set_elements_x": statusSetElements,
	"MPI_Add_error_class":       addErrorClass, "MPI_Add_error_code": addErrorCode, "MPI_Add_error_string": addErrorString,

	"MPI_Type_get_extent_x": typeGetExtent, "MPI_Type_get_true_extent_x": typeGetTrueExtent,
	"MPI_Get_elements_x": func(r *rank, a args) {
		n := loadStatus(a[0]).Elements(r.datatype(a[1]))
		if n == mpi.Undefined {
			n = undefined
		}
		storeAt(a[2], n)
	},
	"MPI_Comm_dup_with_info": func(r *rank, a args) {
		r.checkInfo(a[1])
		r.storeDup(r.comm(a[0]).Dup(), a[0], a[2])
	},
	"MPI_Comm_idup": func(r *rank, a args) { r.startIdup(a[0], a[1], a[2]) },
	"MPI_Comm_idup_with_info": func(r *rank, a args) {
		r.checkInfo(a[1])
		r.startIdup(a[0], a[2], a[3])
	},
	"MPI_Comm_create_group": commCreateGroup, "MPI_Comm_set_info": commSetInfo, "MPI_Comm_get_info": commGetInfo,
	"MPI_Info_get_valuelen": infoGetValueLength, "MPI_Info_get_string": infoGetString, "MPI_Info_create_env": infoCreateEnv,

	"MPI_Group_translate_ranks": groupTranslateRanks,

	"MPI_Group_range_incl": groupRangesHandler(mpi.Group.IncludeRanges), "MPI_Group_range_excl": groupRangesHandler(mpi.Group.ExcludeRanges), "MPI_Group_free": groupFree,

	"MPI_Comm_dup":   commDup,
	"MPI_Comm_split": commSplit, "MPI_Comm_split_type": commSplitType, "MPI_Comm_free": commFree,
	"MPI_Comm_disconnect": commFree, "MPI_Comm_get_parent": commGetParent, "MPI_Comm_spawn": commSpawn, "MPI_Comm_spawn_multiple": commSpawnMultiple,
	"MPI_Open_port": openPort, "MPI_Close_port": closePort, "MPI_Comm_accept": commAccept, "MPI_Comm_connect": commConnect, "MPI_Comm_join": commJoin,
	"MPI_Publish_name": publishName, "MPI_Lookup_name": lookupName, "MPI_Unpublish_name": unpublishName,

	"MPI_Intercomm_create": intercommCreate, "MPI_Comm_set_name": commSetName, "MPI_Comm_get_name": commGetName,

	"MPI_Keyval_create": keyvalCreateHandler(communicators), "MPI_Comm_create_keyval": keyvalCreateHandler(communicators), "MPI_Type_create_keyval": keyvalCreateHandler(datatypes),
	"MPI_Keyval_free": keyvalFreeHandler(communicators), "MPI_Comm_free_keyval": keyvalFreeHandler(communicators), "MPI_Type_free_keyval": keyvalFreeHandler(datatypes),
	"MPI_Attr_put": attrPutHandler(communicators), "MPI_Comm_set_attr": attrPutHandler(communicators), "MPI_Type_set_attr": attrPutHandler(datatypes),
	"MPI_Attr_get": attrGetHandler(communicators), "MPI_Comm_get_attr": attrGetHandler(communicators), "MPI_Type_get_attr": attrGetHandler(datatypes),
	"MPI_Attr_delete": attrDeleteHandler(communicators), "MPI_Comm_delete_attr": attrDeleteHandler(communicators), "MPI_Type_delete_attr": attrDeleteHandler(datatypes),

	"MPI_Topo_test": topoTest, "MPI_Cart_create": cartCreate, "MPI_Dims_create": dimsCreate, "MPI_Graph_create": graphCreate,
	"MPI_Dist_graph_create": distGraphCreate, "MPI_Dist_graph_create_adjacent": distGraphCreateAdjacent, "MPI_Dist_graph_neighbors_count": distGraphNeighborsCount, "MPI_Dist_graph_neighbors": distGraphNeighbors,
	"MPI_Graphdims_get": graphdimsGet, "MPI_Graph_get": graphGet,
	"MPI_Cartdim_get": cartdimGet, "MPI_Cart_get": cartGet, "MPI_Cart_rank": cartRank, "MPI_Cart_coords": cartCoords,
	"MPI_Graph_neighbors_count": graphNeighborsCount, "MPI_Graph_neighbors": graphNeighbors, "MPI_Cart_shift": cartShift, "MPI_Cart_sub": cartSub, "MPI_Cart_map": cartMap, "MPI_Graph_map": graphMap,

	"MPI_Get_processor_name": func(r *rank, a args) { storeText(a[0], r.world.ProcessorName(), 256, a[1]) },
	"MPI_Errhandler_create":  errhandlerCreate, "MPI_Comm_create_errhandler": errhandlerCreate, "MPI_Errhandler_set": commSetErrhandler, "MPI_Comm_set_errhandler": commSetErrhandler,
	"MPI_Errhandler_get": errhandlerGetHandler(commErrorTarget), "MPI_Comm_get_errhandler": errhandlerGetHandler(commErrorTarget), "MPI_Errhandler_free": errhandlerFree, "MPI_Comm_call_errhandler": callErrhandlerHandler(commErrorTarget),
	"MPI_Error_string": errorString, "MPI_Error_class": errorClass,
	"MPI_Wtime":          func(r *rank, _ args) { r.currentCall.realResult = float64(r.world.Wtime()) / float64(unit.Second) },
	"MPI_Wtick":          func(r *rank, _ args) { r.currentCall.realResult = float64(r.world.Wtick()) / float64(unit.Second) },
	"MPI_Init":           func(r *rank, _ args) { r.initialize() },
	"MPI_Init_thread":    initThread,
	"MPI_Query_thread":   func(r *rank, a args) { storeAt(a[0], int32(r.providedLevel)) },
	"MPI_Is_thread_main": isThreadMain,
	"MPI_Finalize":       finalize,
	"MPI_Initialized":    func(r *rank, a args) { storeAt(a[0], intOfBool(r.initialized)) },
	"MPI_Finalized":      func(r *rank, a args) { storeAt(a[0], intOfBool(r.finalized)) },
	"MPI_Abort":          func(r *rank, a args) { r.world.Abort(int(a[1])) },
	"MPI_Get_version": func(_ *rank, a args) {
		version, sub := mpi.Version()
		storeAt(a[0], int32(version))
		storeAt(a[1], int32(sub))
	},
	"MPI_Get_library_version": func(_ *rank, a args) { storeText(a[0], libraryVersion, 8192, a[1]) },
	"MPI_Pcontrol":            func(r *rank, a args) { r.world.Pcontrol(int(a[0])) },
	"MPI_Alloc_mem":           allocMem,
	"MPI_Free_mem":            freeMem,

	"MPI_Info_create": infoCreate, "MPI_Info_free": infoFree, "MPI_Info_set": infoSet, "MPI_Info_get": infoGet, "MPI_Info_get_nkeys": infoGetNkeys,
	"MPI_Info_get_nthkey": infoGetNthkey, "MPI_Info_delete": infoDelete, "MPI_Info_dup": infoDup,

	"MPI_Win_create": winCreate, "MPI_Win_allocate": winAllocate, "MPI_Win_allocate_shared": winAllocateShared, "MPI_Win_create_dynamic": winCreateDynamic,
	"MPI_Win_attach": winAttach, "MPI_Win_detach": winDetach, "MPI_Win_shared_query": winSharedQuery, "MPI_Win_free": winFree,
	"MPI_Win_get_group": func(r *rank, a args) { storeAt(a[1], r.addGroup(r.window(a[0]).Group())) },
	"MPI_Win_set_info":  winSetInfo, "MPI_Win_get_info": winGetInfo,
	"MPI_Win_set_name":      func(r *rank, a args) { r.window(a[0]).name = r.stringAt(a[1]) },
	"MPI_Win_get_name":      func(r *rank, a args) { storeText(a[1], r.window(a[0]).name, maxName, a[2]) },
	"MPI_Win_create_keyval": keyvalCreateHandler(windows), "MPI_Win_free_keyval": keyvalFreeHandler(windows),
	"MPI_Win_set_attr": attrPutHandler(windows), "MPI_Win_get_attr": winGetAttr, "MPI_Win_delete_attr": attrDeleteHandler(windows),
	"MPI_Win_create_errhandler": errhandlerCreate, "MPI_Win_set_errhandler": errhandlerSetHandler(windowErrorTarget),
	"MPI_Win_get_errhandler": errhandlerGetHandler(windowErrorTarget), "MPI_Win_call_errhandler": callErrhandlerHandler(windowErrorTarget),
	"loggp_set_address_origin": func(r *rank, a args) { r.addressOrigin = a[0] },

	"MPI_Put": put, "MPI_Get": get, "MPI_Accumulate": accumulate, "MPI_Get_accumulate": getAccumulate, "MPI_Fetch_and_op": fetchAndOp, "MPI_Compare_and_swap": compareAndSwap,
	"MPI_Rput": rput, "MPI_Rget": rget, "MPI_Raccumulate": raccumulate, "MPI_Rget_accumulate": rgetAccumulate,
	"MPI_Win_fence":    func(r *rank, a args) { r.window(a[1]).Fence(r.assertions(a[0])) },
	"MPI_Win_start":    func(r *rank, a args) { w := r.window(a[2]); w.Start(r.group(a[0]), r.assertions(a[1])) },
	"MPI_Win_complete": func(r *rank, a args) { r.window(a[0]).Complete() },
	"MPI_Win_post":     func(r *rank, a args) { w := r.window(a[2]); w.Post(r.group(a[0]), r.assertions(a[1])) },
	"MPI_Win_wait":     func(r *rank, a args) { r.window(a[0]).Wait() },
	"MPI_Win_test":     func(r *rank, a args) { storeAt(a[1], intOfBool(r.window(a[0]).Test())) },
	"MPI_Win_lock":     winLock, "MPI_Win_lock_all": func(r *rank, a args) { r.window(a[1]).LockAll(r.assertions(a[0])) },
	"MPI_Win_unlock":     func(r *rank, a args) { r.window(a[1]).Unlock(destinationRank(int(a[0]))) },
	"MPI_Win_unlock_all": func(r *rank, a args) { r.window(a[0]).UnlockAll() },
	"MPI_Win_flush":      func(r *rank, a args) { r.window(a[1]).Flush(destinationRank(int(a[0]))) }, "MPI_Win_flush_all": func(r *rank, a args) { r.window(a[0]).FlushAll() },
	"MPI_Win_flush_local":     func(r *rank, a args) { r.window(a[1]).FlushLocal(destinationRank(int(a[0]))) },
	"MPI_Win_flush_local_all": func(r *rank, a args) { r.window(a[0]).FlushLocalAll() },
	"MPI_Win_sync":            func(r *rank, a args) { r.window(a[0]).Sync() },

	"MPI_File_open": fileOpen, "MPI_File_close": fileClose, "MPI_File_delete": fileDelete,
	"MPI_File_set_size":    func(r *rank, a args) { r.file(a[0]).SetSize(int(a[1])) },
	"MPI_File_preallocate": func(r *rank, a args) { r.file(a[0]).Preallocate(int(a[1])) },
	"MPI_File_get_size":    func(r *rank, a args) { f := r.file(a[0]); storeAt(a[1], f.Size()) },
	"MPI_File_get_group":   func(r *rank, a args) { f := r.file(a[0]); storeAt(a[1], r.addGroup(f.Group())) },
	"MPI_File_get_amode":   func(r *rank, a args) { f := r.file(a[0]); storeAt(a[1], int32(f.Mode())) },
	"MPI_File_set_info":    fileSetInfo, "MPI_File_get_info": fileGetInfo, "MPI_File_set_view": fileSetView, "MPI_File_get_view": fileGetView,
	"MPI_File_seek":                func(r *rank, a args) { f := r.file(a[0]); f.Seek(int(a[1]), r.seekBase(a[2])) },
	"MPI_File_get_position":        func(r *rank, a args) { f := r.file(a[0]); storeAt(a[1], f.Position()) },
	"MPI_File_seek_shared":         func(r *rank, a args) { f := r.file(a[0]); f.SeekShared(int(a[1]), r.seekBase(a[2])) },
	"MPI_File_get_position_shared": func(r *rank, a args) { f := r.file(a[0]); storeAt(a[1], f.SharedPosition()) },
	"MPI_File_get_byte_offset":     func(r *rank, a args) { f := r.file(a[0]); storeAt(a[2], f.ByteOffset(int(a[1]))) },
	"MPI_File_get_type_extent":     fileGetTypeExtent,
	"MPI_File_set_atomicity":       func(r *rank, a args) { r.file(a[0]).SetAtomicity(int32(a[1]) != 0) },
	"MPI_File_get_atomicity":       func(r *rank, a args) { f := r.file(a[0]); storeAt(a[1], intOfBool(f.Atomicity())) },
	"MPI_File_sync":                func(r *rank, a args) { r.file(a[0]).Sync() },
	"MPI_File_create_errhandler":   errhandlerCreate, "MPI_File_set_errhandler": errhandlerSetHandler(fileErrorTarget),
	"MPI_File_get_errhandler": errhandlerGetHandler(fileErrorTarget), "MPI_File_call_errhandler": callErrhandlerHandler(fileErrorTarget),
	"MPI_Register_datarep": registerDatarep, "MPI_Register_datarep_c": registerDatarep,

	"loggp_now":        func(r *rank, _ args) { r.currentCall.result = int64(r.world.Wtime() / unit.Nanosecond) },
	"loggp_sleep":      sleepThread,
	"loggp_new_thread": newThread, "loggp_drop_thread": cancelNewThread, "loggp_block": blockThread, "loggp_unblock": unblockThreads,
	"loggp_yield": func(r *rank, _ args) { r.yieldInLoop(r.loopPause(16)) },
	"loggp_open":  openLibrary,
	"loggp_tick":  func(r *rank, _ args) { r.currentCall.result = max(int64(r.world.Wtick()/unit.Nanosecond), 1) },
}
