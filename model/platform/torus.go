package platform

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// torusReader reads the network of processors on a torus.
func (r *fileReader) torusReader() (model.Network, nodeReader) {
	to := &model.Torus{}
	return to, r.readMapping(
		requiredField("per_node", r.readCount(&to.ProcessorsPerNode, 1, maxCount)),
		requiredField("hop", r.readTime(&to.HopLatency)),
		requiredField("turn", r.readTime(&to.TurnLatency)),
		requiredField("deliver", r.readTime(&to.Deliver)),
		requiredField("link", r.readRate(&to.Link)),
		requiredField("chunk", r.readSize(&to.Chunk, 1, unit.MaxSize)),
		requiredField("header", r.readSize(&to.Header, 0, unit.MaxSize)),
		requiredField("send", r.readChannel(&to.Send)),
		requiredField("receive", r.readTime(&to.Receive)),
		requiredField("put", r.readChannel(&to.Put)),
		optionalField("buffer", r.readSize(&to.WriteBuffer, 0, unit.MaxSize)),
		requiredField("get", r.readChannel(&to.Get)),
		optionalField("engine", r.readChannel(&to.TransferEngine)),
		optionalField("memory", r.readRate(&to.MemoryRate)),
		optionalField("line", r.readSize(&to.MemoryLineBytes, 1, unit.MaxSize)),
		optionalField("reopen", r.readTime(&to.PageReopen)),
		requiredField("counter", r.readTime(&to.CounterTime)),
		optionalField("acknowledge", r.readTime(&to.Acknowledge)),
		optionalField("barrier", r.readTime(&to.BarrierReleaseTime)),
	)
}
