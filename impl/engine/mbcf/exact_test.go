package mbcf

import (
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// workstations is what a message of MPI/MBCF costs on workstations, by algebra.
type workstations struct {
	*model.Ethernet
	model.Processor
	software [model.MaxCosts]unit.Time
}

// frame is the time of a packet with so many bytes of data on a link.
func (w *workstations) frame(bytes int) unit.Time {
	return w.Rate.Time(w.Preamble + w.Header + max(w.MBCF.Header+bytes, w.MinPayload) + w.FCS)
}

// posted is the time from a send whose request has arrived until the waiting receive has returned:
// data and completion record are two packets, which follow each other on both links of the switch
// and in the receiver's interrupts.
func (w *workstations) posted(bytes int) unit.Time {
	m := w.MBCF
	ready := w.software[model.MBCFSendCost] + m.Dequeue + w.Copy.Time(requestBytes) + w.software[model.MBCFTakeRequestCost]
	var first, second, busy unit.Time // when the links to the switch and from it are free; when the receiver is
	packet := func(bytes int) {
		ready += m.Call.Time(bytes)
		leaves := max(ready, first)
		at := leaves + w.frame(bytes)
		first = at + w.Rate.Time(w.InterframeGapBytes)
		leaves = max(at+w.Propagation+w.Switches.Latency, second)
		at = leaves + w.frame(bytes)
		second = at + w.Rate.Time(w.InterframeGapBytes)
		at += w.Propagation
		cost := m.Input.Time(bytes)
		if at < busy {
			cost -= m.InterruptEntryAndExit
		}
		busy = max(busy, at) + cost
	}
	if bytes > 0 {
		packet(bytes)
	}
	packet(completionRecordBytes)
	return busy + w.software[model.MBCFHandleMessageCost] + w.software[model.MBCFTestCost]
}

// sent is a receive whose message is in the FIFO.
func (w *workstations) sent(bytes int) unit.Time {
	t := w.software[model.MBCFReceiveCost] + w.MBCF.Dequeue + w.Copy.Time(headerBytes) + w.software[model.MBCFHandleMessageCost]
	if bytes > 0 { // which are dequeued by a call of their own
		t += w.MBCF.Dequeue + w.Copy.Time(bytes)
	}
	return t
}

// Where nothing contends, the emulation takes what the algebra says, to the picosecond.
func TestExact(t *testing.T) {
	p := enginetest.LoadPlatform("mbcf-switch")
	library, err := p.Library("sr")
	if err != nil {
		t.Fatal(err)
	}
	w := &workstations{p.Machine.Network.(*model.Ethernet), p.Machine.Processor, library.Software}
	open := enginetest.OpenEmulated("mbcf-switch", func(m *model.Machine) { m.TimerResolution = 1 }, 0)
	for _, bytes := range []int{0, 1, 10, 100, 1000, 1300} {
		var begin, end, took unit.Time
		err := mpi.Run(open(t, library, 2), mpi.Options{Engine: New, Library: library}, func(c *mpi.Comm) error {
			b := make([]byte, bytes)
			if c.Rank() == 0 {
				c.Compute(20 * unit.Millisecond) // until the request is there
				begin = c.Wtime()
				mpi.Send(c, b, 1, 0)
				c.Compute(5 * unit.Millisecond) // until nothing is on its way
				mpi.Send(c, b, 1, 1)
				return nil
			}
			r := mpi.Irecv(c, b, 0, 0)
			r.Wait()
			end = c.Wtime()
			c.Compute(20 * unit.Millisecond) // until the message is there
			again := c.Wtime()
			mpi.Recv(c, b, 0, 1)
			took = c.Wtime() - again
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := end-begin, w.posted(bytes); got != want {
			t.Errorf("%d bytes, receive first: %v, by algebra %v", bytes, got, want)
		}
		if want := w.sent(bytes); took != want {
			t.Errorf("%d bytes, send first: %v, by algebra %v", bytes, took, want)
		}
	}
}
