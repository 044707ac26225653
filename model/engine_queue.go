package model

// The work of Queue.
const (
	QueueSendCost    CostKey = iota // a send call
	QueueReceiveCost                // a receive call
	QueueTestCost                   // a wait, a test or a probe
	QueueHandleCost                 // taking in one packet
	QueueByteCost                   // per byte, at the sender and at the receiver
)

// QueueEngine is the engine that sends every message at once, whatever its length, into one queue
// of its receiver (impl/engine/queue).
var QueueEngine = &Engine{
	Name:        "queue",
	Description: "every message at once, into one queue of its receiver",
	Costs: []SoftwareCost{
		QueueSendCost:    {Key: "send", Description: "a send call"},
		QueueReceiveCost: {Key: "receive", Description: "a receive call"},
		QueueTestCost:    {Key: "test", Description: "a wait, a test or a probe"},
		QueueHandleCost:  {Key: "handle", Description: "taking in a packet"},
		QueueByteCost:    {Key: "byte", PerByte: true, Description: "each byte, at the sender and at the receiver"},
	},
}
