package microbench

import (
	"math"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model/unit"
)

// calibrate finds what a reading of the clock adds to the time between two: the mean of the quickest of many series of readings, made in the
// way in which stages make them.
func calibrate(c *mpi.Comm) unit.Time {
	const series, reads = 50, 200
	least := unit.Time(math.MaxInt64)
	for range series {
		begin := c.Wtime()
		end := begin
		for range reads {
			end = c.Wtime()
		}
		least = min(least, end-begin)
	}
	return least / reads
}
