package mpi

import (
	"strings"
	"sync"
	"unicode"
)

// functionNames has the functions of the standard whose names do not follow from those of the calls
// in Go.
var functionNames = map[string]string{
	"WaitAll": "MPI_Waitall", "WaitAny": "MPI_Waitany", "WaitSome": "MPI_Waitsome",
	"TestAll": "MPI_Testall", "TestAny": "MPI_Testany", "TestSome": "MPI_Testsome", "StartAll": "MPI_Startall",
	"Abort": "MPI_Abort", "Accept": "MPI_Comm_accept", "Attribute": "MPI_Attr_get",
	"AttachBuffer": "MPI_Buffer_attach", "AttachGrowingBuffer": "MPI_Buffer_attach", "DetachBuffer": "MPI_Buffer_detach",
	"AttachOwnBuffer": "MPI_Comm_attach_buffer", "AttachOwnGrowingBuffer": "MPI_Comm_attach_buffer", "DetachOwnBuffer": "MPI_Comm_detach_buffer",
	"Compare": "MPI_Comm_compare", "Connect": "MPI_Comm_connect",
	"Create": "MPI_Comm_create", "CreateCart": "MPI_Cart_create", "CreateDims": "MPI_Dims_create", "CreateGraph": "MPI_Graph_create",
	"CreateGroup": "MPI_Comm_create_group", "CreateInter": "MPI_Intercomm_create",
	"DeleteAttribute": "MPI_Attr_delete", "DeleteFile": "MPI_File_delete", "DrainOperations": "MPI_Finalize",
	"Dup": "MPI_Comm_dup", "DupWithNumber": "MPI_Comm_dup", "Free": "MPI_Comm_free", "Group": "MPI_Comm_group",
	"Join": "MPI_Comm_join", "JoinAddress": "MPI_Comm_join", "LookupName": "MPI_Lookup_name", "Merge": "MPI_Intercomm_merge",
	"Neighbours": "MPI_Graph_neighbors", "OpenFile": "MPI_File_open", "ProcessorName": "MPI_Get_processor_name",
	"Raise": "MPI_Comm_call_errhandler", "RemoteGroup": "MPI_Comm_remote_group", "RemoteSize": "MPI_Comm_remote_size",
	"SetAttribute": "MPI_Attr_put", "SetErrorHandler": "MPI_Errhandler_set", "Spawn": "MPI_Comm_spawn", "Split": "MPI_Comm_split",
	"Topology": "MPI_Topo_test", "SetCollectiveRules": "MPI_T_cvar_write",
	"Window.Attach": "MPI_Win_attach", "Window.SharedMemory": "MPI_Win_shared_query",
	"File.Group": "MPI_File_get_group", "File.Size": "MPI_File_get_size", "File.View": "MPI_File_get_view", "File.Position": "MPI_File_get_position",
	"File.SharedPosition": "MPI_File_get_position_shared", "File.ByteOffset": "MPI_File_get_byte_offset", "File.TypeExtent": "MPI_File_get_type_extent",
}

// windowAccesses are the calls of windows that move data, whose functions do not begin with
// MPI_Win.
var windowAccesses = map[string]bool{"Put": true, "Get": true, "Accumulate": true, "GetAccumulate": true, "FetchAndOp": true, "CompareAndSwap": true,
	"Rput": true, "Rget": true, "Raccumulate": true, "RgetAccumulate": true}

var knownFunctionNames sync.Map // by the names of calls

// FunctionName returns the name in the standard of a call, such as MPI_Waitall of WaitAll. One that
// is a function's name already is returned as it is.
func FunctionName(call string) string {
	if call == "" || strings.HasPrefix(call, "MPI_") {
		return call
	}
	if name, ok := knownFunctionNames.Load(call); ok {
		return name.(string)
	}
	name, ok := functionNames[call]
	if !ok {
		prefix, rest := "MPI_", call
		if owner, method, has := strings.Cut(call, "."); has {
			switch rest = method; {
			case owner == "File":
				prefix = "MPI_File_"
			case owner == "Window" && !windowAccesses[method]:
				prefix = "MPI_Win_"
			}
		}
		name = prefix + separateWords(rest, prefix == "MPI_")
	}
	knownFunctionNames.Store(call, name)
	return name
}

// separateWords returns the words of a name in Go as the standard writes them: ReduceScatter is
// Reduce_scatter, or reduce_scatter if it does not begin the name.
func separateWords(name string, first bool) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		if i > 0 || !first {
			c = unicode.ToLower(c)
		}
		b.WriteRune(c)
	}
	return b.String()
}
