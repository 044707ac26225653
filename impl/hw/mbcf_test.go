package hw

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// accessible is workstations of 100 Mbit/s on a switch, whose systems have MBCF.
func accessible(full bool, buffer int) *model.Machine {
	m := switched(full, 16, buffer)
	e := m.Network.(*model.Ethernet)
	e.Rate, e.Slot, e.Propagation, e.Switches.Latency = 12.5e6, 5120*unit.Nanosecond, 500*unit.Nanosecond, 5*us
	e.MBCF = &model.MBCF{Header: 36, Limit: 1408, Call: model.Channel{Start: 7 * us, Bandwidth: 31e6}, Input: model.Channel{Start: 11 * us, Bandwidth: 31e6},
		Ack: 4 * us, Trap: 3 * us, Output: model.Channel{Start: 4 * us, Bandwidth: 31e6}, Dequeue: 5 * us, Upcall: 20 * us,
		Window: 16, AckEvery: 8, AckDelay: 1000 * us, Retransmit: 50_000 * us}
	return m
}
