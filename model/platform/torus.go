package platform

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// torus reads the network of processors on a torus.
func (r *reader) torus() (model.Network, reading) {
	to := &model.Torus{}
	return to, r.mapping(
		must("per_node", r.count(&to.PerNode, 1, maxCount)),
		must("hop", r.time(&to.Hop)),
		must("turn", r.time(&to.Turn)),
		must("deliver", r.time(&to.Deliver)),
		must("link", r.rate(&to.Link)),
		must("chunk", r.size(&to.Chunk, 1, unit.MaxSize)),
		must("header", r.size(&to.Header, 0, unit.MaxSize)),
		must("send", r.channel(&to.Send)),
		must("receive", r.time(&to.Receive)),
		must("put", r.channel(&to.Put)),
		may("buffer", r.size(&to.Buffer, 0, unit.MaxSize)),
		must("get", r.channel(&to.Get)),
		may("engine", r.channel(&to.Engine)),
		may("memory", r.rate(&to.Memory)),
		may("line", r.size(&to.Line, 1, unit.MaxSize)),
		may("reopen", r.time(&to.Reopen)),
		must("counter", r.time(&to.Counter)),
		may("acknowledge", r.time(&to.Acknowledge)),
		may("barrier", r.time(&to.Barrier)),
	)
}
