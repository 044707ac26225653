package platform

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// maxLevels is how many levels of switches a fat tree has at most.
const maxLevels = 16

// fattree reads a fat tree whose interfaces are used by programmed I/O, with RDMA or without.
func (r *fileReader) fattree() (model.Network, nodeReader) {
	to := &model.FatTree{}
	duplex := optional("half_duplex", r.boolean(&to.HalfDuplex))
	remote := []mappingField{
		optional("chunk", r.size(&to.Chunk, 1, unit.MaxSize)),
		optional("put", r.channel(&to.Put)),
		optional("get", r.channel(&to.Get)),
	}
	fields := r.mapping(append([]mappingField{
		required("arity", r.count(&to.Arity, 2, maxCount)),
		optional("up", r.countList(&to.UpLinks, maxLevels-1)),
		required("hop", r.time(&to.HopLatency)),
		required("deliver", r.time(&to.Deliver)),
		required("link", r.rate(&to.Link)),
		required("header", r.size(&to.Header, 0, unit.MaxSize)),
		required("packet", r.mapping(
			required("header", r.size(&to.Packet.Header, 0, maxFrame)),
			required("payload", r.size(&to.Packet.Payload, 1, maxFrame)),
		)),
		required("send", r.pio(&to.Send)),
		required("receive", r.pio(&to.Receive)),
		optional("control", r.mapping(
			required("words", r.count(&to.Control.Words, 1, maxCount)),
			required("buffers", r.count(&to.Control.Buffers, 1, maxCount)),
			required("latency", r.time(&to.Control.Latency)),
			required("word", r.time(&to.Control.Word)),
			required("send", r.pio(&to.Control.Send)),
			required("receive", r.pio(&to.Control.Receive)),
		)),
		optional("lock", r.time(&to.InterfaceLock)),
		optional("queue", r.count(&to.PriorityQueueLength, 1, maxCount)),
		duplex,
	}, remote...)...)
	return to, r.withCheck(fields, func(path string, n *yaml.Node) {
		for _, f := range remote {
			if (to.Chunk > 0 || to.Put.Bandwidth > 0 || to.Get.Bandwidth > 0) && mappingValue(n, f.key) == nil {
				r.reportProblem(n, path, "missing key %s: an interface that accesses memory has chunk, put and get; add %s: %s, or leave all of them", f.key, f.key, f.example)
			}
		}
	})
}

// pio reads what a packet takes of a processor that moves it itself.
func (r *fileReader) pio(to *model.PIO) nodeReader {
	return r.mapping(
		required("start", r.time(&to.Start)),
		required("word", r.interfaceAccess(&to.Word)),
		optional("burst", r.interfaceAccess(&to.Burst)),
	)
}

// interfaceAccess reads an access to the interface.
func (r *fileReader) interfaceAccess(to *model.AccessWidth) nodeReader {
	return r.mapping(
		required("size", r.size(&to.Size, 1, maxFrame)),
		required("time", r.time(&to.Time)),
	)
}
