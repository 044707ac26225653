// Package launchtest states as tests what holds for jobs whose ranks are processes, by whatever transport these meet.
//
// The ranks of a test are the binary of the test, started again. It runs that test alone (Args), and comes to the runs of the test as the first rank does; a
// job that is to be killed from outside is one of the binary's jobs (Main). So a test is the same in all processes up to its runs, and what a rank finds it
// returns as an error.
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
	"github.com/loggp/loggp/impl/launch"
)

// Settings say what world is to be opened.
type Settings struct {
	Ranks   int
	Wait    launch.Wait
	Args    []string // of the processes that are started; nil: those of this one
	Context context.Context
}

// Open opens worlds of the transport that is tested. It fails if the transport says that the settings are wrong.
type Open func(Settings) (device.World, error)

// transport is what is tested.
type transport struct {
	open Open
	most int // ranks
}

// laws are those that all transports keep.
var laws = []struct {
	name  string
	check func(*testing.T, *transport)
}{
	{"mistakes", mistakes},
	{"most ranks", mostRanks},
	{"no garbage", noGarbage},
	{"the end of a rank wakes others", endWakes},

	{"death", death},
	{"killed at any time", killedAtAnyTime},
	{"killed while meeting", killedWhileMeeting},
	{"absent", absent},
	{"cancel", cancelled},
	{"nothing left", nothingLeft},

	{"the user's process ends", ends},
	{"posing", posing},
}

// Test tests that a transport keeps the laws. It is for that many ranks at most. The binary's TestMain has to be Main.
func Test(t *testing.T, open Open, most int) {
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) { l.check(t, &transport{open, most}) })
	}
}

// world opens a world whose ranks run the test.
func (x *transport) world(t *testing.T, s Settings) device.World {
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

// Args returns arguments by which this binary runs a test and nothing else, and of its parts those that are run here. Flags of the tests' own are passed on.
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

// Main is TestMain of a binary whose tests start it. With the name of a job as its first argument it does that job instead of tests. Jobs are those given,
// and Forever.
func Main(m *testing.M, open Open, jobs map[string]func() error) {
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // else the race detector lets every rank sleep for a second at its end
	if len(os.Args) > 1 {
		job, ok := jobs[os.Args[1]]
		if os.Args[1] == Forever {
			job, ok = func() error { return forever(open) }, true
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

// Forever is the job of three ranks that tells its processes and does not end, but for an interrupt.
const Forever = "forever"

func forever(open Open) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	w, err := open(Settings{Ranks: 3, Context: ctx})
	if err != nil {
		return err
	}
	return w.Run(round(func(p device.Port) error {
		p.Send(0, &device.Packet{Head: device.Head{uint64(os.Getpid())}})
		if p.Rank() == 0 {
			for range 3 {
				fmt.Println(p.Recv(true).Head[0])
			}
		}
		return nil
	}))
}

// round returns a program in which all ranks pass a token round forever, each after it has done something.
func round(first func(p device.Port) error) func(p device.Port) error {
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
