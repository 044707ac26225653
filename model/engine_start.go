package model

// The work of Start.
const (
	StartSendCost    CostKey = iota // a send call
	StartReceiveCost                // a receive call
	StartTestCost                   // a wait, a test or a probe
	StartHandleCost                 // taking in one packet
	StartControlCost                // making a packet that is not the first of a short message
	StartRemoteCost                 // sending or taking in a packet between SMPs, beside the above
)

// StartEngine is the engine of MPI-StarT, with short messages by programmed I/O and long ones by
// RDMA from pinned memory (impl/engine/start).
var StartEngine = &Engine{
	Name:        "start",
	Description: "short messages at once, and long ones by rendezvous and RDMA from pinned memory",
	Settings:    []Setting{{Key: "short"}, {Key: "block", Optional: true}, {Key: "pinned", Optional: true}},
	Costs: []SoftwareCost{
		StartSendCost:    {Key: "send", Description: "a send call"},
		StartReceiveCost: {Key: "receive", Description: "a receive call"},
		StartTestCost:    {Key: "test", Description: "a wait, a test or a probe"},
		StartHandleCost:  {Key: "handle", Description: "taking in a packet"},
		StartControlCost: {Key: "control", Description: "making a packet other than a short message"},
		StartRemoteCost:  {Key: "remote", Description: "sending or taking in a packet between nodes, beside these"},
	},
}

// Defaults and bounds of StartSettings. The sources do not say how long the blocks of MPI-StarT
// were.
const (
	DefaultBlockBytes  = 16 << 10 // bytes
	DefaultPinnedBytes = 16 << 20 // bytes: Husbands and Hoe 1998, section 4
	BlocksInFlight     = 2        // blocks that leave at once: one is copied while another is transferred
	MinPinnedBlocks    = BlocksInFlight + 1
)

// StartSettings are the settings of libraries that Start carries.
type StartSettings struct {
	ShortBytes  [NumTiers]int // longest short message, by the tier of the peer
	BlockBytes  int           // copied and transferred at a time; 0: DefaultBlockBytes
	PinnedBytes int           // pinned memory of each rank; 0: DefaultPinnedBytes
}
