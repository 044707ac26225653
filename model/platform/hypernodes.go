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
func (r *reader) hypernodes(to *model.Hypernodes) reading {
	return r.mapping(
		must("sizes", r.counts(&to.Sizes, maxHypernodes)),
		must("per_block", r.count(&to.PerBlock, 1, maxCount)),
		must("port", r.rate(&to.Port)),
		must("rings", r.count(&to.Rings, 1, maxCount)),
		must("ring", r.rate(&to.Ring)),
		must("hop", r.time(&to.Hop)),
		must("chunk", r.size(&to.Chunk, 1, unit.MaxSize)),
		must("header", r.size(&to.Header, 0, unit.MaxSize)),
		must(model.Intra.String(), r.access(&to.Access[model.Intra])),
		must(model.Inter.String(), r.access(&to.Access[model.Inter])),
	)
}

// access reads what processors pay for the memory of another.
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

// counts reads whole numbers from one on, at most so many of them.
func (r *reader) counts(to *[]int, most int) reading {
	const example = "8 8"
	return r.number(example, func(s string) error {
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

// checkProcessors checks that the largest job takes all processors. n is the node of the machine.
func (r *reader) checkProcessors(m *model.Machine, path string, n *yaml.Node) {
	sum, most := m.Hypernodes.Processors(), m.Ranks.Max
	if sum > 0 && most > 0 && most != sum { // else one of them is wrong already
		at := lookup(lookup(lookup(n, "ranks"), "max"), "value")
		r.wrong(at, below(path, "ranks.max.value"), "%d, but the hypernodes have %d processors: write %d", most, sum, sum)
	}
}
