package model

import (
	"testing"

	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// The low-level parameters of RDMA interfaces are those of their transfers: an empty message takes
// o_s + L + o_r and the time of its header on the link, and a byte of a long one takes G.
func TestParametersOfRDMAInterfaces(t *testing.T) {
	g, err := topology.NewStar(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []NIC{
		{Inline: InlineData{Size: 100, Bandwidth: 4e9}, Bus: Bus{Latency: 150_000, Bandwidth: 20e9}},
		{Bus: Bus{Latency: 150_000, Bandwidth: 8e9}, Message: 20_000},
		{Bus: Bus{Latency: 150_000, Bandwidth: 8e9}, Datagrams: &DatagramCosts{Send: Channel{Start: 100_000, Bandwidth: 16e9}, Receive: Channel{Start: 200_000, Bandwidth: 12e9}}},
	} {
		c.Doorbell, c.Complete, c.OneSided = 50_000, 30_000, true
		f := &Fabric{Graph: g, NIC: &c, SwitchLatency: 100_000, Deliver: 300_000, Header: 40, Packet: PacketSize{Header: 60, Payload: 4096}, Chunk: 8192}
		f.Links[topology.HostClass] = FabricLink{Bandwidth: 10e9, Width: 1, Latency: 50_000}
		m := &Machine{Network: f, Processor: Processor{Copy: Channel{Bandwidth: 1e18}}}
		x := LowLevelParameters(m, nil, m.PathBetweenRanks(2, 0, 1))
		message := func(k int) unit.Time {
			return Transfer{Machine: m, Protocol: ProtocolT, Bytes: k, Path: m.PathBetweenRanks(2, 0, 1)}.Cost().Delivery.Sum()
		}
		header := f.Links[topology.HostClass].Rate().Time(f.WireBytes(f.Header))
		if got, want := x.SendOverhead.Time(0)+x.L+x.RecvOverhead.Time(0)+header, message(0); got < want-1 || got > want+1 {
			t.Errorf("%+v: an empty message takes %v by the parameters, %v as a transfer", c, got, want)
		}
		const k = 1 << 20
		byPut := Transfer{Machine: m, Protocol: ProtocolRAT, Path: m.PathBetweenRanks(2, 0, 1)}
		short, long := byPut, byPut
		short.Bytes, long.Bytes = k, 2*k
		if got, want := x.GapPerByte.Time(k), long.Cost().Delivery.Sum()-short.Cost().Delivery.Sum(); got < want-unit.Nanosecond || got > want+unit.Nanosecond {
			t.Errorf("%+v: %d bytes take %v more by G, %v as a transfer", c, k, got, want)
		}
		if want := max(c.Message, header); x.Gap != want {
			t.Errorf("%+v: g is %v, want %v", c, x.Gap, want)
		}
	}
}
