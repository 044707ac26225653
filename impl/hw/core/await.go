package core

import (
	"runtime"
	"runtime/debug"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/sim"
)

// CanAwaitPackets implements device.PacketWaiter. A rank that polls its networks or handles signals
// waits by itself. So does one whose sends wait: that switches in any case.
func (p *Port) CanAwaitPackets() bool {
	return p.polledNetworks == nil && p.signalState == nil && !p.sendsAtKernelTime
}

// HasPacket reports whether the inbox has a packet, so that Recv would return at once. It
// implements device.PacketWaiter.
func (p *Port) HasPacket() bool { return p.inbox.Head != nil }

// AwaitPackets implements device.PacketWaiter.
func (p *Port) AwaitPackets(h device.PacketHandler) {
	if h.HandlePackets() {
		return
	}
	p.packetHandler = h
	p.beginPacketWait()
	p.currentProc.ParkUntil((*packetWait)(p))
	p.packetHandler = nil
	if v := p.handlerPanic; v != nil {
		p.handlerPanic = nil
		panic(v)
	}
}

// beginPacketWait makes the rank wait as in Recv.
func (p *Port) beginPacketWait() {
	p.releaseLastReceived()
	p.processState = awaitingPacket
}

// packetWait is the wait of a rank in AwaitPackets.
type packetWait Port

// ContinueWait implements sim.Waiter. A panic is one of the rank.
func (w *packetWait) ContinueWait() (done bool) {
	p := (*Port)(w)
	defer func() {
		if v := recover(); v != nil {
			p.handlerPanic, done = keepStack(int(p.ID), v), true
		}
	}()
	p.AdvanceToKernel()
	if p.packetHandler.HandlePackets() {
		return true
	}
	p.beginPacketWait()
	return false
}

// keepStack returns a panic value with which the rank's own goroutine can panic. That of a mistake
// in this program includes the current stack. It passes on a panic that unwinds the process.
func keepStack(rank int, v any) any {
	_, isRuntime := v.(runtime.Error)
	switch _, isError := v.(error); {
	case sim.IsUnwind(v):
		panic(v)
	case isError && !isRuntime:
		return v
	}
	return &device.Failure{Rank: rank, Value: v, Stack: debug.Stack()}
}
