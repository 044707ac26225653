package platform

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// maxLevels is how many levels of switches a fat tree has at most.
const maxLevels = 16

// fattree reads a fat tree whose interfaces are used by programmed I/O, with RDMA or without.
func (r *reader) fattree() (model.Network, reading) {
	to := &model.FatTree{}
	duplex := may("half_duplex", r.flag(&to.HalfDuplex))
	remote := []field{
		may("chunk", r.size(&to.Chunk, 1, unit.MaxSize)),
		may("put", r.channel(&to.Put)),
		may("get", r.channel(&to.Get)),
	}
	fields := r.mapping(append([]field{
		must("arity", r.count(&to.Arity, 2, maxCount)),
		may("up", r.counts(&to.Up, maxLevels-1)),
		must("hop", r.time(&to.Hop)),
		must("deliver", r.time(&to.Deliver)),
		must("link", r.rate(&to.Link)),
		must("header", r.size(&to.Header, 0, unit.MaxSize)),
		must("packet", r.mapping(
			must("header", r.size(&to.Packet.Header, 0, maxFrame)),
			must("payload", r.size(&to.Packet.Payload, 1, maxFrame)),
		)),
		must("send", r.pio(&to.Send)),
		must("receive", r.pio(&to.Receive)),
		may("control", r.mapping(
			must("words", r.count(&to.Control.Words, 1, maxCount)),
			must("buffers", r.count(&to.Control.Buffers, 1, maxCount)),
			must("latency", r.time(&to.Control.Latency)),
			must("word", r.time(&to.Control.Word)),
			must("send", r.pio(&to.Control.Send)),
			must("receive", r.pio(&to.Control.Receive)),
		)),
		may("lock", r.time(&to.Lock)),
		may("queue", r.count(&to.Queue, 1, maxCount)),
		duplex,
	}, remote...)...)
	return to, r.checked(fields, func(path string, n *yaml.Node) {
		for _, f := range remote {
			if (to.Chunk > 0 || to.Put.Bandwidth > 0 || to.Get.Bandwidth > 0) && lookup(n, f.key) == nil {
				r.wrong(n, path, "missing key %s: an interface that accesses memory has chunk, put and get; add %s: %s, or leave all of them", f.key, f.key, f.example)
			}
		}
	})
}

// pio reads what a packet takes of a processor that moves it itself.
func (r *reader) pio(to *model.PIO) reading {
	return r.mapping(
		must("start", r.time(&to.Start)),
		must("word", r.width(&to.Word)),
		may("burst", r.width(&to.Burst)),
	)
}

// width reads an access to the interface.
func (r *reader) width(to *model.Width) reading {
	return r.mapping(
		must("size", r.size(&to.Size, 1, maxFrame)),
		must("time", r.time(&to.Time)),
	)
}
