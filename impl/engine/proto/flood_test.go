package proto

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
)

// A hundred thousand small messages, and ten thousand of 4 KiB while the receiver makes no
// progress. None is lost, and the receiver keeps no more of them than the window.
func TestFlood(t *testing.T) {
	for _, f := range []struct{ messages, bytes int }{{100_000, 8}, {10_000, 4096}} {
		for i, x := range enginetest.ProtoLibraries()[:3] {
			for _, p := range enginetest.WorldsOfLibrary(i) {
				messages := f.messages
				if i > 0 || testing.Short() {
					messages /= 10 // several windows
				}
				t.Run(fmt.Sprintf("%d of %d/%s/%s", messages, f.bytes, p.Name, x.Name), func(t *testing.T) {
					l := x.New()
					l.Proto.LongMessages = model.ForEveryTier(model.LongMessage{CopiesToAccessibleMemory: l.Proto.LongMessages[0].CopiesToAccessibleMemory})
					w := &counting{World: p.Open(t, l, 2)}
					err := mpi.Run(w, mpi.Options{Engine: New, Library: l}, enginetest.FloodProgram(messages, f.bytes))
					if err != nil {
						t.Error(err)
					}
					if most := int64(max(l.Proto.WindowBytes, f.bytes)); w.most > most {
						t.Errorf("%d bytes were sent ahead of the receiver, the window is %d", w.most, most)
					}
				})
			}
		}
	}
}

// counting is a world that knows how many bytes rank 0 has sent in packets that the program of rank
// 1 does not have yet.
type counting struct {
	device.World
	sent, taken atomic.Int64
	most        int64
}

func (w *counting) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error { return program(&countingPort{Port: p, w: w}) })
}

type countingPort struct {
	device.Port
	w     *counting
	asked bool // the packet that is being taken in has what was asked for
}

// ahead reports whether a packet has data without having been asked for it.
func ahead(q *device.Packet) bool {
	name, _ := Describe(q.Head)
	return name == "RM"
}

func (p *countingPort) Send(dst int, q *device.Packet) {
	if p.Rank() == 0 && ahead(q) {
		p.w.most = max(p.w.most, p.w.sent.Add(int64(len(q.Data)))-p.w.taken.Load())
	}
	p.Port.Send(dst, q)
}

func (p *countingPort) Recv(block bool) *device.Packet {
	q := p.Port.Recv(block)
	p.asked = q != nil && len(q.Data) > 0 && !ahead(q)
	return q
}

func (p *countingPort) Spend(w model.CostKey, n int) {
	if p.Rank() == 1 && w == model.ProtoUnpackCost { // so ends an eager message; without a bounce buffer nothing else does but what was asked for
		if !p.asked {
			p.w.taken.Add(int64(n))
		}
		p.asked = false
	}
	p.Port.Spend(w, n)
}
