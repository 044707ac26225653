package model

// The work of Mbcf.
const (
	MBCFSend    CostKey = iota // a send call
	MBCFReceive                // a receive call
	MBCFTest                   // a wait, a test or a probe
	MBCFPost                   // posting a request
	MBCFTake                   // taking a request out of its FIFO
	MBCFHandle                 // taking a message out of its FIFO, or finding a remote write complete
)

// Mbcf is the engine of MPI/MBCF, in which receivers post requests and senders write to receive
// buffers (impl/engine/mbcf).
var Mbcf = &Engine{
	Name:        "mbcf",
	Description: "remote writes to receive buffers if a request is there, and FIFOs of messages if not",
	Accesses:    true,
	Settings:    []Setting{{Key: "fifo", Optional: true}, {Key: "requests", Optional: true}},
	Costs: []SoftwareCost{
		MBCFSend:    {Key: "send", About: "a send call"},
		MBCFReceive: {Key: "receive", About: "a receive call"},
		MBCFTest:    {Key: "test", About: "a wait, a test or a probe"},
		MBCFPost:    {Key: "post", About: "posting a request for sending"},
		MBCFTake:    {Key: "take", About: "taking a request for sending out of its FIFO"},
		MBCFHandle:  {Key: "handle", About: "taking a message out of its FIFO, or finding a remote write complete"},
	},
}

// Defaults and bounds of MBCFSettings. The sources do not say how long its FIFOs were.
const (
	DefaultFIFOBytes = 64 << 10 // bytes
	MinFIFOBytes     = 64       // bytes: room for a header and an entry's overhead, and some data
	DefaultRequests  = 64       // entries
)

// MBCFSettings are the settings of libraries that Mbcf carries.
type MBCFSettings struct {
	FIFOBytes int // of each message FIFO; 0: DefaultFIFOBytes
	Requests  int // entries of a request FIFO; 0: DefaultRequests; negative: receivers post no requests
}
