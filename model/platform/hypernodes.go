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
func (r *reader) hypernodes() (model.Network, reading) {
	to := &model.Hypernodes{Rings: 1}
	between := []field{
		may("rings", r.count(&to.Rings, 1, maxCount)),
		may("ring", r.rate(&to.Ring)),
		may("hop", r.time(&to.Hop)),
		may(model.Inter.String(), r.access(&to.Access[model.Inter])),
	}
	fields := r.mapping(append([]field{
		must("sizes", r.counts(&to.Sizes, maxHypernodes)),
		must("per_block", r.count(&to.PerBlock, 1, maxCount)),
		must("port", r.rate(&to.Port)),
		may("copies", r.flag(&to.Copies)),
		must("chunk", r.size(&to.Chunk, 1, unit.MaxSize)),
		must("header", r.size(&to.Header, 0, unit.MaxSize)),
		must(model.Intra.String(), r.access(&to.Access[model.Intra])),
	}, between...)...)
	return to, reading{fields.example, func(path string, n *yaml.Node) {
		fields.read(path, n)
		for _, f := range between {
			if len(to.Sizes) > 1 && lookup(n, f.key) == nil {
				r.wrong(n, path, "missing key %s: add %s: %s", f.key, f.key, f.example)
			}
		}
	}}
}

// access reads the costs of access to the memory of another processor.
func (r *reader) access(to *model.Access) reading {
	return r.mapping(
		must("latency", r.time(&to.Latency)),
		must("send", r.channel(&to.Send)),
		must("settle", r.time(&to.Settle)),
		must("receive", r.time(&to.Receive)),
		must("fetch", r.perByte(&to.Fetch)),
		must("put", r.channel(&to.Put)),
		must("get", r.channel(&to.Get)),
		must("counter", r.time(&to.Counter)),
	)
}

// counts reads a list of at most most positive whole numbers.
func (r *reader) counts(to *[]int, most int) reading {
	const example = "8 8"
	return r.number(Word, example, func(s string) error {
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
			if err := within(w, n, 1, maxCount, strconv.Itoa); err != nil {
				return err
			}
			all = append(all, n)
		}
		*to = all
		return nil
	})
}
