package model

// TA sends the message in its envelope, and the receiver says that a receive has taken it:
//
//	RM →
//	   ← ACK
//
//	(3) T_s-r^TA = 2 o_s + 2 L + 2 o_r
//
// Section 3.2 of the source has this one equation for both times. It is the sender's: the receiver is done when it
// has sent the ACK, at 2 o_s + L + o_r.
var TA = &Protocol{
	Name: "TA",
	Steps: []Step{
		{Kind: KindRM, From: Sender, By: ByPacket, Data: AllData},
		{Kind: KindACK, From: Receiver, By: ByPacket},
	},
	OneTime: true,
}
