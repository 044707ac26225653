package reports

// word is an entry of a list of explanations.
type word struct{ Name, Value string }

// glossary explains the parameters and what they are measured with.
var glossary = []word{
	{"o_s", "Send overhead: how long a processor is busy with a send call. It depends on the call and on the size of the message."},
	{"o_r", "Receive overhead: how long a processor is busy with a receive call whose message is there already; of a non-blocking receive, with starting it."},
	{"L", "Latency: how long a small message is on its way after the sender's overhead and before the receiver's. What is measured is an upper bound."},
	{"g", "Gap: the least time between two messages of a processor. Where overheads are longer than the gap, it cannot be seen."},
	{"G", "Gap per byte of a long message; 1/G is the bandwidth. MB are 10⁶ bytes."},
	{"KB, KiB", "1000 and 1024 bytes."},
	{"s_s, s_r, S", "In LoGH{sSP}, o_s, o_r and G of two processors of one node. Its latency is neglected."},
	{"H, P", "In LoGH{sSP}, the number of nodes, and of processors in each. Found from the times of all pairs of ranks, they are the groups of the near tier."},
	{"tier1, tier2 …", "Where pairs of ranks show more than two tiers, the nearest, the next, and so on; of two tiers they are called intra and inter."},
	{"T_s", "The time until the sender may go on."},
	{"T_s-r", "The time from the start of the send until the receiver has the message."},
	{"T, TA, RTA, RAT, PTAT", "Protocols: T sends the message in its envelope; TA also waits for an acknowledgement; with RTA the receiver pulls the data after a request; with RAT the sender pushes it after request and answer; by PTAT the first part goes in the envelope, and the rest when that is acknowledged."},
	{"send … ibsend", "The eight sends of MPI: s synchronous, r ready, b buffered; i before them for those that do not block. message is what lies below them."},
	{"timer11, timer12", "At P1: the send call, and the receive call, begun when the message is surely there."},
	{"timer21, timer22", "At P2: the receive call, begun together with the send, and the send call."},
	{"rtt, train", "A round trip; the interval between the sends of a burst."},
	{"±", "95 % interval: the value lies in it unless one of twenty such intervals happens to be wrong. It says nothing about systematic errors."},
	{"published, derived, fitted, assumed", "What a number of a platform stands on: printed in a source; computed from such; chosen to meet published rows; guessed or recalled."},
	{"calibration, validation", "A prediction that rests on the number with which it is compared says nothing; one that does not is a test."},
}
