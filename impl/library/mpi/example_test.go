package mpi_test

import (
	"fmt"
	"log"

	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/platform"
)

// Four processors of an emulated T3D integrate 4/(1+x²) from 0 to 1.
func Example() {
	t3d, err := platform.Load("t3d")
	if err != nil {
		log.Fatal(err)
	}
	library := t3d.Libraries[0]
	machine, err := hw.New(hw.Config{Machine: t3d.Machine, Library: library, Ranks: 4, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	err = mpi.Run(machine, mpi.Options{Engine: proto.New, Library: library}, func(c *mpi.Comm) error {
		const steps = 1000
		part, whole := []float64{0}, []float64{0}
		for i := c.Rank(); i < steps; i += c.Size() {
			x := (float64(i) + 0.5) / steps
			part[0] += 4 / (1 + x*x) / steps
		}
		mpi.Reduce(c, part, whole, mpi.Sum, 0)
		if c.Rank() == 0 {
			fmt.Printf("π is about %.5f\n", whole[0])
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: π is about 3.14159
}
