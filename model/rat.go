package model

// RAT announces the message; the receiver says where it is to go; the sender writes it there and says so:
//
//	R →
//	  ← ACK
//	M → (pushed)
//	FIN →
//
//	(6) T_s^RAT   = 4 o_s + 3 L + 2 o_r + (k−1) G
//	(7) T_s-r^RAT = 4 o_s + 4 L + 3 o_r + (k−1) G
//
// The source names no last message. Without one the receiver would not know that the data is there, and the equations
// count it: four o_s, and a fourth L and third o_r at the receiver. They call it an ACK; it goes the other way, so it is
// FIN here.
var RAT = &Protocol{
	Name: "RAT",
	Steps: []Step{
		{Kind: KindR, From: Sender, By: ByPacket},
		{Kind: KindACK, From: Receiver, By: ByPacket},
		{Kind: KindM, From: Sender, By: ByPut, Data: AllData},
		{Kind: KindFIN, From: Sender, By: ByPacket},
	},
}
