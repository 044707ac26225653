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
	"github.com/loggp/loggp/reports/render"
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
	//    max     100.0     119.0   0.1600    219.1     45.67
	//
	// Overhead is processor time for communication; a waiting processor is idle.
	//
	// calls of all ranks
	//
	// call           calls   time   time   waits   for late   mean    min    max  sends
	//                           %     us      us  ranks, us     us     us     us      B
	// MPI_Allreduce      4  54.35  476.2  0.3200      0.000  119.0  119.0  119.1     64
	// MPI_Finalize       4  0.000  0.000   0.000      0.000  0.000  0.000  0.000      0
	//
	// Times are sums over all ranks, and shares are of the sum of their times from beginning to end. A rank waits in a call while its processor is idle; part of that is for late ranks, which have not sent or received yet (late senders and late receivers, as in Scalasca). sends counts bytes of data without headers: of messages, their parts, and remote accesses.
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
	//   rank 0: in Recv (example_test.go:64), waits for a message from rank 1 with tag 0
	//   rank 1: in Recv (example_test.go:64), waits for a message from rank 0 with tag 0
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
	sim, err := loggp.Simulate(context.Background(), s, loggp.SimulateOptions{LogGOPS: &params})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sim.Result.LastFinish)
	// Output: 4.999us
}

// A low-level message of 16 bytes on an emulated T3D: the first sender time and the first round
// trip.
func ExampleMeasure() {
	m, err := loggp.Measure(context.Background(), loggp.MeasureOptions{Platform: "t3d", Level: loggp.LevelMessage, Sizes: []int{16}, Reps: 4})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range m.Samples.Series {
		if s.Timer == "timer11" || s.Timer == "rtt" {
			fmt.Println(s.Timer, s.Times[0])
		}
	}
	// Output:
	// timer11 3.166825us
	// rtt 13.047319us
}

// Samples of a machine with L=5us, o_s=2us, o_r=3us, g=4us and G=0.01us/B give its parameters back.
func ExampleFit() {
	r, err := loggp.Fit(context.Background(), loggp.FitOptions{Files: []string{"fit/testdata/reference/loggp.samples.csv.gz"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range r.Parameters().All {
		if p.Mode == "send" {
			fmt.Printf("%s = %.4g %s by %s\n", p.Name, p.Value, p.Unit, p.Method)
		}
	}
	// Output:
	// o_s = 2 us by timer11
	// o_s = 0 us/B by timer11
	// o_r = 3 us by timer12
	// o_r = 0 us/B by timer12
	// T = 9.991 us by rtt/2
	// T = 0.01 us/B by rtt/2
	// L = 5 us by rtt/2-o_s-o_r
	// L = 10 us by rtt/2
	// L = 6 us by rtt/2-g
	// g = 4 us by train
	// G = 0.01 us/B by timer21(blocking)-timer21(non-blocking)
}

// Two libraries of one machine: from which size on non-blocking calls pay.
func ExampleCompare() {
	c, err := loggp.Compare(context.Background(), loggp.CompareOptions{Samples: []string{
		"fit/testdata/reference/t3d-lean.samples.csv.gz", "fit/testdata/reference/t3d.samples.csv.gz"}})
	if err != nil {
		log.Fatal(err)
	}
	d := c.Document()
	tables := &d.Sections[0].Tables
	*tables = (*tables)[2:3] // after overheads and parameters
	if err := render.WriteText(os.Stdout, d, render.Style{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// From which size on calls that do not block pay
	//
	// mode            t3d/chimp                       t3d/lean
	// sends
	//   send/isend    700 B (500 B to 700 B)!         5 KB (3 KB to 5 KB)!
	//   ssend/issend  from 0 B on                     -
	//   rsend/irsend  700 B (500 B to 700 B)!         -
	//   bsend/ibsend  never up to 100 KB              -
	// receives
	//   send/isend    1912 B (1868 B to 1959 B)!      2416 B (2370 B to 2465 B)!
	//   ssend/issend  700 B (500 B to 700 B)!         -
	//   rsend/irsend  undecided up to 3 B, then pays  -
	//   bsend/ibsend  700 B (500 B to 700 B)!         -
	//
	// ! is weak: there are few sizes, or their times are not on a line.
	// The smallest size at which the blocking call costs more than 1.2 times as much as the non-blocking one, and the range in which it lies: by the 95 % interval, or because times jump between two sizes that were measured.
}

// A report is a document: render.WritePage makes a page of it, and render.WriteText text.
func ExampleReport() {
	d, err := loggp.Report(context.Background(), loggp.ReportOptions{Samples: []string{"fit/testdata/reference/loggp.samples.csv.gz"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Title)
	for _, s := range d.Sections {
		fmt.Println("-", s.Title)
	}
	// Output:
	// Communication performance of loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B, none
	// - Latency and bandwidth
	// - Overheads
	// - Where non-blocking calls pay
	// - Parameters by mode
	// - Ranges of sizes
	// - Charts by mode and protocol
	// - Predicted and measured times
	// - Warnings
	// - Where the samples are from
	// - How to measure it again
	// - Glossary
}
