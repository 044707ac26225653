package shm_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/shm"
)

// jobs are what this binary does with one of these names as its first argument.
var jobs = map[string]func() error{pingPongJob: pingPongs, foreverJob: forever}

// The ranks of tests are this binary, too. Those of a test run it alone, and come to its runs as the test does; those of a job of jobs have
// its name as their only argument.
func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // else the race detector lets every rank sleep for a second at its end
	if len(os.Args) > 1 {
		if job, ok := jobs[os.Args[1]]; ok {
			if err := job(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return
		}
	}
	os.Exit(m.Run())
}

// same returns arguments that run the test, and those parts of it that are run here.
func same(t *testing.T) []string {
	run := "^" + t.Name() + "$"
	if _, parts, some := strings.Cut(flag.Lookup("test.run").Value.String(), "/"); some {
		run += "/" + parts
	}
	args := []string{"-test.run=" + run}
	for _, name := range []string{"test.short", "test.count"} {
		args = append(args, "-"+name+"="+flag.Lookup(name).Value.String())
	}
	return args
}

// worlds returns what opens worlds for a test.
func worlds(t *testing.T, c shm.Config) func(ranks int) device.World {
	c.Args = same(t)
	return func(ranks int) device.World { return open(c, ranks) }
}

// open opens a world that has no mistakes.
func open(c shm.Config, ranks int) device.World {
	c.Ranks = ranks
	w, err := shm.New(c)
	if err != nil {
		panic(err)
	}
	return w
}
