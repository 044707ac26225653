package aclmpl

import (
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/real/launch/launchtest"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

func TestMain(m *testing.M) { launchtest.Main(m, nil, nil) }

// worlds are the places where the library runs: by remote memory where there is some, else by
// packets. In those with delays puts take effect late, so that slots are being written while others
// are there.
var worlds = append(enginetest.Worlds(),
	enginetest.World{Name: "loop with delays", Open: func(_ testing.TB, _ *model.Library, ranks int) device.World {
		return loop.NewFaulty(ranks, loop.Faults{Seed: 1, Delay: 0.3})
	}})

// library has the software costs of a machine's own ACLMPL, or a microsecond for each.
func library() *model.Library { return &model.Library{Name: "aclmpl", Engine: model.AclmplEngine} }

// patience is how long a job may take. The longest need seconds.
const patience = time.Minute

// runIn runs a job and gives up if it does not end.
func runIn(w device.World, o Options, program func(*PE) error) error {
	return devicetest.RunWithin(patience, func() error { return Run(w, o, program) })
}
