package ccmpi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/library/multicast"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/phases"
)

// Options are those of a job.
type Options struct {
	Compiled        model.CompiledCommunication // the zero value is Defaults
	StoredSchedules []*phases.Schedule          // level 3: those of successive MPI_Alltoallv calls, used cyclically, each for its members; nil: level 1
}

// Defaults are for machines without measured values.
var Defaults = model.CompiledCommunication{Scheduler: phases.AllToAllBased.Name, MaxUnicastBytes: 512, MaxMulticastBytes: 4096, MaxAggregateBytes: 50}

// New returns what makes the collective operations of a job's ranks (mpi.Options).
func New(o Options) (func(device.Port) (device.Port, mpi.Collectives, error), error) {
	if o.Compiled == (model.CompiledCommunication{}) {
		o.Compiled = Defaults
	}
	name := cmp.Or(o.Compiled.Scheduler, phases.AllToAllBased.Name)
	i := slices.IndexFunc(phases.Schedulers, func(s *phases.Scheduler) bool { return s.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("unknown scheduler of phases %q", name)
	}
	return func(p device.Port) (device.Port, mpi.Collectives, error) {
		m, err := multicast.New(p, multicast.Options{WindowPackets: o.Compiled.WindowPackets, PacketBytes: o.Compiled.PacketBytes, RetransmitTimeout: o.Compiled.RetransmitTimeout,
			PacketCost: o.Compiled.PacketCost, ByteCost: o.Compiled.ByteCost})
		if err != nil {
			return nil, nil, fmt.Errorf("compiled communication: %w", err)
		}
		return m, &rank{options: o, scheduler: phases.Schedulers[i], multicastPort: m, staticGroups: map[*mpi.Comm]*group{}}, nil
	}, nil
}

// rank is the state of a rank.
type rank struct {
	options            Options
	scheduler          *phases.Scheduler
	multicastPort      *multicast.Port
	staticGroups       map[*mpi.Comm]*group // the static ones
	nextStoredSchedule int                  // the next of the stored schedules
	members            []int                // of a communicator
	counts             actionCounts
	buffer             []byte
}

// actionCounts are of operations in which a rank has taken part.
type actionCounts struct {
	created, destroyed int64 // groups
	multicasts         int64 // messages to groups, sent or received
	phases             int64 // of exchanges
	scheduled          int64 // messages for which phases were computed
}

// Counts implements mpi.Collectives.
func (r *rank) Counts(yield func(name string, n int64) bool) {
	for _, x := range []struct {
		name string
		n    int64
	}{
		{"multicast groups created", r.counts.created}, {"multicast groups destroyed", r.counts.destroyed},
		{"multicasts", r.counts.multicasts}, {"multicast packets", int64(r.multicastPort.Counts.Packets)}, {"multicast packets sent again", int64(r.multicastPort.Counts.Retransmitted)},
		{"multicast acknowledgements", int64(r.multicastPort.Counts.Acknowledged)},
		{"phases", r.counts.phases}, {"messages scheduled", r.counts.scheduled},
	} {
		if x.n != 0 && !yield(x.name, x.n) {
			return
		}
	}
}

// workBuffer returns memory of n bytes to work in.
func (r *rank) workBuffer(n int) []byte {
	if n > len(r.buffer) {
		r.buffer = make([]byte, n)
	}
	return r.buffer[:n]
}

// rankOf returns the state of the calling rank.
func rankOf(own mpi.Collectives, k *mpi.CollectiveCall) *rank {
	r, ok := own.(*rank)
	if !ok {
		k.Fail(engine.ErrOther, "the library has no compiled communication: use library cc-mpi")
	}
	return r
}

// isOutOfGroups reports whether the network interface allows no more groups.
func isOutOfGroups(err error) bool { return errors.Is(err, multicast.ErrTooManyGroups) }
