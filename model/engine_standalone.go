package model

import "slices"

// The work of AclmplEngine.
const (
	AclmplSendCost         CostKey = iota // a synchronous send, alone or of a collective call
	AclmplReceiveCost                     // a synchronous receive, likewise
	AclmplSendAsyncCost                   // an asynchronous send
	AclmplReceiveAsyncCost                // an asynchronous receive
	AclmplReadCost                        // reading a control block or a slot that others write
	AclmplKeepCost                        // moving a message from the pool to the list, beside the copy
	AclmplCombineCost                     // each element that a reduction combines
)

// AclmplEngine is ACLMPL (impl/library/aclmpl), a library of its own.
var AclmplEngine = &Engine{
	Name:        "aclmpl",
	Description: "synchronous and asynchronous messages by put and fetch-and-increment",
	Costs: []SoftwareCost{
		AclmplSendCost:         {Key: "send", Description: "a synchronous send"},
		AclmplReceiveCost:      {Key: "receive", Description: "a synchronous receive"},
		AclmplSendAsyncCost:    {Key: "send_async", Description: "an asynchronous send"},
		AclmplReceiveAsyncCost: {Key: "receive_async", Description: "an asynchronous receive"},
		AclmplReadCost:         {Key: "read", Description: "reading a control block or a slot that others write"},
		AclmplKeepCost:         {Key: "keep", Description: "moving a message from the pool to the list, beside the copy"},
		AclmplCombineCost:      {Key: "combine", Description: "each element that a reduction combines"},
	},
	Settings: []Setting{{Key: "slots", Optional: true}},
}

// AclmplSettings are the settings of AclmplEngine.
type AclmplSettings struct {
	PoolSlots int // in the pool of each PE; 0: the library's default
}

// AclmplArenaEngine is ACLMPL on memory that all processors share, with the work of AclmplEngine.
var AclmplArenaEngine = &Engine{
	Name:        "aclmpl-arena",
	Description: "ACLMPL on an arena of shared memory: messages are copied in and out",
	Costs:       AclmplEngine.Costs,
}

// CMMDEngine is CMMD, the library of the CM-5's vendor, whose calls are those of ACLMPL, with the
// work of AclmplEngine.
var CMMDEngine = &Engine{
	Name:        "cmmd",
	Description: "ACLMPL, with broadcasts by the machine's control network",
	Costs:       AclmplEngine.Costs,
}

// AclmplPVMEngine is ACLMPL on PVM, with the work of PVMEngine and of reductions.
var AclmplPVMEngine = &Engine{
	Name:        "aclmpl-pvm",
	Description: "ACLMPL on PVM's psend and precv",
	Costs:       append(slices.Clone(PVMEngine.Costs), SoftwareCost{Key: "combine", Description: "each element that a reduction combines"}),
}

// The work of PVMEngine, and of ACLMPL on it.
const (
	PvmSendCost          CostKey = iota // a send call
	PvmReceiveCost                      // a receive call
	PvmHandleCost                       // taking in a message
	PvmUnpackCost                       // each byte of a message that is fetched, beside copies
	PvmUnpackShortCost                  // each byte of a message that goes with its header, beside copies
	AclmplPVMCombineCost                // each element that a reduction combines
)

// PVMEngine is PVM's psend and precv (impl/library/pvm), a library of its own.
var PVMEngine = &Engine{
	Name:        "pvm",
	Description: "messages that their receivers copy; the long ones are copied by their senders and fetched",
	Costs: []SoftwareCost{
		PvmSendCost:        {Key: "send", Description: "a send call"},
		PvmReceiveCost:     {Key: "receive", Description: "a receive call"},
		PvmHandleCost:      {Key: "handle", Description: "taking in a message"},
		PvmUnpackCost:      {Key: "unpack", PerByte: true, Description: "each byte of a long message, which its receiver fetches, beside copies"},
		PvmUnpackShortCost: {Key: "unpack_short", PerByte: true, Description: "each byte of a message that goes with its header, beside copies, but in collective operations"},
	},
}
