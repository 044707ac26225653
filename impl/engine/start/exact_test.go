package start

import (
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// pair is what a message of MPI-StarT costs between two SMPs that have nothing else to do, and in
// one, by algebra.
type pair struct {
	*model.FatTree
	memory *model.Hypernodes
	model.Processor
	software [model.MaxCosts]unit.Time
	block    int
}

// latency is that of one switch, which joins all SMPs.
func (p *pair) latency() unit.Time { return p.HopLatency + p.Deliver }

// stores is how long a processor is busy with sending a packet of the channel, and how much longer
// its last bytes take to leave. The interface has room for one packet of its own: where the link
// takes longer than the stores, the next one waits.
func (p *pair) stores(bytes int) (busy, behind unit.Time) {
	busy = p.software[model.StartRemoteCost] + p.InterfaceLock
	for left := p.Header + bytes; ; left -= p.Packet.Payload {
		n := p.Packet.Header + min(left, p.Packet.Payload)
		stored := p.FatTree.Send.Time(n)
		behind = max(0, p.Link.Time(n)-stored)
		busy += stored
		if left <= p.Packet.Payload {
			return busy, behind
		}
		busy += behind
	}
}

// loads is how long a processor is busy with taking a packet of the channel in.
func (p *pair) loads(bytes int) unit.Time {
	t := p.InterfaceLock + p.software[model.StartRemoteCost] + p.software[model.StartHandleCost]
	for left := p.Header + bytes; left > 0; left -= p.Packet.Payload {
		t += p.Receive.Time(p.Packet.Header + min(left, p.Packet.Payload))
	}
	return t
}

// short is from a send until the receive that waits for it has returned.
func (p *pair) short(bytes int) unit.Time {
	busy, behind := p.stores(bytes)
	t := p.software[model.StartSendCost] + busy + behind + p.latency() + p.loads(bytes)
	if bytes > 0 {
		t += p.Copy.Time(bytes)
	}
	return t
}

// inside is that of a short message within an SMP: it is written to the queue of its receiver, and
// copied from there.
func (p *pair) inside(bytes int) unit.Time {
	a := p.memory.Access[model.IntraNode]
	t := p.software[model.StartSendCost] + a.Send.Start + a.Send.Bandwidth.Time(p.memory.Header+bytes) + a.Latency
	t += a.Receive + a.FetchPerByte.Time(bytes) + p.software[model.StartHandleCost]
	if bytes > 0 {
		t += p.Copy.Time(bytes)
	}
	return t
}

// long is that of a message in one transfer: request, clear, connect and grant, and blocks that are
// copied, put and copied out at the same time. Two blocks are on their way at most.
func (p *pair) long(bytes int) unit.Time {
	busy, behind := p.stores(0)
	busy += p.software[model.StartControlCost]
	sender := p.software[model.StartSendCost] + 4*(busy+behind+p.latency()+p.loads(0)) // has the grant
	var (
		interfaces, receiver unit.Time   // until when they are busy
		ends                 []unit.Time // when the sender knows that a block has been put
	)
	news := func() {
		sender = max(sender, ends[0]) + busy
		ends = ends[1:]
	}
	arrives := func(n int) {
		news()
		receiver = max(receiver, sender+behind+p.latency()) + p.loads(0) + p.Copy.Time(n)
	}
	var sizes []int
	for left := bytes; left > 0; {
		if len(ends) == model.BlocksInFlight {
			arrives(sizes[0])
			sizes = sizes[1:]
		}
		n := min(left, p.block)
		left -= n
		sender += p.Copy.Time(n) + p.Put.Start
		begins := max(sender, interfaces)
		interfaces = begins + p.Put.Bandwidth.Time(n)
		last := n % p.Chunk
		if last == 0 {
			last = p.Chunk
		}
		ends = append(ends, interfaces+max(0, p.Link.Time(last)-p.Put.Bandwidth.Time(last))+2*p.latency())
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		arrives(n)
	}
	return receiver
}

// Where nothing contends, the emulation takes what the algebra says, to the picosecond.
func TestExact(t *testing.T) {
	x := enginetest.LoadPlatform("start-x")
	library, err := x.Library("mpi-start")
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{x.Machine.Network.(*model.FatTree), x.Machine.Nodes.Inside.(*model.Hypernodes), x.Machine.Processor, library.Software, library.Start.BlockBytes}
	between, inside := model.Placement{1, 1}, model.Placement{2}
	for _, bytes := range []int{0, 1, 8, 40, 48, 49, 88, 500, 1024, 1025, 1500, 16384, 16385, 20_000, 32768, 50_000, 200_000, 1_000_000} {
		want := p.short(bytes)
		if bytes > library.Start.ShortBytes[model.InterNode] {
			want = p.long(bytes)
		}
		if got := once(t, x.Machine, library, between, bytes); got != want {
			t.Errorf("%d bytes between SMPs: %v, by algebra %v, %d ps less", bytes, got, want, want-got)
		}
		if bytes > library.Start.ShortBytes[model.IntraNode] {
			continue // the copies of sender and receiver contend for memory
		}
		if got, want := once(t, x.Machine, library, inside, bytes), p.inside(bytes); got != want {
			t.Errorf("%d bytes inside an SMP: %v, by algebra %v, %d ps less", bytes, got, want, want-got)
		}
	}
}

// once returns how long a message takes from its send until the receive that waits for it has
// returned.
func once(t *testing.T, on *model.Machine, library *model.Library, p model.Placement, bytes int) unit.Time {
	t.Helper()
	placed, err := on.WithPlacement(p)
	if err != nil {
		t.Fatal(err)
	}
	m := *placed
	m.TimerResolution = 1
	w := hwtest.Open(t, hw.Config{Machine: &m, Library: library, Ranks: 2, Seed: 1})
	var begin, end unit.Time
	if err := mpi.Run(w, mpi.Options{Engine: New, Library: library}, func(c *mpi.Comm) error {
		b := make([]byte, bytes)
		if c.Rank() == 0 {
			c.Compute(20 * unit.Millisecond) // until the receive waits
			begin = c.Wtime()
			mpi.Send(c, b, 1, 0)
			return nil
		}
		mpi.Recv(c, b, 0, 0)
		end = c.Wtime()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return end - begin
}
