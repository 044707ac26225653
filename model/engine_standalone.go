package model

import "slices"

// The work of Aclmpl.
const (
	AclmplSend         CostKey = iota // a synchronous send, alone or of a collective call
	AclmplReceive                     // a synchronous receive, likewise
	AclmplSendAsync                   // an asynchronous send
	AclmplReceiveAsync                // an asynchronous receive
	AclmplRead                        // reading a control block or a slot that others write
	AclmplKeep                        // moving a message from the pool to the list, beside the copy
	AclmplCombine                     // each element that a reduction combines
)

// Aclmpl is ACLMPL (impl/library/aclmpl), a library of its own.
var Aclmpl = &Engine{
	Name:        "aclmpl",
	Description: "synchronous and asynchronous messages by put and fetch-and-increment",
	Costs: []SoftwareCost{
		AclmplSend:         {Key: "send", About: "a synchronous send"},
		AclmplReceive:      {Key: "receive", About: "a synchronous receive"},
		AclmplSendAsync:    {Key: "send_async", About: "an asynchronous send"},
		AclmplReceiveAsync: {Key: "receive_async", About: "an asynchronous receive"},
		AclmplRead:         {Key: "read", About: "reading a control block or a slot that others write"},
		AclmplKeep:         {Key: "keep", About: "moving a message from the pool to the list, beside the copy"},
		AclmplCombine:      {Key: "combine", About: "each element that a reduction combines"},
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
	PvmSend          CostKey = iota // a send call
	PvmReceive                      // a receive call
	PvmHandle                       // taking in a message
	PvmUnpack                       // each byte that is received, beside copies
	AclmplPVMCombine                // each element that a reduction combines
)

// Pvm is PVM's psend and precv (impl/library/pvm), a library of its own.
var Pvm = &Engine{
	Name:        "pvm",
	Description: "messages that both sides copy, the long ones fetched by their receivers",
	Costs: []SoftwareCost{
		PvmSend:    {Key: "send", About: "a send call"},
		PvmReceive: {Key: "receive", About: "a receive call"},
		PvmHandle:  {Key: "handle", About: "taking in a message"},
		PvmUnpack:  {Key: "unpack", PerByte: true, About: "each byte that is received, beside copies"},
	},
}
