package pvm

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// text is the bytes of a message that only its sender knows.
func text(n, src, dst, i int) []byte {
	r := rand.New(rand.NewPCG(uint64(src)<<32|uint64(dst), uint64(i)))
	b := make([]byte, n)
	for j := range b {
		b[j] = byte(r.Uint32())
	}
	return b
}

// Tasks send to all, themselves too, before they receive: by source, by tag, or whatever comes
// first. Messages of each source with a tag come in their order, unchanged, whether they go with
// their header or are fetched, on machines with remote memory and without.
func TestRandomMessages(t *testing.T) {
	const messages = 12
	program := func(seed uint64) func(*Task) error {
		return func(p *Task) error {
			n := p.Size()
			r := rand.New(rand.NewPCG(seed, 1)) // alike in all tasks
			sizes, tags := make([]int, messages), make([]int, messages)
			for i := range sizes {
				sizes[i], tags[i] = r.IntN(200), r.IntN(2)
			}
			own := rand.New(rand.NewPCG(seed, uint64(p.Rank())))
			for i := range messages {
				for d := range n {
					dst := (p.Rank() + d) % n
					p.Send(dst, tags[i], text(sizes[i], p.Rank(), dst, i))
				}
				p.Compute(unit.Time(own.IntN(20)) * unit.Microsecond)
			}
			next := make([][2]int, n) // message that is expected, by source and tag
			expected := func(src, tag int) int {
				i := next[src][tag]
				for i < messages && tags[i] != tag {
					i++
				}
				return i
			}
			for left := n * messages; left > 0; {
				src, tag := own.IntN(n+1)-1, own.IntN(3)-1
				if src >= 0 && tag >= 0 && expected(src, tag) == messages || src >= 0 && expected(src, 0) == messages && expected(src, 1) == messages {
					continue
				}
				b := make([]byte, 200)
				s, ok := p.TryReceive(src, tag, b)
				if !ok && (src < 0 || tag < 0) {
					continue
				}
				if !ok {
					s = p.Receive(src, tag, b)
				}
				i := expected(s.Source, s.Tag)
				if i == messages || s.Bytes != sizes[i] || !bytes.Equal(b[:s.Bytes], text(sizes[i], s.Source, p.Rank(), i)) {
					return fmt.Errorf("task %d: message %d of task %d with tag %d is wrong: %d bytes", p.Rank(), i, s.Source, s.Tag, s.Bytes)
				}
				next[s.Source][s.Tag] = i + 1
				left--
			}
			return nil
		}
	}
	library := &model.Library{Name: "pvm", Engine: model.PVMEngine}
	for _, w := range enginetest.Worlds() {
		for i, ranks := range []int{1, 2, 5} {
			if w.CanHold(ranks) {
				if err := Run(w.Open(t, library, ranks), Options{MaxBytesWithHeader: 100}, program(uint64(i))); err != nil {
					t.Errorf("%s, %d tasks: %v", w.Name, ranks, err)
				}
			}
		}
	}
}

// floodedPort has a packet whenever it is polled.
type floodedPort struct {
	device.Port
	polls int
}

func (p *floodedPort) Recv(block bool) *device.Packet {
	const limit = 100_000
	if p.polls++; p.polls > limit {
		panic("polled without end")
	}
	return &device.Packet{Head: device.Head{kindMessage, 1}}
}

// TryReceive ends while messages that it does not ask for come without end.
func TestTryReceiveEndsInAFlood(t *testing.T) {
	err := loop.New(1).Run(func(p device.Port) error {
		task := &Task{port: &floodedPort{Port: p}, taskCount: 1}
		if s, ok := task.TryReceive(AnyTask, 2, nil); ok {
			return fmt.Errorf("received %+v", s)
		}
		if _, ok := task.TryReceive(AnyTask, 1, nil); !ok {
			return errors.New("a message that has come is not received")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Broadcast and Reduce are right for any number of tasks, in the order of tasks.
func TestCollectives(t *testing.T) {
	for ranks := 1; ranks <= 9; ranks++ {
		err := Run(loop.New(ranks), Options{MaxBytesWithHeader: 4}, func(p *Task) error {
			b := []byte("of others")
			if p.Rank() == 0 {
				b = []byte("of task 0")
			}
			if p.Broadcast(b); string(b) != "of task 0" {
				return fmt.Errorf("broadcast: %q", b)
			}
			// 2x2 matrices over bytes do not commute.
			x := []byte{1, byte(p.Rank() + 1), 0, 1, 2, 1, 1, byte(p.Rank())}
			times := func(a, b []byte) {
				copy(a, []byte{a[0]*b[0] + a[1]*b[2], a[0]*b[1] + a[1]*b[3], a[2]*b[0] + a[3]*b[2], a[2]*b[1] + a[3]*b[3]})
			}
			combine := func(lower, higher []byte) {
				for i := 0; i < len(lower); i += 4 {
					times(lower[i:i+4], higher[i:i+4])
				}
			}
			p.Reduce(x, 4, combine)
			want := []byte{1, 1, 0, 1, 2, 1, 1, 0}
			for r := 1; r < ranks; r++ {
				combine(want, []byte{1, byte(r + 1), 0, 1, 2, 1, 1, byte(r)})
			}
			if p.Rank() == 0 && !bytes.Equal(x, want) {
				return fmt.Errorf("reduce: %v, want %v", x, want)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d tasks: %v", ranks, err)
		}
	}
}

// A mistake of the program is an error that names the task.
func TestErrors(t *testing.T) {
	for want, program := range map[string]func(*Task){
		"task 0: there is no task 2":             func(p *Task) { p.Send(2, 0, nil) },
		"task 1: a message of task 0 with tag 7": func(p *Task) { p.Send(1, 7, make([]byte, 9)) },
		"does not fit a buffer of 3":             func(p *Task) { p.Send(0, 0, make([]byte, 4)); p.Receive(0, 0, make([]byte, 3)) },
	} {
		err := Run(loop.New(2), Options{}, func(p *Task) error {
			if p.Rank() == 0 {
				program(p)
			}
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// spendCounter counts what a task charges.
type spendCounter struct {
	device.Port
	spent map[model.CostKey]int
}

func (p spendCounter) Spend(k model.CostKey, n int) {
	p.spent[k] += n
	p.Port.Spend(k, n)
}

// A byte of a short message costs what short ones do, a byte of a long one what long ones do, and
// one of a collective operation nothing.
func TestBytesAreChargedBySizeRange(t *testing.T) {
	err := loop.New(2).Run(func(port device.Port) error {
		p := spendCounter{port, map[model.CostKey]int{}}
		task := NewTask(p, Options{MaxBytesWithHeader: 100})
		for _, n := range []int{100, 7, 101, 500} {
			if task.Rank() == 0 {
				task.Send(1, n, make([]byte, n))
			} else {
				task.Receive(0, n, make([]byte, n))
			}
		}
		task.Broadcast(make([]byte, 80))
		task.Reduce(make([]byte, 40), 4, func(_, _ []byte) {})
		if err := task.End(); err != nil {
			return err
		}
		short, long := p.spent[model.PvmUnpackShortCost], p.spent[model.PvmUnpackCost]
		if want := [2]int{107, 601}; task.Rank() == 1 && [2]int{short, long} != want || task.Rank() == 0 && short+long != 0 {
			return fmt.Errorf("task %d: %d bytes are charged as short and %d as long ones, want %v", task.Rank(), short, long, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
