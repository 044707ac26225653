package model

import "github.com/loggp/loggp/model/unit"

// NCCLEngine is NCCL, a library of its own: kernels on GPUs carry out collective operations, sends
// and receives. Package model/nccl has their times.
var NCCLEngine = &Engine{
	Name:        "nccl",
	Description: "kernels on GPUs, and proxies on processors that hand data over to network interfaces",
	Settings: []Setting{{Key: "tables"}, {Key: "gpu"}, {Key: "processor"}, {Key: "gpudirect"}, {Key: "nvlink"}, {Key: "network"}, {Key: "channels"},
		{Key: "algorithms", Optional: true}, {Key: "protocols", Optional: true}, {Key: "call", Optional: true}, {Key: "block", Optional: true}, {Key: "tree_chunk", Optional: true}},
}

// NCCLProtocols are the protocols of NCCL, as NCCL_PROTO names them.
var NCCLProtocols = [NumNCCLProtocols]string{"LL", "LL128", "Simple"}

// NumNCCLProtocols is their number.
const NumNCCLProtocols = 3

// NCCLAlgorithms are the algorithms of NCCL's collective operations, as NCCL_ALGO names them but in
// lower case.
var NCCLAlgorithms = []string{"ring", "tree", "nvls", "nvls-tree"}

// NCCLSettings are the settings of NCCLEngine: what NCCL finds on a machine, and which constants it
// has.
type NCCLSettings struct {
	Tables         string    // a version of NCCL whose constants package model/nccl has
	GPU, Processor string    // kinds that the tables know
	HasGPUDirect   bool      // interfaces access the memory of GPUs
	NVLink         unit.Rate // of all links of a GPU, as kernels use them
	Network        unit.Rate // of an interface, as NCCL uses it
	NetworkLatency unit.Time // of a message, beyond that of the tables

	Algorithms, Protocols []string // to which NCCL is limited (NCCL_ALGO, NCCL_PROTO); nil: none

	// Measured in place of the constants, by protocol: the base latency of a call, the latency of a
	// hop between nodes, and the rates of data of a block of threads of a ring, and of a connection
	// of a channel between nodes. 0: those of the tables, and of the interface.
	Call, NetworkHop  [NumNCCLProtocols]unit.Time
	Block, Connection [NumNCCLProtocols]unit.Rate

	TreeChunk int // bytes of a chunk of trees by Simple (NCCL_DYNAMIC_CHUNK_SIZE); 0: by the bytes

	// Numbers of channels: of all GPUs of a node, of an interface to other nodes, of NVLS, and of
	// sends and receives.
	NodeChannels, InterfaceChannels, NVLSChannels, PeerChannels int
}
