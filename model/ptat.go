package model

// PTAT sends the first part of the message in its envelope; when a receive has taken that the library says so, and the sender
// sends the rest:
//
//	RM → (the first part)
//	   ← ACK
//	M  → (the rest)
//
// What is short enough goes whole with the first packet: there is no M then, but the ACK still comes. How long the first part may be
// says the library (Library.First).
//
// It is CHIMP's protocol over TCP. Al-Tawil and Moritz print no equations for it; in their way, with all of the data in M, they are
//
//	T_s^PTAT   = 3 o_s + 2 L + 2 o_r
//	T_s-r^PTAT = 3 o_s + 3 L + 3 o_r + (k−1) G
var PTAT = &Protocol{
	Name: "PTAT",
	Steps: []Step{
		{Kind: KindRM, From: Sender, By: ByPacket, Data: FirstData},
		{Kind: KindACK, From: Receiver, By: ByPacket},
		{Kind: KindM, From: Sender, By: ByPacket, Data: RestData},
	},
}
