package fabric_test

import (
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/hwtest"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// stagedNodes returns nodes of a rank around a switch, whose buffers are staged.
func stagedNodes(t testing.TB, nodes int) (*model.Machine, *model.Fabric) {
	m, f := rdmaNodes(t, nodes, 1)
	f.NIC.Staging = &model.Staging{Fragment: 2 * f.Chunk, Launch: 3 * us, Complete: 2 * us, Out: 80e6, In: 60e6}
	return m, f
}

// accessTime returns how long a put or a get of a rank takes alone.
func accessTime(t *testing.T, m *model.Machine, bytes int, isGet bool) (took unit.Time) {
	hwtest.Run(t, m, 2, func(p device.Port) {
		data := make([]byte, bytes)
		for i := range data {
			data[i] = byte(1 + p.Rank() + i)
		}
		key := p.Memory().Expose(data)
		p.Delay(100 * us)
		if p.Rank() == 0 {
			b, begin := make([]byte, bytes), p.Now()
			for i := range b {
				b[i] = byte(9 + i)
			}
			if isGet {
				p.Memory().Get(1, key, 0, b, device.Head{})
			} else {
				p.Memory().Put(1, key, 0, b, device.Head{})
			}
			p.Recv(true)
			took = p.Now() - begin
			for i := range b {
				if isGet && b[i] != byte(2+i) {
					t.Fatalf("get of %d bytes: byte %d is %d", bytes, i, b[i])
				}
			}
		}
		p.Delay(unit.Second)
		for i := range data {
			if !isGet && p.Rank() == 1 && data[i] != byte(9+i) {
				t.Fatalf("put of %d bytes: byte %d is %d", bytes, i, data[i])
			}
		}
	})
	return took
}

// An access of staged buffers carries the same bytes, takes at least the time of its copies on each
// side, and is never faster than one of registered buffers.
func TestStagingIsNeverFaster(t *testing.T) {
	staged, f := stagedNodes(t, 2)
	direct, _ := rdmaNodes(t, 2, 1)
	s, r := f.NIC.Staging, rand.New(rand.NewPCG(7, 0))
	for _, bytes := range []int{1, f.NIC.Inline.Size, f.NIC.Inline.Size + 1, s.Fragment, s.Fragment + 1, 7 * s.Fragment, r.IntN(20 * s.Fragment)} {
		for _, isGet := range []bool{false, true} {
			with, without := accessTime(t, staged, bytes, isGet), accessTime(t, direct, bytes, isGet)
			if !isGet && f.NIC.IsInline(bytes) && with != without {
				t.Errorf("put of %d bytes, which the processor writes: %v staged, %v registered", bytes, with, without)
			}
			if isGet || !f.NIC.IsInline(bytes) {
				least := without + 2*(s.Launch+s.Complete)
				if least = max(least, s.CopyTime(s.Out, bytes), s.CopyTime(s.In, bytes)); with < least {
					t.Errorf("get %v of %d bytes: %v staged, want at least %v; %v registered", isGet, bytes, with, least, without)
				}
			}
		}
	}
}

// Long writes of a rank go at the rate of the slowest of copy engines and links, and the writes of
// three ranks to one share its copy engine.
func TestCopyEnginesAreShared(t *testing.T) {
	m, f := stagedNodes(t, 4)
	const puts, bytes = 4, 400_000
	for name, target := range map[string]map[int]int{"one": {0: 3}, "three": {0: 3, 1: 3, 2: 3}} {
		var last unit.Time
		for _, took := range putsOf(t, m, target, puts, bytes) {
			last = max(last, took)
		}
		want := unit.Time(len(target)*puts) * f.NIC.Staging.CopyTime(60e6, bytes)
		if last < want || last > want+want/10 {
			t.Errorf("%s: writes take %v, the copies at their target %v", name, last, want)
		}
	}
}

// A message that follows a staged write arrives when the write is in the memory of the GPU.
func TestMessagesFollowStagedWrites(t *testing.T) {
	m, _ := stagedNodes(t, 2)
	const bytes = 100_000
	hwtest.Run(t, m, 2, func(p device.Port) {
		data := make([]byte, bytes)
		key := p.Memory().Expose(data)
		p.Delay(100 * us)
		if p.Rank() == 1 {
			p.Recv(true)
			if data[bytes-1] != 1 {
				t.Error("the message has overtaken the write")
			}
			return
		}
		b := make([]byte, bytes)
		b[bytes-1] = 1
		p.Memory().Put(1, key, 0, b, device.Head{})
		p.Send(1, &device.Packet{})
		p.Recv(true)
	})
}

// Long data is copied at the rate of the copy engine, and shorter data by the processor, in the
// time of the closed form.
func TestLongCopies(t *testing.T) {
	m, _ := rdmaNodes(t, 2, 1)
	m.Processor.LongCopy = model.LongCopy{From: 4096, Channel: model.Channel{Start: 6 * us, Bandwidth: 1e12}}
	for bytes, want := range map[int]unit.Time{4095: m.Processor.Copy.Time(4095), 4096: m.Processor.LongCopy.Time(4096), 1 << 20: m.Processor.LongCopy.Time(1 << 20)} {
		hwtest.Run(t, m, 1, func(p device.Port) {
			begin := p.Now()
			p.Copy(make([]byte, bytes), make([]byte, bytes))
			if took := p.Now() - begin; took != want || m.CopyChannel(bytes).Time(bytes) != want {
				t.Errorf("a copy of %d bytes takes %v, by the closed form %v, want %v", bytes, took, m.CopyChannel(bytes).Time(bytes), want)
			}
		})
	}
	sendTime := func(long model.LongCopy) (took unit.Time) {
		staged, _ := stagedNodes(t, 2)
		staged.Processor.LongCopy = long
		hwtest.Run(t, staged, 2, func(p device.Port) {
			if p.Rank() == 0 {
				begin := p.Now()
				p.Send(1, &device.Packet{Data: make([]byte, 8192)})
				took = p.Now() - begin
			} else {
				p.Recv(true)
			}
		})
		return took
	}
	if with, without := sendTime(m.Processor.LongCopy), sendTime(model.LongCopy{}); with != without {
		t.Errorf("a send of staged data, which the processor copies to host memory, takes %v, %v without a copy engine", with, without)
	}
	if steps := m.CopySteps(); len(steps) != 1 || steps[0] != 4096 {
		t.Errorf("copies have other costs from %d on", steps)
	}
}
