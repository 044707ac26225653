// Package launchtest tests the laws of jobs whose ranks are processes, on any transport.
//
// The ranks of a test are the binary of the test, started again with arguments that select that
// test (Args), so that they come to the same runs. Until then a test must do the same in all
// processes, and what a rank finds it returns as an error. A job that is killed from outside is one
// of the binary's jobs (Main).
package launchtest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/impl/real/launch"
)

// Open opens a world of the transport that is tested. It fails if the configuration is wrong for
// it.
type Open func(launch.Config) (device.World, error)

// testedTransport is what is tested.
type testedTransport struct {
	open Open
}

// laws hold for all transports.
var laws = []struct {
	name  string
	check func(*testing.T, *testedTransport)
}{
	{"mistakes", rejectsWrongConfig},
	{"most ranks", connectsMaxRanks},
	{"no garbage", allocatesNothingPerPacket},
	{"the end of a rank wakes others", endWakesSenders},

	{"death", reportsDeath},
	{"killed at any time", endsWhenRankIsKilled},
	{"killed while meeting", endsWhenKilledConnecting},
	{"absent", endsWithoutMissingRank},
	{"cancel", endsOnCancel},
	{"nothing left", leavesNothing},

	{"the user's process ends", ranksEndWithParent},
	{"posing", rejectsForgedRank},
}

// TestJobs tests the laws on a transport. The binary's TestMain has to call Main.
func TestJobs(t *testing.T, open Open) {
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) { l.check(t, &testedTransport{open}) })
	}
}

// newWorld opens a world whose ranks run the test.
func (x *testedTransport) newWorld(t *testing.T, s launch.Config) device.World {
	t.Helper()
	if s.Args == nil {
		s.Args = Args(t)
	}
	w, err := x.open(s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Worlds returns a function that opens worlds whose ranks run the test.
func Worlds(t testing.TB, open Open, c launch.Config) func(ranks int) device.World {
	c.Args = Args(t)
	return func(ranks int) device.World {
		c.Ranks = ranks
		w, err := open(c)
		if err != nil {
			panic(err)
		}
		return w
	}
}

// TestDevice tests the laws of devices on a transport, for each way in which ranks wait. Ranks that
// spin give way to each other if there are more of them than processors, but slowly.
func TestDevice(t *testing.T, open Open) {
	for _, wait := range []launch.Wait{launch.Auto, launch.Block, launch.Spin} {
		t.Run("wait "+string(wait), func(t *testing.T) {
			if testing.Short() && wait != launch.Auto {
				t.Skip("slow; other tests of transports wait by blocking")
			}
			t.Run("world", func(t *testing.T) { devicetest.TestWorld(t, Worlds(t, open, launch.Config{Wait: wait})) })
			if wait != launch.Spin {
				t.Run("deadlock", func(t *testing.T) { devicetest.TestDeadlock(t, Worlds(t, open, launch.Config{Wait: wait})) })
			}
		})
	}
}

// Args returns arguments with which this binary runs a test and nothing else, and of its subtests
// those that are run here. Flags of the tests' own are passed on.
func Args(t testing.TB) []string {
	value := func(name string) string { return flag.Lookup(name).Value.String() }
	parts := strings.Split(t.Name(), "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	if run := strings.Split(value("test.run"), "/"); len(run) > len(parts) {
		parts = append(parts, run[len(parts):]...)
	}
	args := []string{"-test.run=" + strings.Join(parts, "/")}
	for _, name := range []string{"test.short", "test.count"} {
		args = append(args, "-"+name+"="+value(name))
	}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	return args
}

// Main is TestMain of a binary that tests start again. If its first argument is the name of a job
// it runs that job instead of tests: one of those given, or EndlessJob.
func Main(m *testing.M, open Open, jobs map[string]func() error) {
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // else the race detector lets every rank sleep for a second at its end
	if len(os.Args) > 1 {
		job, ok := jobs[os.Args[1]]
		if os.Args[1] == EndlessJob {
			job, ok = func() error { return runEndlessJob(open) }, true
		}
		if ok {
			if err := job(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return
		}
	}
	os.Exit(m.Run())
}

// EndlessJob is the job of three ranks that prints their process IDs and runs until it is
// interrupted.
const EndlessJob = "forever"

func runEndlessJob(open Open) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	w, err := open(launch.Config{Ranks: 3, Context: ctx})
	if err != nil {
		return err
	}
	return w.Run(passPacketsForever(func(p device.Port) error {
		p.Send(0, &device.Packet{Head: device.Head{uint64(os.Getpid())}})
		if p.Rank() == 0 {
			for range 3 {
				fmt.Println(p.Recv(true).Head[0])
			}
		}
		return nil
	}))
}

// passPacketsForever returns a program in which each rank calls first and then passes packets round
// forever.
func passPacketsForever(first func(p device.Port) error) func(p device.Port) error {
	return func(p device.Port) error {
		if err := first(p); err != nil {
			return err
		}
		right := (p.Rank() + 1) % p.Size()
		for {
			p.Send(right, &device.Packet{})
			p.Recv(true)
		}
	}
}
