package loggp_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// Each rank computes, and all add up what they have.
func Example() {
	e, err := loggp.Run(context.Background(), loggp.RunOptions{Platform: "t3d", Ranks: 4}, func(c *mpi.Comm) error {
		c.Compute(100 * unit.Microsecond)
		mine, sum := []int64{int64(c.Rank())}, []int64{0}
		mpi.Allreduce(c, mine, sum, mpi.Sum)
		if sum[0] != 6 {
			return fmt.Errorf("the sum is %d", sum[0])
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Time)
	if err := e.WriteStatistics(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 219.120617us
	// 4 ranks on t3d, chimp
	//
	//   rank  computes  overhead    waits  ends at  computes
	//               us        us       us       us         %
	//      0     100.0     119.0    0.000    219.0     45.67
	//      1     100.0     119.0   0.1600    219.1     45.64
	//      2     100.0     119.0    0.000    219.0     45.67
	//      3     100.0     119.0   0.1600    219.1     45.64
	// summary
	//   mean     100.0     119.0  0.08000    219.0     45.65
	//   most     100.0     119.0   0.1600    219.1     45.64
	//
	// Overhead is processor time for communication; a waiting processor is idle.
	//
	// calls of all ranks
	//
	// call       calls   time   time   waits   mean  least   most  sends
	//                       %     us      us     us     us     us      B
	// Allreduce      4  54.35  476.2  0.3200  119.0  119.0  119.1     64
	// Finalize       4  0.000  0.000   0.000  0.000  0.000  0.000      0
	//
	// Times are sums over all ranks, and shares are of the sum of their times from beginning to end. A rank waits in a call while its processor is idle. sends counts bytes of data without headers: of messages, their parts, and remote accesses.
}

// A mistake of a program is an error that names the ranks, their calls and the lines of these.
func ExampleRun_deadlock() {
	_, err := loggp.Run(context.Background(), loggp.RunOptions{Platform: "loggp", Ranks: 2}, func(c *mpi.Comm) error {
		mpi.Recv(c, make([]byte, 8), 1-c.Rank(), 0)
		return nil
	})
	fmt.Println(err)
	// Output:
	// run on loggp: deadlock: 2 of 2 ranks wait and nothing is under way
	//   rank 0: in Recv (example_test.go:63), waits for a message from rank 1 with tag 0
	//   rank 1: in Recv (example_test.go:63), waits for a message from rank 0 with tag 0
	// Each of these waits for the next: rank 0 → rank 1 → rank 0
}

// A rank sends 1,000 bytes to another, on a machine with these parameters.
func ExampleSimulate() {
	s, err := schedule.Read(strings.NewReader("num_ranks 2\nrank 0 {\nl1: send 1000b to 1\n}\nrank 1 {\nl1: recv 1000b from 0\n}\n"), "message.goal", 1<<20)
	if err != nil {
		log.Fatal(err)
	}
	params, err := schedule.ParseParams("L=2us,o=1us,G=1ns")
	if err != nil {
		log.Fatal(err)
	}
	sim, err := loggp.Simulate(context.Background(), s, loggp.SimulateOptions{Params: &params})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sim.Result.Last)
	// Output: 4.999us
}
