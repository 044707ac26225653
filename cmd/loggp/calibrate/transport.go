package calibrate

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// remoteWriteMode stands for round trips of writes to remote memory, below the library.
const remoteWriteMode = "remote write"

// remoteWriteModes are modes of tests of transports whose data goes straight into a buffer of the
// receiver: of verbs, where receives are posted before, and writes of UCX and libfabric.
var remoteWriteModes = []string{"rdma_write", "rdma_write_imm", "put", "rma"}

// verbsLibrary is the library that imported samples of perftest have.
const verbsLibrary = "verbs"

// emulatedMode returns the mode in which an emulated machine measures a timer of a mode of samples.
// Tests of transports have modes of their own. Round trips of messages that are matched, as by UCX
// and libfabric, are those of MPI_Send, and windows those of MPI_Isend.
func emulatedMode(library, mode, timer string) string {
	isRoundTrip := timer == sample.TimerRTT
	switch {
	case isRoundTrip && (slices.Contains(remoteWriteModes, mode) || library == verbsLibrary):
		return remoteWriteMode
	case sample.ModeIndex(mode) < len(sample.Modes):
		return mode
	case isRoundTrip:
		return "send"
	}
	return "isend"
}

// Rounds of writes: the first ones register buffers.
const (
	remoteWriteWarmups = 2
	remoteWriteRounds  = 4
)

// measureRemoteWrites returns the round trips in us of writes to remote memory between ranks of a
// place, by size: each rank writes when it sees the last word of the other's write. It returns nil
// if the machine has no remote memory.
func measureRemoteWrites(ctx context.Context, p *platform.Platform, library, place string, sizes []int) (map[int]float64, error) {
	p, ranks, err := platformForPlace(p, place)
	if err != nil {
		return nil, err
	}
	j, err := job.New(p, library, ranks, 0)
	if err != nil {
		return nil, err
	}
	pair, err := j.PairToMeasure(place)
	if err != nil {
		return nil, err
	}
	world, err := j.World(ctx, 1)
	if err != nil {
		return nil, err
	}
	times := map[int]float64{}
	hasMemory := true
	err = world.Run(func(port device.Port) error {
		me := slices.Index(pair[:], port.Rank())
		if me < 0 {
			return nil
		}
		if port.Memory() == nil || port.Watch() == nil {
			hasMemory = false
			return nil
		}
		w := newRemoteWriter(port, pair[1-me], me == 0, slices.Max(sizes))
		for _, bytes := range sizes {
			micros := w.pingPong(bytes)
			if me == 0 {
				times[bytes] = micros
			}
		}
		return nil
	})
	if err != nil || !hasMemory {
		return nil, err
	}
	return times, nil
}

// remoteWriter is a rank that writes to another one and awaits its writes in turn.
type remoteWriter struct {
	port        device.Port
	other       int
	isFirst     bool
	data        []byte
	key, remote device.Key
	stamp       uint64 // of the last write, in its last word
}

const wordBytes = 8

// newRemoteWriter exchanges keys with the other rank.
func newRemoteWriter(port device.Port, other int, isFirst bool, longest int) *remoteWriter {
	length := longest + wordBytes
	w := &remoteWriter{port: port, other: other, isFirst: isFirst, data: make([]byte, length), key: port.Memory().Expose(make([]byte, length))}
	port.Send(other, &device.Packet{Head: device.Head{uint64(w.key)}})
	w.remote = device.Key(port.Recv(true).Head[0])
	return w
}

// pingPong returns the mean time of a round in us. Writes are whole words.
func (w *remoteWriter) pingPong(bytes int) float64 {
	length := max(wordBytes, (bytes+wordBytes-1)/wordBytes*wordBytes)
	var begin unit.Time
	for round := range remoteWriteWarmups + remoteWriteRounds {
		if round == remoteWriteWarmups {
			begin = w.port.Now()
		}
		w.stamp++
		if !w.isFirst {
			w.awaitStamp(length - wordBytes)
		}
		binary.NativeEndian.PutUint64(w.data[length-wordBytes:], w.stamp)
		w.port.Memory().Put(w.other, w.remote, 0, w.data[:length], device.Head{})
		if w.isFirst {
			w.awaitStamp(length - wordBytes)
		}
		w.port.Recv(true) // the write is complete
	}
	return (w.port.Now() - begin).Micros() / remoteWriteRounds
}

// awaitStamp waits until the other rank has written the stamp of this round.
func (w *remoteWriter) awaitStamp(offset int) {
	watch := w.port.Watch()
	for word := watch.LoadWord(w.key, offset); word != w.stamp; {
		word = device.WaitForWordChange(watch, w.key, offset, word)
	}
}

// addRemoteWrites adds the round trips of writes to the medians of a mode.
func (m medians) addRemoteWrites(times map[int]float64, place, mode, protocol string) {
	for bytes, micros := range times {
		if !math.IsNaN(micros) {
			m[sample.Key{Place: place, Mode: mode, Protocol: protocol, Timer: sample.TimerRTT, Bytes: bytes}] = micros
		}
	}
}

// platformForPlace returns the platform, and how many ranks of it a job has that measures a place;
// 0: the default. Two nodes full of ranks that take no part cost time.
func platformForPlace(p *platform.Platform, place string) (*platform.Platform, int, error) {
	m := p.Machine
	if place != model.InterNode.String() || m.Nodes == nil || m.Ranks.Min > 2 {
		return p, 0, nil
	}
	placed, err := m.WithPlacement(model.Placement{1, 1})
	if err != nil {
		return nil, 0, err
	}
	of := *p
	of.Machine = placed
	return &of, 2, nil
}
