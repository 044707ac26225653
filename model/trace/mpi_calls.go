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
	kind         callKind
	blocks       bool // a send or a receive ends in the call
	operation    collective.Operation
	count, of    int // elements and datatype, of the input of each rank
	byRanks      int // 1: the input has a block for each rank
	root         int
	communicator int
	request      int
}

// sends has the form of sends: buf, count, datatype, dest, tag, comm, request.
var (
	blockingSend = callForm{kind: sendCall, blocks: true, count: 1, of: 2, communicator: 5}
	startedSend  = callForm{kind: sendCall, count: 1, of: 2, communicator: 5, request: 6}
)

// callForms are the functions that are known, with the arguments of MPI 4.1 in C.
var callForms = map[string]callForm{
	"MPI_Send": blockingSend, "MPI_Bsend": blockingSend, "MPI_Ssend": blockingSend, "MPI_Rsend": blockingSend,
	"MPI_Isend": startedSend, "MPI_Ibsend": startedSend, "MPI_Issend": startedSend, "MPI_Irsend": startedSend,
	"MPI_Recv":     {kind: recvCall, blocks: true, count: 1, of: 2, communicator: 5},
	"MPI_Irecv":    {kind: recvCall, count: 1, of: 2, communicator: 5, request: 6},
	"MPI_Sendrecv": {kind: sendRecvCall, communicator: 10},
	"MPI_Wait":     {kind: waitCall},
	"MPI_Waitall":  {kind: waitAllCall},

	"MPI_Barrier":              {kind: collectiveCall, operation: collective.Barrier, communicator: 0},
	"MPI_Bcast":                {kind: collectiveCall, operation: collective.Bcast, count: 1, of: 2, root: 3, communicator: 4},
	"MPI_Reduce":               {kind: collectiveCall, operation: collective.Reduce, count: 2, of: 3, root: 5, communicator: 6},
	"MPI_Allreduce":            {kind: collectiveCall, operation: collective.Allreduce, count: 2, of: 3, communicator: 5},
	"MPI_Scan":                 {kind: collectiveCall, operation: collective.Scan, count: 2, of: 3, communicator: 5},
	"MPI_Exscan":               {kind: collectiveCall, operation: collective.Scan, count: 2, of: 3, communicator: 5},
	"MPI_Reduce_scatter_block": {kind: collectiveCall, operation: collective.ReduceScatter, count: 2, of: 3, byRanks: 1, communicator: 5},
	"MPI_Allgather":            {kind: collectiveCall, operation: collective.Allgather, count: 4, of: 5, communicator: 6}, // what is received is there with MPI_IN_PLACE, too
	"MPI_Alltoall":             {kind: collectiveCall, operation: collective.Alltoall, count: 4, of: 5, byRanks: 1, communicator: 6},
	"MPI_Gather":               {kind: collectiveCall, operation: collective.Gather, count: 1, of: 2, root: 6, communicator: 7},
	"MPI_Scatter":              {kind: collectiveCall, operation: collective.Scatter, count: 4, of: 5, byRanks: 1, root: 6, communicator: 7},

	// As the tracer of this project has them: communicator, bytes to each rank, bytes from each.
	"MPI_Alltoallv": {kind: blocksCall}, "MPI_Allgatherv": {kind: blocksCall}, "MPI_Gatherv": {kind: blocksCall}, "MPI_Scatterv": {kind: blocksCall},

	"MPI_Comm_split": {kind: splitCall, communicator: 0},
	"MPI_Comm_dup":   {kind: dupCall, communicator: 0},

	"MPI_Init": {}, "MPI_Init_thread": {}, "MPI_Finalize": {}, "MPI_Initialized": {}, "MPI_Finalized": {}, "MPI_Wtime": {}, "MPI_Wtick": {}, "MPI_Get_processor_name": {},
	"MPI_Comm_rank": {}, "MPI_Comm_size": {}, "MPI_Comm_free": {}, "MPI_Comm_get_attr": {}, "MPI_Attr_get": {}, "MPI_Comm_set_errhandler": {}, "MPI_Errhandler_set": {}, "MPI_Comm_group": {}, "MPI_Group_free": {},
	"MPI_Get_count": {}, "MPI_Address": {}, "MPI_Get_address": {}, "MPI_Buffer_attach": {}, "MPI_Buffer_detach": {}, "MPI_Op_create": {}, "MPI_Op_free": {},
	"MPI_Type_commit": {}, "MPI_Type_free": {}, "MPI_Type_size": {}, "MPI_Type_contiguous": {}, "MPI_Type_vector": {}, "MPI_Type_struct": {}, "MPI_Type_create_struct": {}, "MPI_Type_indexed": {}, "MPI_Type_extent": {},
	"MPI_Type_get_extent": {}, "MPI_Type_create_resized": {}, "MPI_Pack": {}, "MPI_Unpack": {}, "MPI_Pack_size": {},
}
