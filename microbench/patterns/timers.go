package patterns

import (
	"fmt"

	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// trainLength is how many messages a train has: fewer than a pool of ACLMPL has slots.
const trainLength = 16

// arrivalWait is how long a rank waits so that its message has arrived, or the other rank has
// entered its receive.
const arrivalWait = 10 * unit.Millisecond

// MeasureTimers times messages of a length between ranks 0 and 1 by the timers from which the fit
// has LogGP parameters, as those of package microbench do for MPI: a send whose receiver waits
// (timer11), a receive whose message is there (timer12), a round trip, and a train of sends. The
// series are of the mode of low-level messages.
//
// Where sender and receiver meet, a receive is the whole transfer: its timer12 is left out.
func MeasureTimers(w portable.World, l *portable.Library, bytes, rounds int) ([]sample.Series, error) {
	var all []sample.Series
	err := l.Run(w, max(bytes, 8), func(p portable.Process) error {
		if p.Size() < 2 {
			return fmt.Errorf("timers: %d ranks are too few, they need 2", p.Size())
		}
		t := timedRank{p, make([]byte, bytes), make([]byte, bytes)}
		var series []sample.Series
		for _, x := range []struct {
			timer string
			first func() unit.Time // of rank 0, returns the sample
			other func()
		}{
			{sample.Timer11, t.timeSend, t.receive},
			{sample.Timer12, t.timeLateReceive, func() { p.Send(0, t.out) }},
			{sample.TimerRTT, t.timeRoundTrip, func() { t.receive(); p.Send(0, t.out) }},
			{sample.TimerTrain, t.timeTrain, func() {
				for range trainLength {
					t.receive()
				}
			}},
		} {
			times := make([]unit.Time, rounds+1) // the first is a warm-up
			for i := range times {
				p.Barrier()
				switch p.Rank() {
				case 0:
					times[i] = x.first()
				case 1:
					x.other()
				}
			}
			if !l.IsSynchronous || x.timer != sample.Timer12 {
				series = append(series, sample.Series{Key: sample.Key{Library: l.Name + " " + l.Mode, Mode: sample.LowLevelMode, Protocol: "auto", Timer: x.timer, Bytes: bytes}, Times: times[1:]})
			}
		}
		p.Barrier()
		if p.Rank() == 0 {
			all = series
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("timers of %s %s: %w", l.Name, l.Mode, err)
	}
	return all, nil
}

// timedRank is rank 0 or 1 with its messages.
type timedRank struct {
	portable.Process
	out, in []byte
}

func (t timedRank) receive() { t.Receive(1-t.Rank(), t.in) }

func (t timedRank) timeSend() unit.Time {
	t.Compute(arrivalWait)
	begin := t.Now()
	t.Send(1, t.out)
	return t.Now() - begin
}

func (t timedRank) timeLateReceive() unit.Time {
	t.Compute(arrivalWait)
	begin := t.Now()
	t.receive()
	return t.Now() - begin
}

func (t timedRank) timeRoundTrip() unit.Time {
	t.Compute(arrivalWait)
	begin := t.Now()
	t.Send(1, t.out)
	t.receive()
	return t.Now() - begin
}

func (t timedRank) timeTrain() unit.Time {
	t.Compute(arrivalWait)
	t.Send(1, t.out)
	begin := t.Now()
	for range trainLength - 1 {
		t.Send(1, t.out)
	}
	return (t.Now() - begin) / (trainLength - 1)
}
