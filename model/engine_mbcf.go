package model

// The work of MBCFEngine.
const (
	MBCFSendCost          CostKey = iota // a send call
	MBCFReceiveCost                      // a receive call
	MBCFTestCost                         // a wait, a test or a probe
	MBCFPostRequestCost                  // posting a request
	MBCFTakeRequestCost                  // taking a request out of its FIFO
	MBCFHandleMessageCost                // taking a message out of its FIFO, or finding a remote write complete
)

// MBCFEngine is the engine of MPI/MBCF, in which receivers post requests and senders write to
// receive buffers (impl/engine/mbcf).
var MBCFEngine = &Engine{
	Name:        "mbcf",
	Description: "remote writes to receive buffers if a request is there, and FIFOs of messages if not",
	UsesMBCF:    true,
	Settings:    []Setting{{Key: "fifo", Optional: true}, {Key: "requests", Optional: true}},
	Costs: []SoftwareCost{
		MBCFSendCost:          {Key: "send", Description: "a send call"},
		MBCFReceiveCost:       {Key: "receive", Description: "a receive call"},
		MBCFTestCost:          {Key: "test", Description: "a wait, a test or a probe"},
		MBCFPostRequestCost:   {Key: "post", Description: "posting a request for sending"},
		MBCFTakeRequestCost:   {Key: "take", Description: "taking a request for sending out of its FIFO"},
		MBCFHandleMessageCost: {Key: "handle", Description: "taking a message out of its FIFO, or finding a remote write complete"},
	},
}

// Defaults and bounds of MBCFSettings. The sources do not say how long its FIFOs were.
const (
	DefaultFIFOBytes          = 64 << 10 // bytes
	MinFIFOBytes              = 64       // bytes: room for a header and an entry's overhead, and some data
	DefaultRequestFIFOEntries = 64       // entries
)

// MBCFSettings are the settings of libraries that MBCFEngine carries.
type MBCFSettings struct {
	FIFOBytes int // of each message FIFO; 0: DefaultFIFOBytes
	Requests  int // entries of a request FIFO; 0: DefaultRequestFIFOEntries; negative: receivers post no requests
}
