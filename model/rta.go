package model

// RTA announces the message; the receiver reads it from the sender's memory and says so:
//
//	R →
//	M → (pulled)
//	  ← ACK
//
//	(4) T_s-r^RTA = 2 o_s + 2 L + o_r + (k−1) G
//	(5) T_s^RTA   = 2 o_s + 3 L + 2 o_r + (k−1) G
var RTA = &Protocol{
	Name: "RTA",
	Steps: []Step{
		{Kind: KindR, From: Sender, By: ByPacket},
		{Kind: KindM, From: Sender, By: ByGet, Data: AllData},
		{Kind: KindACK, From: Receiver, By: ByPacket},
	},
}
