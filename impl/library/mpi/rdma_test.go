package mpi_test

import (
	"testing"

	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// Windows of 64 long messages reach the link rate with every protocol, because RDMA interfaces
// transfer one message while processors prepare the next.
func TestWindowsReachTheRateOfTheLink(t *testing.T) {
	g, err := topology.NewStar(4)
	if err != nil {
		t.Fatal(err)
	}
	m := hwtest.RDMAFabric(g)
	m.Processor.Copy.Bandwidth = 400e6
	m.Network.(*model.Fabric).NIC.Registration = &model.Registration{Start: us, PageSize: 4096, Page: 100_000, Entries: 256}
	const window, rounds, bytes = 64, 3, 256 << 10
	for _, rule := range []model.ProtocolRule{{Protocol: "T"}, {Protocol: "T", AwaitsCompletion: true}, {Protocol: "T", CopyFirst: true}, {Protocol: "RTA"}, {Protocol: "RAT"}} {
		l := lib()
		l.Proto.WindowBytes, l.Proto.LongMessages = 1<<30, model.ForEveryTier(model.LongMessage{})
		l.Proto.Rules = nil
		l.Software[model.ProtoPackCost], l.Software[model.ProtoUnpackCost] = 0, 0
		for mode := range model.NumModes {
			r := rule
			r.Mode, r.MaxBytes = mode, -1
			l.Proto.Rules = append(l.Proto.Rules, r)
		}
		var took unit.Time
		err := mpi.Run(world(t, m, l, 2), mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
			var requests [window]mpi.Request
			b := make([]byte, bytes)
			var begin unit.Time
			for round := range rounds + 1 {
				if round == 1 {
					begin = c.Wtime()
				}
				for i := range requests {
					if c.Rank() == 0 {
						requests[i] = c.Isend(mpi.BufferOf(b), 1, 0)
					} else {
						requests[i] = mpi.Irecv(c, b, 0, 0)
					}
				}
				for _, r := range requests {
					r.Wait()
				}
				if c.Rank() == 0 {
					mpi.Recv(c, b[:4], 1, 1)
				} else {
					c.Send(mpi.BufferOf(b[:4]), 0, 1)
				}
			}
			took = c.Wtime() - begin
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if rate := window * rounds * bytes / took.Micros(); rate < 97 || rate > 100 {
			t.Errorf("%s, copied first: %v: %.1f MB/s, want nearly the 100 of the link", rule.Protocol, rule.CopyFirst, rate)
		}
	}
}
