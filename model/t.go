package model

// T sends the message in its envelope and forgets it:
//
//	RM →
//
//	(1) T_s^T   = o_s
//	(2) T_s-r^T = o_s + L + o_r
var T = &Protocol{
	Name: "T",
	Steps: []Step{
		{Kind: KindRM, From: Sender, By: ByPacket, Data: AllData},
	},
}
