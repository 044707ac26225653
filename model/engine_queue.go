package model

// The work of Queue.
const (
	QueueSend    CostKey = iota // a send call
	QueueReceive                // a receive call
	QueueTest                   // a wait, a test or a probe
	QueueHandle                 // taking in one packet
	QueueByte                   // per byte, at the sender and at the receiver
)

// Queue is the engine that sends every message at once, whatever its length, into one queue of its
// receiver (impl/engine/queue).
var Queue = &Engine{
	Name:        "queue",
	Description: "every message at once, into one queue of its receiver",
	Costs: []SoftwareCost{
		QueueSend:    {Key: "send", About: "a send call"},
		QueueReceive: {Key: "receive", About: "a receive call"},
		QueueTest:    {Key: "test", About: "a wait, a test or a probe"},
		QueueHandle:  {Key: "handle", About: "taking in a packet"},
		QueueByte:    {Key: "byte", PerByte: true, About: "each byte, at the sender and at the receiver"},
	},
}
