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

// readRDMA reads the RDMA interfaces of a fabric.
func (r *fileReader) readRDMA(to *model.NIC) nodeReader {
	to.OneSided = true
	datagrams, memory, staging := &model.DatagramCosts{}, &model.Registration{}, &model.Staging{}
	var buffers string
	fields := r.readMapping(
		requiredField("doorbell", r.readTime(&to.Doorbell)),
		optionalField("inline", r.readMapping(requiredField("size", r.readSize(&to.Inline.Size, 1, maxFrame)), requiredField("bandwidth", r.readRate(&to.Inline.Bandwidth)))),
		requiredField("bus", r.readMapping(requiredField("latency", r.readTime(&to.Bus.Latency)), requiredField("bandwidth", r.readRate(&to.Bus.Bandwidth)))),
		requiredField("message", r.readTime(&to.Message)),
		requiredField("complete", r.readTime(&to.Complete)),
		optionalField("one_sided", r.readBoolean(&to.OneSided)),
		optionalField("striped", r.readSize(&to.StripeFrom, 1, unit.MaxSize)),
		optionalField("atomic", r.positiveTime(&to.Atomic)),
		optionalField("datagrams", r.readMapping(requiredField("send", r.readChannel(&datagrams.Send)), requiredField("receive", r.readChannel(&datagrams.Receive)))),
		optionalField("register", r.readMapping(
			requiredField("start", r.readTime(&memory.Start)),
			requiredField("page", r.readSize(&memory.PageSize, 1, unit.MaxSize)),
			requiredField("page_time", r.readTime(&memory.Page)),
			requiredField("entries", r.readCount(&memory.Entries, 0, maxRegistrations)),
			optionalField("size", r.readSize(&memory.Bytes, 1, unit.MaxSize)),
		)),
		optionalField("staging", r.readMapping(
			requiredField("fragment", r.readSize(&staging.Fragment, 1, unit.MaxSize)),
			requiredField("launch", r.readTime(&staging.Launch)),
			requiredField("complete", r.readTime(&staging.Complete)),
			requiredField("out", r.readRate(&staging.Out)),
			requiredField("in", r.readRate(&staging.In)),
		)),
		optionalField("buffers", oneOfWords(r, &buffers, BufferKinds)),
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
