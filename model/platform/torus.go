package platform

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// torus reads the network of processors on a torus.
func (r *fileReader) torus() (model.Network, nodeReader) {
	to := &model.Torus{}
	return to, r.mapping(
		required("per_node", r.count(&to.ProcessorsPerNode, 1, maxCount)),
		required("hop", r.time(&to.HopLatency)),
		required("turn", r.time(&to.TurnLatency)),
		required("deliver", r.time(&to.Deliver)),
		required("link", r.rate(&to.Link)),
		required("chunk", r.size(&to.Chunk, 1, unit.MaxSize)),
		required("header", r.size(&to.Header, 0, unit.MaxSize)),
		required("send", r.channel(&to.Send)),
		required("receive", r.time(&to.Receive)),
		required("put", r.channel(&to.Put)),
		optional("buffer", r.size(&to.WriteBuffer, 0, unit.MaxSize)),
		required("get", r.channel(&to.Get)),
		optional("engine", r.channel(&to.TransferEngine)),
		optional("memory", r.rate(&to.MemoryRate)),
		optional("line", r.size(&to.MemoryLineBytes, 1, unit.MaxSize)),
		optional("reopen", r.time(&to.PageReopen)),
		required("counter", r.time(&to.CounterTime)),
		optional("acknowledge", r.time(&to.Acknowledge)),
		optional("barrier", r.time(&to.BarrierReleaseTime)),
	)
}
