package world

import (
	"context"
	"fmt"
	"strings"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/launch"
	"github.com/loggp/loggp/impl/shm"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// Shm is the platform that is this machine, with ranks as processes that share memory.
const Shm = "shm"

// Here are the platforms that are not emulated: this machine, in one way or another.
var Here = []string{Shm}

// Placement says how the ranks of a job on this machine run.
type Placement struct {
	Wait string // spin or block; "": spin where there are as many processors as ranks
	Pin  bool   // each rank to a processor of its own

	// Command is what makes another process of this program come to the job's runs; nil: the arguments that this one was started with.
	Command []string
}

// eager is the longest message that goes with its envelope. A longer one is worth asking the kernel for its copy.
const eager = 4 << 10

// own returns this program's library as it is on real machines: software takes the time that it takes.
func own() *model.Library {
	l := &model.Library{
		Name:        "loggp",
		Description: "this program's own library: messages to 4 KiB at once, longer ones are read by the receiver",
		Fallback:    "RTA",
		Window:      1 << 20,
	}
	for m := range model.NumModes {
		short := model.Rule{Mode: m, UpTo: eager, Protocol: "T"}
		if m == model.Synchronous {
			short.Protocol = "TA"
		}
		l.Rules = append(l.Rules, short, model.Rule{Mode: m, UpTo: -1, Protocol: "RTA"})
	}
	return l
}

// NewHere sets up a job on this machine. Ranks 0 are two.
func NewHere(library string, ranks int, how Placement) (*Job, error) {
	if ranks == 0 {
		ranks = 2
	}
	resolution, _ := shm.Timer()
	p := &platform.Platform{
		Machine: &model.Machine{
			Name:        Shm,
			Description: "this machine: ranks are processes that share memory",
			Ranks:       model.Ranks{Default: 2, Min: 1, Max: shm.MaxRanks},
			Timer:       resolution,
		},
		Libraries: []*model.Library{own()},
	}
	j, err := New(p, library, ranks, 0)
	if err != nil {
		return nil, err
	}
	j.here = &how
	if how.Command != nil {
		launch.Begin(how.Command)
	}
	_, err = j.shm(context.Background())
	return j, err
}

// shm returns a world of processes.
func (j *Job) shm(ctx context.Context) (device.World, error) {
	return shm.New(shm.Config{Ranks: j.Ranks, Wait: shm.Wait(j.here.Wait), Pin: j.here.Pin, Args: j.here.Command, Context: ctx})
}

// Real reports whether the job runs on this machine.
func (j *Job) Real() bool { return j.here != nil }

// Facts returns what is known about a job on this machine; of an emulated one, nothing.
func (j *Job) Facts() []sample.Fact {
	if !j.Real() {
		return nil
	}
	_, cost := shm.Timer()
	return append([]sample.Fact{
		{Key: sample.Wait, Value: string(shm.Wait(j.here.Wait).Waits(j.Ranks))},
		{Key: sample.Pin, Value: j.pins()},
		{Key: "timer_cost_us", Value: cost.MicrosString()},
	}, machine()...)
}

// pins says on which processor each rank runs.
func (j *Job) pins() string {
	if !j.here.Pin {
		return "off: the kernel moves ranks as it likes"
	}
	places := make([]string, j.Ranks)
	for r := range places {
		places[r] = fmt.Sprint(shm.Place(r))
	}
	return "processors " + strings.Join(places, " ")
}
