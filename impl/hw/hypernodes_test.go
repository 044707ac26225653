package hw

import (
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/model"
)

// shared is a machine of hypernodes with round numbers.
func shared(sizes ...int) *model.Machine {
	h := &model.Hypernodes{Sizes: sizes, PerBlock: 2, Port: 250e6, Rings: 4, Ring: 500e6, Hop: 50_000, Chunk: 1000, Header: 0, Access: [model.NumTiers]model.Access{
		model.Intra: {Latency: 300_000, Send: model.Channel{Start: us, Bandwidth: 100e6}, Settle: us, Receive: 200_000, Fetch: 5000,
			Put: model.Channel{Start: us, Bandwidth: 100e6}, Get: model.Channel{Start: us, Bandwidth: 125e6}, Counter: us},
		model.Inter: {Latency: 700_000, Send: model.Channel{Start: 4 * us, Bandwidth: 50e6}, Settle: 20 * us, Receive: 500_000, Fetch: 20_000,
			Put: model.Channel{Start: 4 * us, Bandwidth: 50e6}, Get: model.Channel{Start: 2 * us, Bandwidth: 25e6}, Counter: 2 * us},
	}}
	return &model.Machine{Name: fmt.Sprint("hypernodes ", sizes), Ranks: model.Ranks{Min: 1, Max: h.Processors()}, Timer: 1, Hypernodes: h,
		Processor: model.Processor{Copy: model.Channel{Bandwidth: 200e6}}}
}

// The laws of a port hold where all are near, where all are far, and where some are.
func TestHypernodesLaws(t *testing.T) {
	many := make([]int, 128)
	for i := range many {
		many[i] = 1
	}
	for _, sizes := range [][]int{{128}, many, {1, 3, 124}} {
		for _, noise := range []float64{0, 0.05} {
			m := shared(sizes...)
			t.Run(fmt.Sprintf("%d hypernodes noise %v", len(sizes), noise), func(t *testing.T) {
				world := func(ranks int) device.World {
					w, err := New(Config{Machine: m, Library: &model.Library{}, Ranks: ranks, Seed: 1, Noise: noise, Context: t.Context()})
					if err != nil {
						t.Fatal(err)
					}
					return w
				}
				devicetest.TestWorld(t, world)
				devicetest.TestDeadlock(t, world)
			})
		}
	}
}
