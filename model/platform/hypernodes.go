package platform

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// maxHypernodes is how many hypernodes a machine has at most.
const maxHypernodes = 128

// hypernodes reads the network of processors that share memory in two tiers.
func (r *fileReader) hypernodes() (model.Network, nodeReader) {
	to := &model.Hypernodes{Rings: 1}
	between := []mappingField{
		optional("rings", r.count(&to.Rings, 1, maxCount)),
		optional("ring", r.rate(&to.Ring)),
		optional("hop", r.time(&to.Hop)),
		optional(model.InterNode.String(), r.access(&to.Access[model.InterNode])),
	}
	fields := r.mapping(append([]mappingField{
		required("sizes", r.countList(&to.Sizes, maxHypernodes)),
		required("per_block", r.count(&to.ProcessorsPerBlock, 1, maxCount)),
		required("port", r.rate(&to.Port)),
		optional("copies", r.boolean(&to.CopiesPassPort)),
		required("chunk", r.size(&to.Chunk, 1, unit.MaxSize)),
		required("header", r.size(&to.Header, 0, unit.MaxSize)),
		required(model.IntraNode.String(), r.access(&to.Access[model.IntraNode])),
	}, between...)...)
	return to, nodeReader{fields.example, func(path string, n *yaml.Node) {
		fields.read(path, n)
		for _, f := range between {
			if len(to.Sizes) > 1 && mappingValue(n, f.key) == nil {
				r.reportProblem(n, path, "missing key %s: add %s: %s", f.key, f.key, f.example)
			}
		}
	}}
}

// access reads the costs of access to the memory of another processor.
func (r *fileReader) access(to *model.MemoryAccess) nodeReader {
	return r.mapping(
		required("latency", r.time(&to.Latency)),
		required("send", r.channel(&to.Send)),
		required("settle", r.time(&to.SettleTime)),
		required("receive", r.time(&to.Receive)),
		required("fetch", r.perByte(&to.FetchPerByte)),
		required("put", r.channel(&to.Put)),
		required("get", r.channel(&to.Get)),
		required("counter", r.time(&to.CounterTime)),
	)
}

// countList reads a list of at most most positive whole numbers.
func (r *fileReader) countList(to *[]int, most int) nodeReader {
	const example = "8 8"
	return r.number(WordQuantity, example, func(s string) error {
		words := strings.Fields(s)
		if len(words) > most {
			return fmt.Errorf("%d counts: write at most %d", len(words), most)
		}
		var all []int
		for _, w := range words {
			n, err := strconv.Atoi(w)
			if err != nil {
				return fmt.Errorf("counts %q: %q is no whole number: write them like %s", s, w, example)
			}
			if err := checkRange(w, n, 1, maxCount, strconv.Itoa); err != nil {
				return err
			}
			all = append(all, n)
		}
		*to = all
		return nil
	})
}
