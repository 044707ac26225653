package model

import "slices"

// The work of Aclmpl.
const (
	AclmplSendCost         CostKey = iota // a synchronous send, alone or of a collective call
	AclmplReceiveCost                     // a synchronous receive, likewise
	AclmplSendAsyncCost                   // an asynchronous send
	AclmplReceiveAsyncCost                // an asynchronous receive
	AclmplReadCost                        // reading a control block or a slot that others write
	AclmplKeepCost                        // moving a message from the pool to the list, beside the copy
	AclmplCombineCost                     // each element that a reduction combines
)

// Aclmpl is ACLMPL (impl/library/aclmpl), a library of its own.
var Aclmpl = &Engine{
	Name:        "aclmpl",
	Description: "synchronous and asynchronous messages by put and fetch-and-increment",
	Costs: []SoftwareCost{
		AclmplSendCost:         {Key: "send", About: "a synchronous send"},
		AclmplReceiveCost:      {Key: "receive", About: "a synchronous receive"},
		AclmplSendAsyncCost:    {Key: "send_async", About: "an asynchronous send"},
		AclmplReceiveAsyncCost: {Key: "receive_async", About: "an asynchronous receive"},
		AclmplReadCost:         {Key: "read", About: "reading a control block or a slot that others write"},
		AclmplKeepCost:         {Key: "keep", About: "moving a message from the pool to the list, beside the copy"},
		AclmplCombineCost:      {Key: "combine", About: "each element that a reduction combines"},
	},
}

// AclmplArena is ACLMPL on memory that all processors share, with the work of Aclmpl.
var AclmplArena = &Engine{
	Name:        "aclmpl-arena",
	Description: "ACLMPL on an arena of shared memory: messages are copied in and out",
	Costs:       Aclmpl.Costs,
}

// Cmmd is CMMD, the library of the CM-5's vendor, whose calls are those of ACLMPL, with the work of
// Aclmpl.
var Cmmd = &Engine{
	Name:        "cmmd",
	Description: "ACLMPL, with broadcasts by the machine's control network",
	Costs:       Aclmpl.Costs,
}

// AclmplPVM is ACLMPL on PVM, with the work of Pvm and of reductions.
var AclmplPVM = &Engine{
	Name:        "aclmpl-pvm",
	Description: "ACLMPL on PVM's psend and precv",
	Costs:       append(slices.Clone(Pvm.Costs), SoftwareCost{Key: "combine", About: "each element that a reduction combines"}),
}

// The work of Pvm, and of ACLMPL on it.
const (
	PvmSendCost          CostKey = iota // a send call
	PvmReceiveCost                      // a receive call
	PvmHandleCost                       // taking in a message
	PvmUnpackCost                       // each byte that is received, beside copies
	AclmplPVMCombineCost                // each element that a reduction combines
)

// Pvm is PVM's psend and precv (impl/library/pvm), a library of its own.
var Pvm = &Engine{
	Name:        "pvm",
	Description: "messages that both sides copy, the long ones fetched by their receivers",
	Costs: []SoftwareCost{
		PvmSendCost:    {Key: "send", About: "a send call"},
		PvmReceiveCost: {Key: "receive", About: "a receive call"},
		PvmHandleCost:  {Key: "handle", About: "taking in a message"},
		PvmUnpackCost:  {Key: "unpack", PerByte: true, About: "each byte that is received, beside copies"},
	},
}
