package core_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// The data of accesses to files passes the file system of a machine one after the other, and each
// takes the start-up; without one a machine has no storage.
func TestFiles(t *testing.T) {
	const n, ranks = 1 << 20, 3
	p := hwtest.LoadPlatform(t, "loggp")
	p.Machine.Noise.Relative = 0
	run := func(program func(p device.Port)) {
		t.Helper()
		if err := hwtest.OpenPlatform(t, p, ranks, 0).Run(func(p device.Port) error { program(p); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	run(func(p device.Port) {
		if p.Storage() != nil {
			t.Error("a machine without files has storage")
		}
	})

	p.Machine.FileAccess = model.Channel{Start: 10 * unit.Millisecond, Bandwidth: 1e6}
	var ends [ranks]unit.Time
	run(func(p device.Port) {
		if p.Rank() == 2 { // it comes when the others have passed
			p.Delay(10 * unit.Second)
		}
		p.Storage().AccessFile(n)
		ends[p.Rank()] = p.Now()
	})
	one := unit.Rate(1e6).Time(n)
	for rank, want := range []unit.Time{one, 2 * one, 10*unit.Second + one} {
		if want += 10 * unit.Millisecond; ends[rank] != want {
			t.Errorf("rank %d ends at %v, want %v", rank, ends[rank], want)
		}
	}
}
