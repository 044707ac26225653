package model

import "github.com/loggp/loggp/model/unit"

// NCCLEngine is NCCL, a library of its own: kernels on GPUs carry out collective operations, sends
// and receives. Package model/nccl has their times.
var NCCLEngine = &Engine{
	Name:        "nccl",
	Description: "kernels on GPUs, and proxies on processors that hand data over to network interfaces",
	Settings:    []Setting{{Key: "tables"}, {Key: "gpu"}, {Key: "processor"}, {Key: "gpudirect"}, {Key: "nvlink"}, {Key: "network"}, {Key: "channels"}},
}

// NCCLSettings are the settings of NCCLEngine: what NCCL finds on a machine, and which constants it
// has.
type NCCLSettings struct {
	Tables         string    // a version of NCCL whose constants package model/nccl has
	GPU, Processor string    // kinds that the tables know
	HasGPUDirect   bool      // interfaces access the memory of GPUs
	NVLink         unit.Rate // of all links of a GPU, as kernels use them
	Network        unit.Rate // of an interface, as NCCL uses it
	NetworkLatency unit.Time // of a message, beyond that of the tables
	Connection     unit.Rate // of a channel between two nodes at most; 0: that of the interface

	// Numbers of channels: of all GPUs of a node, of an interface to other nodes, of NVLS, and of
	// sends and receives.
	NodeChannels, InterfaceChannels, NVLSChannels, PeerChannels int
}
