package mpi_test

import (
	"fmt"

	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
)

// Each rank has two cells, and halo cells for its neighbours' ends, which the neighbours put there.
func ExampleWindow() {
	err := mpi.Run(loop.New(3), mpi.Options{Engine: proto.New, Library: lib()}, func(c *mpi.Comm) error {
		left, right := (c.Rank()+c.Size()-1)%c.Size(), (c.Rank()+1)%c.Size()
		cells := []int32{0, int32(10 * c.Rank()), int32(10*c.Rank() + 1), 0}
		w := c.CreateWindow(mpi.BytesOf(cells), 4)
		w.Fence(0)
		w.Put(mpi.BufferOf(cells[1:2]), left, 3, 1, mpi.Int32)
		w.Put(mpi.BufferOf(cells[2:3]), right, 0, 1, mpi.Int32)
		w.Fence(0)
		if c.Rank() == 1 {
			fmt.Println(cells)
		}
		w.Free()
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [1 10 11 20]
}
