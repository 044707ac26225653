package job

import (
	"context"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/platform/edit"
	"github.com/loggp/loggp/model/unit"
)

// slower returns a platform whose network hardware takes twice as long: its times are doubled, and
// its bandwidths halved.
func slower(t *testing.T, name, network string) *platform.Platform {
	t.Helper()
	d, err := edit.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, n := range d.Numbers {
		x, err := n.Quantity.Parse(n.Value)
		if !strings.HasPrefix(n.Path, "machine."+network+".") || err != nil {
			continue
		}
		switch n.Quantity {
		case platform.TimeQuantity, platform.PerByteQuantity:
			values[n.Path] = n.Quantity.Format(2 * x)
		case platform.BandwidthQuantity:
			values[n.Path] = n.Quantity.Format(x / 2)
		}
	}
	p, err := d.With(values)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// With all network hardware twice as slow, a round trip is longer by exactly the time that the
// closed form of the machine as it is gives to the network, on the emulated machine as by the
// closed form: software and copies take what they took, and nothing else has a part in it.
func TestSlowNetwork(t *testing.T) {
	for _, c := range []struct{ name, network, place string }{
		{"t3d", "torus", "inter"}, {"convex", "hypernodes", "inter"}, {"convex", "hypernodes", "intra"}, {"loggp", "loggp", "inter"},
	} {
		fast, err := platform.Load(c.name)
		if err != nil {
			t.Fatal(err)
		}
		slow := slower(t, c.name, c.network)
		for _, protocol := range model.ProtocolNames() {
			if fast.Libraries[0].Proto.FirstBytes == 0 && protocol == "PTAT" {
				continue
			}
			for _, k := range []int{0, 16, 1000, 10000, 50000} {
				a, b := delivered(t, fast, c.place, protocol, k), delivered(t, slow, c.place, protocol, k)
				x, y := closed(t, fast, c.place, protocol, k), closed(t, slow, c.place, protocol, k)
				var network, rest unit.Time
				for _, term := range x {
					if strings.HasPrefix(term.Name, c.network+".") {
						network += term.Time
					} else {
						rest += term.Time
					}
				}
				if network <= 0 || c.name != "loggp" && rest <= 0 {
					t.Errorf("%s: %d bytes by %s: the network takes %v and all else %v", c.name, k, protocol, network, rest)
				}
				if a != x.Sum() || b != y.Sum() {
					t.Errorf("%s, %s: %d bytes by %s take %v, slowly %v; by the closed form %v and %v", c.name, c.place, k, protocol, a, b, x.Sum(), y.Sum())
				}
				if off := b - a - network; off < -2*unit.Nanosecond || off > 2*unit.Nanosecond { // each chunk is rounded to a picosecond
					t.Errorf("%s, %s: %d bytes by %s take %v longer, and the network took %v", c.name, c.place, k, protocol, b-a, network)
				}
			}
		}
	}
}

// setting returns a transfer by a protocol between two ranks of a place, and its job.
func setting(t *testing.T, p *platform.Platform, place, protocol string, bytes int) (*Job, [2]int, model.Transfer) {
	t.Helper()
	j, err := New(p, "", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := j.PairToMeasure(place)
	if err != nil {
		t.Fatal(err)
	}
	return j, pair, model.Transfer{Machine: p.Machine, Library: j.Library, Protocol: model.FindProtocol(protocol), Bytes: bytes, Path: p.Machine.PathBetweenRanks(j.Ranks, pair[0], pair[1])}
}

// closed is T_s-r by the closed form.
func closed(t *testing.T, p *platform.Platform, place, protocol string, bytes int) model.Terms {
	t.Helper()
	_, _, x := setting(t, p, place, protocol, bytes)
	return x.Cost().Delivery
}

// delivered is T_s-r on the emulated machine: from the start of a send until a receive that was
// posted before is complete.
func delivered(t *testing.T, p *platform.Platform, place, protocol string, bytes int) unit.Time {
	t.Helper()
	p.Machine.TimerResolution = unit.Picosecond
	j, pair, _ := setting(t, p, place, protocol, bytes)
	w, err := j.World(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var begin, end unit.Time
	const settled = 10 * unit.Millisecond
	err = mpi.Run(w, j.MPIOptions(protocol), func(c *mpi.Comm) error {
		b := make([]byte, bytes)
		switch c.Rank() {
		case pair[0]:
			c.Compute(settled)
			begin = c.Wtime()
			mpi.Send(c, b, pair[1], 1)
		case pair[1]:
			r := mpi.Irecv(c, b, pair[0], 1)
			r.Wait()
			end = c.Wtime()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return end - begin
}

// This machine opens as an emulated one does; it has no noise to choose.
func TestOpenHere(t *testing.T) {
	for _, name := range LocalPlatforms {
		job, err := Open(name, "", 3, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !job.IsLocal() || job.Ranks != 3 || job.Library.Name != "loggp" {
			t.Errorf("%s: real %v, %d ranks, library %s", name, job.IsLocal(), job.Ranks, job.Library.Name)
		}
		if _, err := Open(name, "", 3, 0.1); err == nil || !strings.Contains(err.Error(), "noise of 10%") {
			t.Errorf("noise on %s: %v", name, err)
		}
	}
}
