package platform

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// maxRegistrations limits the buffers of a registration cache.
const maxRegistrations = 1 << 16

// Words for buffers of programs in the memory of GPUs.
const (
	RegisteredBuffers = "registered" // interfaces access them
	StagedBuffers     = "staged"     // they pass host memory, by copy engines
)

// BufferKinds are the words for buffers, the default first.
var BufferKinds = []string{RegisteredBuffers, StagedBuffers}

// rdma reads the RDMA interfaces of a fabric.
func (r *fileReader) rdma(to *model.NIC) nodeReader {
	to.OneSided = true
	datagrams, memory, staging := &model.DatagramCosts{}, &model.Registration{}, &model.Staging{}
	var buffers string
	fields := r.mapping(
		required("doorbell", r.time(&to.Doorbell)),
		optional("inline", r.mapping(required("size", r.size(&to.Inline.Size, 1, maxFrame)), required("bandwidth", r.rate(&to.Inline.Bandwidth)))),
		required("bus", r.mapping(required("latency", r.time(&to.Bus.Latency)), required("bandwidth", r.rate(&to.Bus.Bandwidth)))),
		required("message", r.time(&to.Message)),
		required("complete", r.time(&to.Complete)),
		optional("one_sided", r.boolean(&to.OneSided)),
		optional("striped", r.size(&to.StripeFrom, 1, unit.MaxSize)),
		optional("atomic", r.positiveTime(&to.Atomic)),
		optional("datagrams", r.mapping(required("send", r.channel(&datagrams.Send)), required("receive", r.channel(&datagrams.Receive)))),
		optional("register", r.mapping(
			required("start", r.time(&memory.Start)),
			required("page", r.size(&memory.PageSize, 1, unit.MaxSize)),
			required("page_time", r.time(&memory.Page)),
			required("entries", r.count(&memory.Entries, 0, maxRegistrations)),
			optional("size", r.size(&memory.Bytes, 1, unit.MaxSize)),
		)),
		optional("staging", r.mapping(
			required("fragment", r.size(&staging.Fragment, 1, unit.MaxSize)),
			required("launch", r.time(&staging.Launch)),
			required("complete", r.time(&staging.Complete)),
			required("out", r.rate(&staging.Out)),
			required("in", r.rate(&staging.In)),
		)),
		optional("buffers", oneOfWords(r, &buffers, BufferKinds)),
	)
	return r.withCheck(fields, func(path string, n *yaml.Node) {
		if mappingValue(n, "datagrams") != nil {
			to.Datagrams = datagrams
		}
		if mappingValue(n, "register") != nil {
			to.Registration = memory
		}
		if mappingValue(n, "staging") != nil {
			to.CopyEngines = staging
		}
		if buffers == StagedBuffers {
			to.Staging = to.CopyEngines
		}
		r.checkStaging(path, n)
		if at := mappingValue(n, "striped"); at != nil && to.StripeFrom <= to.Inline.Size {
			r.reportProblem(at, path+".striped", "%s are inline: write more than inline.size, %s", unit.Bytes(to.StripeFrom), unit.Bytes(to.Inline.Size))
		}
		if to.OneSided {
			return
		}
		if at := mappingValue(n, "striped"); at != nil {
			r.reportProblem(at, path+".striped", "has no effect: only remote accesses are divided, and one_sided: false excludes them; leave one of them out")
		}
		if at := mappingValue(n, "atomic"); at != nil {
			r.reportProblem(at, path+".atomic", "has no effect: atomic operations are remote accesses, and one_sided: false excludes them; leave one of them out")
		}
		if at := mappingValue(n, "register"); at != nil && to.Datagrams != nil {
			r.reportProblem(at, path+".register", "has no effect: datagrams are made in memory of their own, and with one_sided: false there are no remote accesses; leave it out")
		}
	})
}

// checkStaging checks that interfaces whose buffers are staged have what that takes, and nothing
// that it excludes.
func (r *fileReader) checkStaging(path string, n *yaml.Node) {
	buffers, staging := mappingValue(n, "buffers"), mappingValue(n, "staging")
	if buffers != nil && staging == nil {
		r.reportProblem(buffers, path+".buffers", "has no effect: how the buffers are staged is not known; add staging: {fragment: ..., launch: ..., complete: ..., out: ..., in: ...}, or leave it out")
	}
	for _, key := range []string{"striped", "datagrams"} {
		if staging != nil && mappingValue(n, key) != nil {
			r.reportProblem(staging, path+".staging", "staging and %s exclude each other: leave one of them out", key)
		}
	}
}
