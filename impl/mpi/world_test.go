package mpi_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

func lib() *model.Library {
	l := &model.Library{Name: "test", Fallback: "RTA", Window: 1 << 16, Long: model.EveryTier(model.Long{Stage: true, Bounce: 1024})}
	for w := range l.Software {
		l.Software[w] = unit.Microsecond
	}
	l.Software[model.ProtoPack], l.Software[model.ProtoUnpack] = 1700, 500
	for m := range model.NumModes {
		l.Rules = append(l.Rules, model.Rule{Mode: m, UpTo: 512, Protocol: "TA"}, model.Rule{Mode: m, UpTo: 16384, Protocol: "RAT"}, model.Rule{Mode: m, UpTo: -1, Protocol: "RTA"})
		if m != model.Synchronous {
			l.Rules[len(l.Rules)-3].Protocol = "T"
		}
	}
	return l
}

func machine() *model.Machine {
	return &model.Machine{
		Name: "torus", Ranks: model.Ranks{Default: 4, Min: 1, Max: 2048}, Timer: 1,
		Processor: model.Processor{Copy: model.Channel{Bandwidth: 170e6}},
		Network: &model.Torus{PerNode: 2, Hop: 13333, Turn: 6667, Deliver: 100000, Link: 300e6, Chunk: 4096, Header: 40,
			Send: model.Channel{Start: 1200000, Bandwidth: 120e6}, Receive: 147000,
			Put: model.Channel{Start: 1500000, Bandwidth: 120e6}, Get: model.Channel{Start: 1500000, Bandwidth: 60e6}, Counter: us},
	}
}

func t3d(t testing.TB, ranks int) (device.World, mpi.Options) {
	l := lib()
	w, err := hw.New(hw.Config{Machine: machine(), Library: l, Ranks: ranks, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return w, mpi.Options{Engine: carry, Library: l}
}

func synthetic(t testing.TB, ranks int) (device.World, mpi.Options) {
	return syntheticOf(t, ranks, 1e15)
}

// syntheticOf is a machine that is LogGP, and copies at some rate.
func syntheticOf(t testing.TB, ranks int, copying unit.Rate) (device.World, mpi.Options) {
	m := &model.Machine{Name: "loggp", Ranks: model.Ranks{Default: 2, Min: 1, Max: 1 << 20}, Timer: 1,
		Processor: model.Processor{Copy: model.Channel{Bandwidth: copying}},
		Network:   &model.LogGP{L: 5 * us, SendO: 2 * us, RecvO: 3 * us, Gap: 4 * us, BigGap: 10000}}
	l := &model.Library{Name: "none", Fallback: "RTA", Window: 1 << 40}
	for m := range model.NumModes {
		l.Rules = append(l.Rules, model.Rule{Mode: m, UpTo: -1, Protocol: "T"})
	}
	l.Rules[model.Synchronous].Protocol = "TA"
	w, err := hw.New(hw.Config{Machine: m, Library: l, Ranks: ranks, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return w, mpi.Options{Engine: carry, Library: l}
}
