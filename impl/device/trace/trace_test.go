package trace_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/impl/device/trace"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// torus is two processors in a node.
func torus(t testing.TB, ranks int) device.World {
	m := &model.Machine{Name: "torus", Ranks: model.RankLimits{Min: 1, Max: 64}, TimerResolution: 1, Processor: model.Processor{Copy: model.Channel{Bandwidth: 1e8}},
		Network: &model.Torus{ProcessorsPerNode: 2, HopLatency: us, Deliver: us, Link: 3e8, Chunk: 100, Header: 40, Receive: us,
			Send: model.Channel{Start: us, Bandwidth: 1e8}, Put: model.Channel{Start: us, Bandwidth: 1e8}, Get: model.Channel{Start: us, Bandwidth: 1e8}, TransferEngine: model.Channel{Start: us, Bandwidth: 1e8}, CounterTime: us}}
	l := &model.Library{Name: "lib"}
	for w := range l.Software {
		l.Software[w] = us
	}
	return hwtest.Open(t, hw.Config{Machine: m, Library: l, Ranks: ranks})
}

// A traced world is a world.
func TestLaws(t *testing.T) {
	for name, open := range map[string]func(int) device.World{
		"hw":   func(n int) device.World { return torus(t, n) },
		"loop": loop.New,
	} {
		t.Run(name, func(t *testing.T) {
			traced := func(n int) device.World { return trace.World(open(n), new(trace.Log)) }
			devicetest.TestWorld(t, traced)
			devicetest.TestDeadlock(t, traced)
		})
	}
}

// everything is a program that does all that a port can.
func everything(p device.Port) error {
	head := device.Head{7}
	if p.Rank() == 1 {
		key := p.Memory().Expose(make([]byte, 300))
		p.Delay(us)
		p.Send(0, &device.Packet{Head: device.Head{uint64(key)}, Data: make([]byte, 100)})
		p.Recv(true)
		return nil
	}
	q := p.Recv(true)
	key := device.Key(q.Head[0])
	p.Spend(model.ProtoMatchCost, 2)
	p.Copy(make([]byte, 100), q.Data)
	p.Memory().Put(1, key, 0, make([]byte, 300), head)
	p.Recv(true)
	p.Memory().Get(1, key, 0, make([]byte, 200), head)
	p.Recv(true)
	p.Counters().FetchAndAddRegister(1, 0, 3)
	p.Send(1, &device.Packet{Head: head})
	return nil
}

func Example() {
	var log trace.Log
	if err := trace.World(torus(new(testing.T), 2), &log).Run(everything); err != nil {
		fmt.Println(err)
	}
	log.Print(os.Stdout, func(head device.Head) string { return fmt.Sprintf("head %d", head[0]) })
	// Output:
	// 0 1 1 delay
	// 1 3.4 1 send 100 to 0: head 0
	// 0 5.4 0 recv 100 from 1: head 0
	// 5.4 7.4 0 spend match 2
	// 7.4 8.4 0 copy 100
	// 8.4 9.4 0 put 300 to 1: head 7
	// 9.4 14.4 0 done: head 7
	// 14.4 15.4 0 get 200 from 1: head 7
	// 15.4 19.4 0 done: head 7
	// 19.4 22.4 0 add 3 at 1
	// 22.4 23.8 0 send 0 to 1: head 7
	// 3.4 25.8 1 recv 0 from 0: head 7
}

// Tracing does not change how a world behaves.
func TestUnseen(t *testing.T) {
	var log trace.Log
	end := func(w device.World) (at [2]unit.Time) {
		err := w.Run(func(p device.Port) error {
			err := everything(p)
			at[p.Rank()] = p.Now()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	if watched, alone := end(trace.World(torus(t, 2), &log)), end(torus(t, 2)); watched != alone {
		t.Errorf("the ranks end at %v if they are watched, else at %v", watched, alone)
	}
}

// A log is of one run, and the same for the same run.
func TestAgain(t *testing.T) {
	var log trace.Log
	w := trace.World(torus(t, 2), &log)
	var logs [2][]trace.Event
	for i := range logs {
		if err := w.Run(everything); err != nil {
			t.Fatal(err)
		}
		logs[i] = log.Events()
	}
	if !reflect.DeepEqual(logs[0], logs[1]) {
		t.Errorf("the second run wrote %v after %v", logs[1], logs[0])
	}
}

// bare is a port of a machine that can only send and receive.
type bare struct{ device.Port }

func (bare) Memory() device.Memory     { return nil }
func (bare) Counters() device.Counters { return nil }

type bareWorld struct{ device.World }

func (w bareWorld) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error { return program(bare{p}) })
}

// A capability that a machine lacks is also missing when it is traced.
func TestNil(t *testing.T) {
	err := trace.World(bareWorld{loop.New(1)}, new(trace.Log)).Run(func(p device.Port) error {
		if p.Memory() != nil || p.Counters() != nil {
			return fmt.Errorf("memory %v, counter %v", p.Memory(), p.Counters())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A packet to itself that looks like the end of a transfer, but is none, is a packet.
func TestSelf(t *testing.T) {
	var log trace.Log
	err := trace.World(torus(t, 1), &log).Run(func(p device.Port) error {
		p.Send(0, &device.Packet{})
		p.Recv(true)
		k := p.Memory().Expose(nil)
		p.Memory().Get(0, k, 0, nil, device.Head{})
		p.Recv(true)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range log.Events() {
		kinds = append(kinds, e.Kind.String())
	}
	if got, want := strings.Join(kinds, " "), "send recv get done"; got != want {
		t.Errorf("noted %s, want %s", got, want)
	}
}
