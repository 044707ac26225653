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

// hypernodesReader reads the network of processors that share memory in two tiers.
func (r *fileReader) hypernodesReader() (model.Network, nodeReader) {
	to := &model.Hypernodes{Rings: 1}
	between := []mappingField{
		optionalField("rings", r.readCount(&to.Rings, 1, maxCount)),
		optionalField("ring", r.readRate(&to.Ring)),
		optionalField("hop", r.readTime(&to.Hop)),
		optionalField(model.InterNode.String(), r.readMemoryAccess(&to.Access[model.InterNode])),
	}
	fields := r.readMapping(append([]mappingField{
		requiredField("sizes", r.countList(&to.Sizes, maxHypernodes)),
		requiredField("per_block", r.readCount(&to.ProcessorsPerBlock, 1, maxCount)),
		requiredField("port", r.readRate(&to.Port)),
		optionalField("copies", r.readBoolean(&to.CopiesPassPort)),
		requiredField("chunk", r.readSize(&to.Chunk, 1, unit.MaxSize)),
		requiredField("header", r.readSize(&to.Header, 0, unit.MaxSize)),
		requiredField(model.IntraNode.String(), r.readMemoryAccess(&to.Access[model.IntraNode])),
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

// readMemoryAccess reads the costs of access to the memory of another processor.
func (r *fileReader) readMemoryAccess(to *model.MemoryAccess) nodeReader {
	return r.readMapping(
		requiredField("latency", r.readTime(&to.Latency)),
		requiredField("send", r.readChannel(&to.Send)),
		requiredField("settle", r.readTime(&to.SettleTime)),
		requiredField("receive", r.readTime(&to.Receive)),
		requiredField("fetch", r.perByte(&to.FetchPerByte)),
		requiredField("put", r.readChannel(&to.Put)),
		requiredField("get", r.readChannel(&to.Get)),
		requiredField("counter", r.readTime(&to.CounterTime)),
	)
}

// countList reads a list of at most most positive whole numbers.
func (r *fileReader) countList(to *[]int, most int) nodeReader {
	const example = "8 8"
	return r.readNumber(WordQuantity, example, func(s string) error {
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
