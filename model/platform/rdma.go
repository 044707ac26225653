package platform

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// maxRegistrations limits the buffers of a registration cache.
const maxRegistrations = 1 << 16

// rdma reads the RDMA interfaces of a fabric.
func (r *fileReader) rdma(to *model.NIC) nodeReader {
	to.OneSided = true
	datagrams, memory := &model.DatagramCosts{}, &model.Registration{}
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
	)
	return r.withCheck(fields, func(path string, n *yaml.Node) {
		if mappingValue(n, "datagrams") != nil {
			to.Datagrams = datagrams
		}
		if mappingValue(n, "register") != nil {
			to.Registration = memory
		}
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
