package platform

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// maxLevels is how many levels of switches a fat tree has at most.
const maxLevels = 16

// fatTreeReader reads a fat tree whose interfaces are used by programmed I/O, with RDMA or without.
func (r *fileReader) fatTreeReader() (model.Network, nodeReader) {
	to := &model.FatTree{}
	duplex := optionalField("half_duplex", r.readBoolean(&to.HalfDuplex))
	remote := []mappingField{
		optionalField("chunk", r.readSize(&to.Chunk, 1, unit.MaxSize)),
		optionalField("put", r.readChannel(&to.Put)),
		optionalField("get", r.readChannel(&to.Get)),
	}
	fields := r.readMapping(append([]mappingField{
		requiredField("arity", r.readCount(&to.Arity, 2, maxCount)),
		optionalField("up", r.countList(&to.UpLinks, maxLevels-1)),
		requiredField("hop", r.readTime(&to.HopLatency)),
		requiredField("deliver", r.readTime(&to.Deliver)),
		requiredField("link", r.readRate(&to.Link)),
		requiredField("header", r.readSize(&to.Header, 0, unit.MaxSize)),
		requiredField("packet", r.readMapping(
			requiredField("header", r.readSize(&to.Packet.Header, 0, maxFrame)),
			requiredField("payload", r.readSize(&to.Packet.Payload, 1, maxFrame)),
		)),
		requiredField("send", r.readPIO(&to.Send)),
		requiredField("receive", r.readPIO(&to.Receive)),
		optionalField("control", r.readMapping(
			requiredField("words", r.readCount(&to.Control.Words, 1, maxCount)),
			requiredField("buffers", r.readCount(&to.Control.Buffers, 1, maxCount)),
			requiredField("latency", r.readTime(&to.Control.Latency)),
			requiredField("word", r.readTime(&to.Control.Word)),
			requiredField("send", r.readPIO(&to.Control.Send)),
			requiredField("receive", r.readPIO(&to.Control.Receive)),
		)),
		optionalField("lock", r.readTime(&to.InterfaceLock)),
		optionalField("queue", r.readCount(&to.PriorityQueueLength, 1, maxCount)),
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

// readPIO reads what a packet takes of a processor that moves it itself.
func (r *fileReader) readPIO(to *model.PIO) nodeReader {
	return r.readMapping(
		requiredField("start", r.readTime(&to.Start)),
		requiredField("word", r.interfaceAccess(&to.Word)),
		optionalField("burst", r.interfaceAccess(&to.Burst)),
	)
}

// interfaceAccess reads an access to the interface.
func (r *fileReader) interfaceAccess(to *model.AccessWidth) nodeReader {
	return r.readMapping(
		requiredField("size", r.readSize(&to.Size, 1, maxFrame)),
		requiredField("time", r.readTime(&to.Time)),
	)
}
