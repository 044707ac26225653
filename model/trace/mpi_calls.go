package trace

import "github.com/loggp/loggp/model/collective"

// Kinds of calls.
type callKind uint8

const (
	localCall callKind = iota // takes no time in the simulation and communicates with nobody
	sendCall
	recvCall
	sendRecvCall
	waitCall    // for one request
	waitAllCall // for a list of requests
	collectiveCall
	blocksCall // a collective operation whose blocks have a size each
	splitCall  // makes communicators by colour and key
	dupCall    // makes a communicator of the same ranks
)

// callForm says where the arguments of a function are, counted from 0. Positions of arguments that
// it does not have are 0.
type callForm struct {
	kind                        callKind
	isBlocking                  bool // a send or a receive ends in the call
	operation                   collective.Operation
	countArgument, dataArgument int // elements and datatype, of the input of each rank
	byRanks                     int // 1: the input has a block for each rank
	rootArgument                int
	communicatorArgument        int
	requestArgument             int
}

// sends has the form of sends: buf, count, datatype, dest, tag, comm, request.
var (
	blockingSend = callForm{kind: sendCall, isBlocking: true, countArgument: 1, dataArgument: 2, communicatorArgument: 5}
	startedSend  = callForm{kind: sendCall, countArgument: 1, dataArgument: 2, communicatorArgument: 5, requestArgument: 6}
)

// callForms are the functions that are known, with the arguments of MPI 4.1 in C.
var callForms = map[string]callForm{
	"MPI_Send": blockingSend, "MPI_Bsend": blockingSend, "MPI_Ssend": blockingSend, "MPI_Rsend": blockingSend,
	"MPI_Isend": startedSend, "MPI_Ibsend": startedSend, "MPI_Issend": startedSend, "MPI_Irsend": startedSend,
	"MPI_Recv":     {kind: recvCall, isBlocking: true, countArgument: 1, dataArgument: 2, communicatorArgument: 5},
	"MPI_Irecv":    {kind: recvCall, countArgument: 1, dataArgument: 2, communicatorArgument: 5, requestArgument: 6},
	"MPI_Sendrecv": {kind: sendRecvCall, communicatorArgument: 10},
	"MPI_Wait":     {kind: waitCall},
	"MPI_Waitall":  {kind: waitAllCall},

	"MPI_Barrier":              {kind: collectiveCall, operation: collective.Barrier, communicatorArgument: 0},
	"MPI_Bcast":                {kind: collectiveCall, operation: collective.Bcast, countArgument: 1, dataArgument: 2, rootArgument: 3, communicatorArgument: 4},
	"MPI_Reduce":               {kind: collectiveCall, operation: collective.Reduce, countArgument: 2, dataArgument: 3, rootArgument: 5, communicatorArgument: 6},
	"MPI_Allreduce":            {kind: collectiveCall, operation: collective.Allreduce, countArgument: 2, dataArgument: 3, communicatorArgument: 5},
	"MPI_Scan":                 {kind: collectiveCall, operation: collective.Scan, countArgument: 2, dataArgument: 3, communicatorArgument: 5},
	"MPI_Exscan":               {kind: collectiveCall, operation: collective.Scan, countArgument: 2, dataArgument: 3, communicatorArgument: 5},
	"MPI_Reduce_scatter_block": {kind: collectiveCall, operation: collective.ReduceScatter, countArgument: 2, dataArgument: 3, byRanks: 1, communicatorArgument: 5},
	"MPI_Allgather":            {kind: collectiveCall, operation: collective.Allgather, countArgument: 4, dataArgument: 5, communicatorArgument: 6}, // what is received is there with MPI_IN_PLACE, too
	"MPI_Alltoall":             {kind: collectiveCall, operation: collective.Alltoall, countArgument: 4, dataArgument: 5, byRanks: 1, communicatorArgument: 6},
	"MPI_Gather":               {kind: collectiveCall, operation: collective.Gather, countArgument: 1, dataArgument: 2, rootArgument: 6, communicatorArgument: 7},
	"MPI_Scatter":              {kind: collectiveCall, operation: collective.Scatter, countArgument: 4, dataArgument: 5, byRanks: 1, rootArgument: 6, communicatorArgument: 7},

	// As the tracer of this project has them: communicator, bytes to each rank, bytes from each.
	"MPI_Alltoallv": {kind: blocksCall}, "MPI_Allgatherv": {kind: blocksCall}, "MPI_Gatherv": {kind: blocksCall}, "MPI_Scatterv": {kind: blocksCall},

	"MPI_Comm_split": {kind: splitCall, communicatorArgument: 0},
	"MPI_Comm_dup":   {kind: dupCall, communicatorArgument: 0},

	"MPI_Init": {}, "MPI_Init_thread": {}, "MPI_Finalize": {}, "MPI_Initialized": {}, "MPI_Finalized": {}, "MPI_Wtime": {}, "MPI_Wtick": {}, "MPI_Get_processor_name": {},
	"MPI_Comm_rank": {}, "MPI_Comm_size": {}, "MPI_Comm_free": {}, "MPI_Comm_get_attr": {}, "MPI_Attr_get": {}, "MPI_Comm_set_errhandler": {}, "MPI_Errhandler_set": {}, "MPI_Comm_group": {}, "MPI_Group_free": {},
	"MPI_Get_count": {}, "MPI_Address": {}, "MPI_Get_address": {}, "MPI_Buffer_attach": {}, "MPI_Buffer_detach": {}, "MPI_Op_create": {}, "MPI_Op_free": {},
	"MPI_Type_commit": {}, "MPI_Type_free": {}, "MPI_Type_size": {}, "MPI_Type_contiguous": {}, "MPI_Type_vector": {}, "MPI_Type_struct": {}, "MPI_Type_create_struct": {}, "MPI_Type_indexed": {}, "MPI_Type_extent": {},
	"MPI_Type_get_extent": {}, "MPI_Type_create_resized": {}, "MPI_Pack": {}, "MPI_Unpack": {}, "MPI_Pack_size": {},
}
